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

// hostileNames returns malicious filenames and random combinations of them.
func hostileNames() []string {
	names := []string{
		`..\..\x`, `../../../../etc/passwd`, `/etc/passwd`, `\\server\share\x`, `C:\boot.ini`, `x.txt:stream`, `....//....//x`,
		`%2e%2e%2fx`, `..%5cx`, "a\x00.exe", "\x00", "a\r\nX-Evil: 1", `a"; filename="b`,
		`CON`, `nul`, `COM1`, `LPT9`, `aux.`, `~`, `~root`, `-rf`, `--help`, `$(id)`, "`id`", `${HOME}`, `{{7*7}}`, `%s%n%x`,
		`'; DROP TABLE files;--`, `<script>alert(1)</script>`, `<img src=x onerror=a>`,
		`javascript:alert(1)`, `data:text`, "gpj\u202efdp", "\u2066x\u2069", "\u200fx", "\ufeffx", "\u0000x", "x\u2028y", "x\u0085y",
		"\U000e0041", "u\u0308\u0308\u0308", strings.Repeat("\u0300", 500), "ﷺ", "😀👩‍👩‍👧",
		strings.Repeat("A", 4096), strings.Repeat("ü", 2048), strings.Repeat(".", 300), strings.Repeat("a.", 200), " ", "   ", ".",
		"..", "...", ".hidden", "a.", "a ", " a", "a/.", "a/..", "a\\", `"`, `""`, `\`, `\"`, `%22`, `%0d%0a`, `%`, `%zz`, `;`, `a;b`,
		`=`, `*`, `?`, `|`, `<`, `>`, `:`,
		"\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "\x80\x9f", "\x1b[2J", "\x7f", "\b\b\b", "\t", "desktop.ini", "vault.db", "secret.key",
		"control.sock", "blobs", "tmp/x", "files", "=?utf-8?q?x?=", "filename*=UTF-8''x",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(names) < 500; i++ {
		a, b := names[rng.IntN(90)], names[rng.IntN(90)]
		raw := make([]byte, rng.IntN(12))
		for i := range raw {
			raw[i] = byte(rng.IntN(256))
		}
		names = append(names, a+string(raw)+b)
	}
	return names
}

var headerLine = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")

// encodeFilename encodes a filename in one of the three ways that clients use.
func encodeFilename(name string, encoding int) string {
	switch encoding {
	case 0:
		return `filename="` + headerLine.Replace(name) + `"`
	case 1:
		return `filename="innocent.pdf"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	default:
		return `filename*=iso-8859-1'en'` + url.PathEscape(name)
	}
}

// Files with 500 hostile names are uploaded, with each name encoded in three ways. Each
// file gets a safe label that survives a round trip through HTTP headers. No name is used
// as a path.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	names := hostileNames()
	id := 0
	for from := 0; from < len(names); from += 25 {
		for encoding := range 3 {
			id = srv.uploadNames(t, names[from:min(from+25, len(names))], encoding, id)
		}
	}
	if id < 1300 {
		t.Errorf("stored files = %d of 1500, want at least 1300", id)
	}
	srv.checkPaths(t)
}

// uploadNames uploads one PDF for each name and checks the labels of the stored files.
func (srv *testServer) uploadNames(t *testing.T, names []string, encoding, last int) int {
	t.Helper()
	var list []string
	for _, name := range names {
		list = append(list, bodyPart(disposition(`name="files"; `+encodeFilename(name+".pdf", encoding)), pdf(1)))
	}
	r := uploadCall("full", 201, list...)
	got := srv.do(t, r)
	body := decodeBody[struct {
		Files []struct {
			ID       int
			Filename string
		}
		Errors []struct{ Filename string }
	}](t, got)
	for _, f := range body.Errors {
		checkLabel(t, f.Filename)
	}
	for _, f := range body.Files {
		if f.ID != last+1 {
			t.Fatalf("file ID = %d, want %d", f.ID, last+1)
		}
		last = f.ID
		checkLabel(t, f.Filename)
		if last%5 == 0 { // check only every fifth file because the check is slow
			srv.checkDownload(t, f.ID, f.Filename)
		}
	}
	return last
}

func checkLabel(t *testing.T, label string) {
	t.Helper()
	bad := strings.ContainsFunc(label, func(r rune) bool {
		return unicode.IsControl(r) || r == '/' || r == '\\' || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
	})
	if bad || label == "" || label == "." || label == ".." || len(label) > 255 || !utf8.ValidString(label) {
		t.Errorf("label = %q, want a safe filename", label)
	}
}

// checkDownload checks that the download link of a file contains the file's label.
func (srv *testServer) checkDownload(t *testing.T, id int, label string) {
	t.Helper()
	got := srv.do(t, call{as: "full", method: "GET", path: fmt.Sprintf("/v1/file-vault/files/%d/download", id), status: 302})
	link, err := srv.vault.Secrets.Links().Parse(strings.TrimPrefix(got.Header.Get("Location"), "http://vault.test"), "", srv.clock.Now())
	if err != nil || link.Filename != label {
		t.Errorf("download link = %+v, %v, want the filename %q", link, err, label)
	}
	_, params, err := mime.ParseMediaType(mime.FormatMediaType("attachment", map[string]string{"filename": label}))
	if err != nil || params["filename"] != label {
		t.Errorf("parse Content-Disposition = %q, %v, want the filename %q", params, err, label)
	}
}

var storedPaths = regexp.MustCompile(`^(vault\.db|secret\.key|blobs(/[0-9a-f]{2}(/[0-9a-f]{64})?)?|tmp|previews(/.*)?|search(/.*)?|\.)$`)

// checkPaths reports a test error for each unexpected path in the data directory or next to
// it.
func (srv *testServer) checkPaths(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(srv.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(srv.dir, path)
		if rest = filepath.ToSlash(rest); err == nil && !storedPaths.MatchString(rest) {
			t.Errorf("unexpected path %q in the data directory", rest)
		}
		return err
	})
	if err != nil {
		t.Fatalf("filepath.WalkDir: %v", err)
	}
	siblings, err := os.ReadDir(filepath.Dir(srv.dir))
	if err != nil {
		t.Fatalf("os.ReadDir: %v", err)
	}
	for _, entry := range siblings {
		if entry.Name() != filepath.Base(srv.dir) {
			t.Errorf("unexpected %q next to the data directory", entry.Name())
		}
	}
}
