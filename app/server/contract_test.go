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

// tools contains the npm packages pinned in .ci/tools/package-lock.json.
const tools = "../../.ci/tools/node_modules"

// writeOpenAPI downloads openapi.json from the server to a file in a new directory.
func writeOpenAPI(t *testing.T, r *running) (dir, file string) {
	t.Helper()
	resp, err := http.Get("http://" + r.address + "/openapi.json")
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET /openapi.json: %s, %v", resp.Status, err)
	}
	dir = t.TempDir()
	file = filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	return dir, file
}

// npm runs the command of an npm package with telemetry and update checks disabled, and returns
// its output.
func npm(t *testing.T, dir, name string, args ...string) (output string, err error) {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join(tools, ".bin", name))
	if err != nil {
		t.Fatalf("absolute path: %v", err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf(`run "npm ci" in .ci/tools: %v`, err)
	}
	c := exec.CommandContext(t.Context(), bin, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "NO_COLOR=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "SCARF_ANALYTICS=false")
	combined, err := c.CombinedOutput()
	return string(combined), err
}

// linters run Redocly (recommended rules) and Spectral (all rules except those turned off in
// spectral.yaml) on openapi.json. They return the number of problems.
var linters = map[string]func(t *testing.T, dir, file string) (problems int, output string){
	"redocly": func(t *testing.T, dir, file string) (int, string) {
		output, _ := npm(t, dir, "redocly", "lint", "--extends=recommended", "--format=json", file)
		var report struct {
			Totals struct{ Errors, Warnings *int }
		}
		if err := json.Unmarshal([]byte(extractJSON(output)), &report); err != nil || report.Totals.Errors == nil ||
			report.Totals.Warnings == nil {
			t.Fatalf("decode report of Redocly: %v\n%s", err, output)
		}
		return *report.Totals.Errors + *report.Totals.Warnings, output
	},
	"spectral": func(t *testing.T, dir, file string) (int, string) {
		rules, err := filepath.Abs(filepath.Join(tools, "..", "spectral.yaml"))
		if err != nil {
			t.Fatalf("absolute path: %v", err)
		}
		output, err := npm(t, dir, "spectral", "lint", "--ruleset", rules, "--fail-severity=hint", file)
		found := regexp.MustCompile(`(?m)^ *\d+:\d+ +(error|warning|information|hint) `).FindAllString(output, -1)
		if (err == nil) != (len(found) == 0) {
			t.Fatalf("spectral: %v with %d problems\n%s", err, len(found), output)
		}
		return len(found), output
	},
}

// extractJSON returns the part of text from its first to its last brace. It removes messages
// before and after the JSON.
func extractJSON(text string) string {
	begin, deadline := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if begin < 0 || deadline < begin {
		return text
	}
	return text[begin : deadline+1]
}

// The linters report no errors or warnings for the served openapi.json. They do report a defect
// that the test introduces.
func TestLintOpenAPI(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	for name, lint := range linters {
		t.Run(name, func(t *testing.T) {
			dir, file := writeOpenAPI(t, r)
			if n, output := lint(t, dir, file); n > 0 {
				t.Errorf("got %d problems, want 0:\n%s", n, output)
			}
			good, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			bad := strings.Replace(string(good), `"operationId":"listOrders"`, `"operationId":"listAbstracts"`, 1)
			if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			if n, output := lint(t, dir, file); n == 0 || bad == string(good) {
				t.Errorf("a duplicate operationId is not found:\n%s", output)
			}
		})
	}
}

// A TypeScript client generated from the served openapi.json and a program that uses it pass the
// strict type check, and the program works.
func TestGeneratedTypeScriptClient(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	dir, file := writeOpenAPI(t, r)
	modules, err := filepath.Abs(tools)
	if err != nil {
		t.Fatalf("absolute path: %v", err)
	}
	program, err := os.ReadFile(filepath.Join("testdata", "client", "client.ts"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	document := filepath.Join(dir, "Deed.pdf")
	for path, content := range map[string]string{
		filepath.Join(dir, "client.ts"):    string(program),
		filepath.Join(dir, "package.json"): `{"type":"module"}`,
		document:                           string(vaulttest.PDF(2, "generated")),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("create symlink: %v", err)
	}
	for _, step := range [][]string{
		{"openapi-typescript", file, "--output", filepath.Join(dir, "contract.ts")},
		{"tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", "--types", "node", "client.ts"},
	} {
		if output, err := npm(t, dir, step[0], step[1:]...); err != nil {
			t.Fatalf("%s: %v\n%s", step[0], err, output)
		}
	}
	c := exec.CommandContext(t.Context(), "node", "client.js", "http://"+r.address+"/v1", r.key, document)
	c.Dir = dir
	output, err := c.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(output), " Deed.pdf 1\n") {
		t.Errorf("client.js: %v, want output that ends with \"Deed.pdf 1\":\n%s", err, output)
	}
}

// A Go client generated by oapi-codegen from the served openapi.json compiles, and a program that
// uses it works.
func TestGeneratedGoClient(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	dir, file := writeOpenAPI(t, r)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "goclient"))); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	// In testdata, the file is named .txt so that Go tools don't treat it as part of this module.
	if err := os.Rename(filepath.Join(dir, "main.go.txt"), filepath.Join(dir, "main.go")); err != nil {
		t.Fatalf("rename file: %v", err)
	}
	document := filepath.Join(dir, "Deed.pdf")
	if err := os.WriteFile(document, vaulttest.PDF(2, "generated"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	client := filepath.Join(dir, "vault")
	if err := os.Mkdir(client, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	for _, step := range []struct {
		dir  string
		name string
		args []string
	}{
		{"", "go", []string{
			"tool", "-modfile=" + filepath.Join(filepath.Dir(tools), "go.mod"), "oapi-codegen",
			"-generate=types,client", "-package=vault", "-o=" + filepath.Join(client, "vault.go"), file,
		}},
		{dir, "go", []string{"build", "-o", "integrator", "."}},
		{dir, filepath.Join(dir, "integrator"), []string{"http://" + r.address + "/v1", r.key, document}},
	} {
		c := exec.CommandContext(t.Context(), step.name, step.args...)
		c.Dir = step.dir
		if output, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step.name, err, output)
		}
	}
}

// The official tus client pauses and resumes the upload of a document, and cancels another upload.
func TestTusClient(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	dir := t.TempDir()
	modules, err := filepath.Abs(tools)
	if err != nil {
		t.Fatalf("absolute path: %v", err)
	}
	program, err := os.ReadFile(filepath.Join("testdata", "client", "tus.js"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	document := append(vaulttest.PDF(2, "tus"), strings.Repeat("deed ", 1000)...)
	for name, content := range map[string][]byte{"tus.js": program, "package.json": []byte(`{"type":"module"}`), "Deed.pdf": document} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("create symlink: %v", err)
	}
	c := exec.CommandContext(t.Context(), "node", "tus.js", "http://"+r.address+"/v1", r.key, "Deed.pdf")
	c.Dir = dir
	if output, err := c.CombinedOutput(); err != nil || string(output) != "Deed.pdf 2\n" {
		t.Errorf("tus.js: got %v and %q, want \"Deed.pdf 2\"", err, output)
	}
}
