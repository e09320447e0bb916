package api_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile are names that were made to do harm, and what chance makes of them.
func hostile() []string {
	names := []string{
		`..\..\x`, `../../../../etc/passwd`, `/etc/passwd`, `\\server\share\x`, `C:\boot.ini`, `x.txt:stream`, `....//....//x`, `%2e%2e%2fx`, `..%5cx`, "a\x00.exe", "\x00", "a\r\nX-Evil: 1", `a"; filename="b`,
		`CON`, `nul`, `COM1`, `LPT9`, `aux.`, `~`, `~root`, `-rf`, `--help`, `$(id)`, "`id`", `${HOME}`, `{{7*7}}`, `%s%n%x`, `'; DROP TABLE files;--`, `<script>alert(1)</script>`, `<img src=x onerror=a>`,
		`javascript:alert(1)`, `data:text`, "gpj\u202efdp", "\u2066x\u2069", "\u200fx", "\ufeffx", "\u0000x", "x\u2028y", "x\u0085y", "\U000e0041", "u\u0308\u0308\u0308", strings.Repeat("\u0300", 500), "ﷺ", "😀👩‍👩‍👧",
		strings.Repeat("A", 4096), strings.Repeat("ü", 2048), strings.Repeat(".", 300), strings.Repeat("a.", 200), " ", "   ", ".", "..", "...", ".hidden", "a.", "a ", " a", "a/.", "a/..", "a\\", `"`, `""`, `\`, `\"`, `%22`, `%0d%0a`, `%`, `%zz`, `;`, `a;b`, `=`, `*`, `?`, `|`, `<`, `>`, `:`,
		"\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "\x80\x9f", "\x1b[2J", "\x7f", "\b\b\b", "\t", "desktop.ini", "vault.db", "secret.key", "control.sock", "blobs", "tmp/x", "files", "=?utf-8?q?x?=", "filename*=UTF-8''x",
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(names) < 500; i++ {
		a, b := names[chance.IntN(90)], names[chance.IntN(90)]
		raw := make([]byte, chance.IntN(12))
		for i := range raw {
			raw[i] = byte(chance.IntN(256))
		}
		names = append(names, a+string(raw)+b)
	}
	return names
}

var headerLine = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")

// spell says a name in one of the ways that clients have.
func spell(name string, way int) string {
	switch way {
	case 0:
		return `filename="` + headerLine.Replace(name) + `"`
	case 1:
		return `filename="innocent.pdf"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	default:
		return `filename*=iso-8859-1'en'` + url.PathEscape(name)
	}
}

// Five hundred hostile names, in three spellings each, are stored under harmless
// labels that come back in every header, and no name becomes a path.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	h := open(t)
	names := hostile()
	id := 0
	for from := 0; from < len(names); from += 25 {
		for way := range 3 {
			id = h.store(t, names[from:min(from+25, len(names))], way, id)
		}
	}
	if id < 1300 {
		t.Errorf("%d of 1500 files were stored", id)
	}
	h.onlyDigests(t)
}

// store uploads PDFs under so many names and looks at each that is new.
func (h *house) store(t *testing.T, names []string, way, last int) int {
	t.Helper()
	var list []string
	for _, name := range names {
		list = append(list, part(dispo(`name="files"; `+spell(name+".pdf", way)), pdf(1)))
	}
	r := upload("full", 201, list...)
	got := h.ask(t, r)
	body := decode[struct {
		Files []struct {
			ID       int
			Filename string
		}
		Errors []struct{ Filename string }
	}](t, got)
	for _, f := range body.Errors {
		harmless(t, f.Filename)
	}
	for _, f := range body.Files {
		if f.ID != last+1 {
			t.Fatalf("file %d after %d", f.ID, last)
		}
		last = f.ID
		harmless(t, f.Filename)
		if last%5 == 0 { // a redirect for each would only take time
			h.follow(t, f.ID, f.Filename)
		}
	}
	return last
}

func harmless(t *testing.T, label string) {
	t.Helper()
	bad := strings.ContainsFunc(label, func(r rune) bool {
		return unicode.IsControl(r) || r == '/' || r == '\\' || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
	})
	if bad || label == "" || label == "." || label == ".." || len(label) > 255 || !utf8.ValidString(label) {
		t.Errorf("label %q", label)
	}
}

// follow takes the redirect of a file and reads its name back from the link.
func (h *house) follow(t *testing.T, id int, label string) {
	t.Helper()
	got := h.ask(t, row{as: "full", method: "GET", path: fmt.Sprintf("/v1/file-vault/files/%d/download", id), status: 302})
	link, err := h.vault.Secrets.Links().Parse(strings.TrimPrefix(got.Header.Get("Location"), "http://vault.test"), "", h.clock.Now())
	if err != nil || link.Filename != label {
		t.Errorf("link of %q: %+v, %v", label, link, err)
	}
	_, params, err := mime.ParseMediaType(mime.FormatMediaType("attachment", map[string]string{"filename": label}))
	if err != nil || params["filename"] != label {
		t.Errorf("header of %q: %v, %v", label, params, err)
	}
}

var storedPaths = regexp.MustCompile(`^(vault\.db|secret\.key|blobs(/[0-9a-f]{2}(/[0-9a-f]{64})?)?|tmp|previews(/.*)?|search(/.*)?|\.)$`)

// onlyDigests fails for every path under the data directory, or beside it, that the
// product does not make by itself.
func (h *house) onlyDigests(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(h.dir, path)
		if rest = filepath.ToSlash(rest); err == nil && !storedPaths.MatchString(rest) {
			t.Errorf("path %q", rest)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	beside, err := os.ReadDir(filepath.Dir(h.dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range beside {
		if entry.Name() != filepath.Base(h.dir) {
			t.Errorf("%q beside the data directory", entry.Name())
		}
	}
}
