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

// Every curl example in the documentation works when its record IDs are replaced with those
// of existing records.
func TestCurlExamples(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	r.vault.Events.EndFollowing() // otherwise, a stream wouldn't end
	events := createKey(t, r, model.AbilityEvents)
	keys := map[string]string{"/events": events, "/events/stream": events, "/metrics": createKey(t, r, model.AbilityMetrics)}
	samples, err := api.Samples("http://" + r.address)
	if err != nil || len(samples) < 36 {
		t.Fatalf("api.Samples: got %d samples, want at least 36; %v", len(samples), err)
	}
	createFolder(t, r, "Deeds") // one example uses folder 1 as a parent
	for _, s := range samples {
		t.Run(s.Method+" "+s.Path, func(t *testing.T) {
			script, dir := prepareExample(t, r, s.Path, s.Curl)
			got := shell(t, dir, cmp.Or(keys[s.Path], r.key), script+" -sS -w '\n%{http_code}'")
			body, status, _ := cutLast(got, "\n")
			if want := wantStatus(s); status != want {
				t.Errorf("%s\ngot status %s, want %s: %s", script, status, want, body)
			}
		})
	}
}

// Copying an example unchanged is harmless: even with a full-access key it changes nothing,
// because the record IDs in the examples don't exist.
func TestUnchangedCurlExamplesFindNoRecord(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	for n := range 5 {
		createFolder(t, r, "Deeds "+strconv.Itoa(n))
	}
	samples, err := api.Samples("http://" + r.address)
	if err != nil {
		t.Fatalf("api.Samples: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Deed.pdf"), vaulttest.PDF(1, "nothing"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	for _, s := range samples {
		if s.Method != "PATCH" && s.Method != "DELETE" && !strings.HasSuffix(s.Path, "/restore") {
			continue
		}
		t.Run(s.Method+" "+s.Path, func(t *testing.T) {
			if got := shell(t, dir, r.key, s.Curl+" -sS -o /dev/null -w '%{http_code}'"); got != "404" {
				t.Errorf("%s\ngot status %s, want 404", s.Curl, got)
			}
		})
	}
}

// createView saves a view as the API key and returns its ID.
func createView(t *testing.T, r *running) string {
	t.Helper()
	v, err := r.vault.Lists.CreateView(t.Context(), model.Actor{Kind: model.ActorKey, ID: 1}, model.Inputs{"name": model.StringInput("Mine"),
		"record": model.StringInput("orders")}, vault.Idempotency[model.View]{})
	if err != nil {
		t.Fatalf("create view: %v", err)
	}
	return strconv.FormatUint(v.ID, 10)
}

// wantStatus returns the HTTP status that a successful run of the example returns.
func wantStatus(s api.Sample) string {
	switch {
	case s.Method == "DELETE", s.Method == "PATCH" && strings.HasPrefix(s.Path, "/uploads"):
		return "204"
	case strings.HasSuffix(s.Path, "/files/pages"):
		return "202"
	case s.Method == "POST" && !strings.HasSuffix(s.Path, "/restore") && !strings.HasSuffix(s.Path, "/runsheet") &&
		!strings.HasSuffix(s.Path, "/void") && !strings.HasSuffix(s.Path, "/bulk"):
		return "201"
	case strings.HasSuffix(s.Path, "/searchable.pdf"):
		return "409" // OCR is off, and the document has no text
	}
	return "200"
}

// prepareExample replaces the record IDs in an example with those of new records. It also
// returns a directory that contains the document to upload.
func prepareExample(t *testing.T, r *running, path, script string) (ready, dir string) {
	t.Helper()
	dir = t.TempDir()
	document := vaulttest.PDF(1, t.Name())
	if err := os.WriteFile(filepath.Join(dir, "Deed.pdf"), document, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	operator := model.Actor{Kind: "operator"}
	staged, err := r.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("stage document: %v", err)
	}
	defer staged.Discard()
	if err := staged.Add("Deed.pdf", bytes.NewReader(document)); err != nil {
		t.Fatalf("add document: %v", err)
	}
	abstract, err := r.vault.Abstracts.Create(t.Context(), operator, model.AbstractDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	order, err := r.vault.Orders.Create(t.Context(), operator,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("T-1")}},
		vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("create order: %v", err)
	}
	view := ""
	if strings.HasPrefix(path, "/views/") {
		view = createView(t, r) // a key can't have one for each example
	}
	file := strconv.FormatUint(abstract.Files[0].ID, 10)
	ready = strings.NewReplacer(append(prepareTitleWork(t, r, dir, path, abstract.Abstract.ID),
		"k3Jd82Qz", r.vault.Secrets.IDs("abstracts").Encode(abstract.Abstract.ID),
		"Zz9aB31x", r.vault.Secrets.IDs("orders").Encode(order.ID),
		"/folders/90000004", "/folders/"+strconv.FormatUint(createFolder(t, r, t.Name()), 10),
		"/files/90000077", "/files/"+file, `"file_id":90000077`, `"file_id":`+file, "/views/90000015", "/views/"+view,
	)...).Replace(script)
	if strings.HasPrefix(path, "/uploads/") {
		location := shell(t, dir, r.key, fmt.Sprintf(
			`curl -sS -o /dev/null -w '%%header{location}' -H "Authorization: Bearer $KEY" -H 'Tus-Resumable: 1.0.0' -H 'Upload-Length: %d' `+
				`-H 'Upload-Metadata: filename RGVlZC5wZGY=' -X POST http://%s/v1/uploads`, len(document), r.address))
		ready = regexp.MustCompile(`'http[^']*'`).ReplaceAllLiteralString(ready, "'"+location+"'")
	}
	if strings.HasPrefix(path, "/dl/") {
		link := shell(t, dir, r.key, `curl -sS -o /dev/null -w '%{redirect_url}' -H "Authorization: Bearer $KEY" `+
			"http://"+r.address+"/v1/file-vault/files/"+file+"/download")
		ready = regexp.MustCompile(`'http[^']*'`).ReplaceAllLiteralString(ready, "'"+link+"'")
	}
	return ready, dir
}

// createFolder creates a folder and returns its ID. Slashes in the name are replaced.
func createFolder(t *testing.T, r *running, name string) uint64 {
	t.Helper()
	draft := model.FolderDraft{Name: model.StringInput(strings.ReplaceAll(name, "/", " "))}
	created, err := r.vault.Folders.Create(t.Context(), model.Actor{Kind: "operator"}, draft, vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatalf("create folder: %v", err)
	}
	return created.ID
}

// shell runs a command line with $KEY set to the API key and returns its output.
func shell(t *testing.T, dir, key, line string) string {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", line) //nolint:gosec // the test's own command
	c.Dir, c.Env = dir, append(os.Environ(), "KEY="+key)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// cutLast is like strings.Cut but uses the last instance of sep.
func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
