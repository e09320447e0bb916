//go:build contract

package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deedkeep/app/vaulttest"
)

// tools is where "npm ci" put what .ci/tools/package-lock.json pins.
const tools = "../../.ci/tools/node_modules"

// served gives openapi.json as a server answers it, in a file of its own folder.
func served(t *testing.T, r *running) (room, file string) {
	t.Helper()
	answer, err := http.Get("http://" + r.address + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	room = t.TempDir()
	file = filepath.Join(room, "openapi.json")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return room, file
}

// npm runs a tool, which asks nobody.
func npm(t *testing.T, room, name string, args ...string) (out string, err error) {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join(tools, ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf(`run "npm ci" in .ci/tools: %v`, err)
	}
	c := exec.CommandContext(t.Context(), bin, args...)
	c.Dir, c.Env = room, append(os.Environ(), "NO_COLOR=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "SCARF_ANALYTICS=false")
	said, err := c.CombinedOutput()
	return string(said), err
}

// linters are the two that judge the description: Redocly with what it recommends,
// spectral with everything but what its rules say.
var linters = map[string]func(t *testing.T, room, file string) (problems int, said string){
	"redocly": func(t *testing.T, room, file string) (int, string) {
		said, _ := npm(t, room, "redocly", "lint", "--extends=recommended", "--format=json", file)
		var report struct {
			Totals struct{ Errors, Warnings *int }
		}
		if err := json.Unmarshal([]byte(embraced(said)), &report); err != nil || report.Totals.Errors == nil || report.Totals.Warnings == nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return *report.Totals.Errors + *report.Totals.Warnings, said
	},
	"spectral": func(t *testing.T, room, file string) (int, string) {
		rules, err := filepath.Abs(filepath.Join(tools, "..", "spectral.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		said, err := npm(t, room, "spectral", "lint", "--ruleset", rules, "--fail-severity=hint", file)
		found := regexp.MustCompile(`(?m)^ *\d+:\d+ +(error|warning|information|hint) `).FindAllString(said, -1)
		if (err == nil) != (len(found) == 0) {
			t.Fatalf("%v\n%s", err, said)
		}
		return len(found), said
	},
}

// embraced cuts what a tool says around its JSON.
func embraced(text string) string {
	begin, end := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if begin < 0 || end < begin {
		return text
	}
	return text[begin : end+1]
}

// The document as it is served has no error and no warning; one with a fault has.
func TestDescriptionIsLinted(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	for name, lint := range linters {
		t.Run(name, func(t *testing.T) {
			room, file := served(t, r)
			if n, said := lint(t, room, file); n > 0 {
				t.Errorf("%d problems:\n%s", n, said)
			}
			good, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			bad := strings.Replace(string(good), `"operationId":"listOrders"`, `"operationId":"listAbstracts"`, 1)
			if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			if n, said := lint(t, room, file); n == 0 || bad == string(good) {
				t.Errorf("a fault is not found:\n%s", said)
			}
		})
	}
}

// A client that is generated from the served document, and a program that uses it, are
// type-checked in strict mode and work.
func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	room, file := served(t, r)
	modules, err := filepath.Abs(tools)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("testdata", "client", "client.ts"))
	if err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(room, "Deed.pdf")
	for path, content := range map[string]string{
		filepath.Join(room, "client.ts"): string(program), filepath.Join(room, "package.json"): `{"type":"module"}`, document: string(vaulttest.PDF(2, "generated")),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(room, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, step := range [][]string{
		{"openapi-typescript", file, "--output", filepath.Join(room, "contract.ts")},
		{"tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", "--types", "node", "client.ts"},
	} {
		if said, err := npm(t, room, step[0], step[1:]...); err != nil {
			t.Fatalf("%s: %v\n%s", step[0], err, said)
		}
	}
	c := exec.CommandContext(t.Context(), "node", "client.js", "http://"+r.address+"/v1", r.key, document)
	c.Dir = room
	said, err := c.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(said), " Deed.pdf 1\n") {
		t.Errorf("%v\n%s", err, said)
	}
}

// A Go client that oapi-codegen generates from the served document compiles, and a
// program that uses it works.
func TestGeneratedGoClient(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	room, file := served(t, r)
	if err := os.CopyFS(room, os.DirFS(filepath.Join("testdata", "goclient"))); err != nil {
		t.Fatal(err)
	}
	// No tool takes it for a package of this module.
	if err := os.Rename(filepath.Join(room, "main.go.txt"), filepath.Join(room, "main.go")); err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(room, "Deed.pdf")
	if err := os.WriteFile(document, vaulttest.PDF(2, "generated"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := filepath.Join(room, "vault")
	if err := os.Mkdir(client, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		folder string
		name   string
		args   []string
	}{
		{"", "go", []string{"tool", "-modfile=" + filepath.Join(filepath.Dir(tools), "go.mod"), "oapi-codegen", "-generate=types,client", "-package=vault", "-o=" + filepath.Join(client, "vault.go"), file}},
		{room, "go", []string{"build", "-o", "integrator", "."}},
		{room, filepath.Join(room, "integrator"), []string{"http://" + r.address + "/v1", r.key, document}},
	} {
		c := exec.CommandContext(t.Context(), step.name, step.args...)
		c.Dir = step.folder
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step.name, err, said)
		}
	}
}

// The protocol's own client uploads a document, stops, resumes, and cancels another.
func TestTusClient(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	room := t.TempDir()
	modules, err := filepath.Abs(tools)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("testdata", "client", "tus.js"))
	if err != nil {
		t.Fatal(err)
	}
	document := append(vaulttest.PDF(2, "tus"), strings.Repeat("deed ", 1000)...)
	for name, content := range map[string][]byte{"tus.js": program, "package.json": []byte(`{"type":"module"}`), "Deed.pdf": document} {
		if err := os.WriteFile(filepath.Join(room, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(room, "node_modules")); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", "tus.js", "http://"+r.address+"/v1", r.key, "Deed.pdf")
	c.Dir = room
	if said, err := c.CombinedOutput(); err != nil || string(said) != "Deed.pdf 2\n" {
		t.Errorf("%v\n%s", err, said)
	}
}
