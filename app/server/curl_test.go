//go:build unix

package server_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/api"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// Every example in curl runs as it stands, but for the ids: it is given those of records
// that are there.
func TestEveryRequestHasACurlExample(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	keys := map[string]string{"/events": special(t, r, model.AbilityEvents), "/metrics": special(t, r, model.AbilityMetrics)}
	samples, err := api.Samples("http://" + r.address)
	if err != nil || len(samples) < 36 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	folder(t, r, "Deeds") // an example has number 1 as its parent
	for _, s := range samples {
		t.Run(s.Method+" "+s.Path, func(t *testing.T) {
			script, room := furnished(t, r, s.Path, s.Curl)
			got := shell(t, room, cmp.Or(keys[s.Path], r.key), script+" -sS -w '\n%{http_code}'")
			body, status, _ := cutLast(got, "\n")
			if want := wanted(s); status != want {
				t.Errorf("%s\nanswered %s, want %s: %s", script, status, want, body)
			}
		})
	}
}

// What somebody runs as it is printed, with a key that may do everything, touches no
// record of theirs: the ids are of none.
func TestCurlExamplesTouchNothing(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	for n := range 5 {
		folder(t, r, "Deeds "+strconv.Itoa(n))
	}
	samples, err := api.Samples("http://" + r.address)
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	if err := os.WriteFile(filepath.Join(room, "Deed.pdf"), vaulttest.PDF(1, "nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if s.Method != "PATCH" && s.Method != "DELETE" && !strings.HasSuffix(s.Path, "/restore") {
			continue
		}
		got := shell(t, room, r.key, s.Curl+" -sS -o /dev/null -w '%{http_code}'")
		if got != "404" {
			t.Errorf("%s\nanswered %s", s.Curl, got)
		}
	}
}

// special is a key for one thing alone.
func special(t *testing.T, r *running, ability string) string {
	t.Helper()
	key, _, err := r.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, model.KeyDraft{Name: ability, Abilities: []string{ability}})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// wanted is the status of an example that works.
func wanted(s api.Sample) string {
	switch {
	case s.Method == "DELETE", s.Method == "PATCH" && strings.HasPrefix(s.Path, "/uploads"):
		return "204"
	case s.Method == "POST" && !strings.HasSuffix(s.Path, "/restore"):
		return "201"
	}
	return "200"
}

// furnished gives an example the ids of new records, and a folder with a document.
func furnished(t *testing.T, r *running, path, script string) (ready, room string) {
	t.Helper()
	room = t.TempDir()
	document := vaulttest.PDF(1, t.Name())
	if err := os.WriteFile(filepath.Join(room, "Deed.pdf"), document, 0o600); err != nil {
		t.Fatal(err)
	}
	operator := model.Actor{Kind: "operator"}
	tray, err := r.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tray.Discard()
	if err := tray.Add("Deed.pdf", bytes.NewReader(document)); err != nil {
		t.Fatal(err)
	}
	filed, err := r.vault.Abstracts.Create(t.Context(), operator, model.AbstractDraft{}, tray, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	order, err := r.vault.Orders.Create(t.Context(), operator, model.OrderDraft{Number: model.StringInput("T-1")}, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatal(err)
	}
	file := strconv.FormatUint(filed.Files[0].ID, 10)
	ready = strings.NewReplacer(
		"k3Jd82Qz", r.vault.Secrets.IDs("abstracts").Encode(filed.Abstract.ID),
		"Zz9aB31x", r.vault.Secrets.IDs("orders").Encode(order.ID),
		"/folders/90000004", "/folders/"+strconv.FormatUint(folder(t, r, t.Name()), 10),
		"/files/90000077", "/files/"+file,
	).Replace(script)
	if strings.HasPrefix(path, "/uploads/") {
		begun := shell(t, room, r.key, fmt.Sprintf(`curl -sS -o /dev/null -w '%%header{location}' -H "Authorization: Bearer $KEY" -H 'Tus-Resumable: 1.0.0' -H 'Upload-Length: %d' `+
			`-H 'Upload-Metadata: filename RGVlZC5wZGY=' -X POST http://%s/v1/uploads`, len(document), r.address))
		ready = regexp.MustCompile(`'http[^']*'`).ReplaceAllLiteralString(ready, "'"+begun+"'")
	}
	if strings.HasPrefix(path, "/dl/") {
		link := shell(t, room, r.key, `curl -sS -o /dev/null -w '%{redirect_url}' -H "Authorization: Bearer $KEY" http://`+r.address+"/v1/file-vault/files/"+file+"/download")
		ready = regexp.MustCompile(`'http[^']*'`).ReplaceAllLiteralString(ready, "'"+link+"'")
	}
	return ready, room
}

func folder(t *testing.T, r *running, name string) uint64 {
	t.Helper()
	made, err := r.vault.Folders.Create(t.Context(), model.Actor{Kind: "operator"}, model.FolderDraft{Name: model.StringInput(strings.ReplaceAll(name, "/", " "))}, vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// shell runs one line as a person does who has the key in $KEY.
func shell(t *testing.T, room, key, line string) string {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", line) //nolint:gosec // it is the test's own
	c.Dir, c.Env = room, append(os.Environ(), "KEY="+key)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
