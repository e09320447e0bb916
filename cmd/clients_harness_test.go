//go:build harness

package cmd

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// HTTP clients in other languages can upload a document and download the same bytes from
// its download_url. They get 401 without a key and 403 if the key lacks the ability.
func TestClientsInOtherLanguages(t *testing.T) {
	server := startServer(t, shortDataDir(t))
	key, weakKey := server.createKey(t, "harness"), server.createKey(t, "harness", "--ability", "events")
	document, content := readSample(t, "title/open-end-mortgage.pdf")
	dir := filepath.Join("testdata", "clients")
	for name, command := range map[string][]string{
		"curl":             {"bash", filepath.Join(dir, "curl.sh")},
		"Python requests":  {python(), filepath.Join(dir, "client.py")},
		"node fetch":       {"node", filepath.Join(dir, "client.mjs")},
		"Java HttpClient":  {"java", filepath.Join(dir, "Client.java")},
		"Go with net/http": {"go", "run", filepath.Join(dir, "client.go")},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "back.pdf")
			statuses := runTool(t, "", append(command, server.url+"/v1", key, weakKey, document, out)...)
			if statuses != "401 403\n" {
				t.Errorf("statuses without a key and without the ability: got %q, want 401 403", statuses)
			}
			got, err := os.ReadFile(out)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("download: got %d bytes, %v, want the %d bytes of the document", len(got), err, len(content))
			}
		})
	}
}

// python returns a python3 with the requests package. If the first one in PATH lacks it,
// for example because a version manager installed it, python returns the system's python3.
func python() string {
	if exec.Command("python3", "-c", "import requests").Run() == nil {
		return "python3"
	}
	return "/usr/bin/python3"
}

// The commands in README.md under "Try the API" work. The test replaces the port,
// and runs the binary under test instead of "go run .".
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	_, rest, found := strings.Cut(string(text), "## Try the API\n")
	_, rest, opened := strings.Cut(rest, "```sh\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !opened || !closed || strings.Count(block, "\n") > 12 || !strings.Contains(block, "127.0.0.1:8080") {
		t.Fatalf("README.md: got the block\n%s\nwant one of at most 12 lines with 127.0.0.1:8080", block)
	}
	dir := t.TempDir()
	for name, from := range map[string]string{
		"deed.pdf": "title/warranty-deed-scan-100dpi.pdf", "plat.tiff": "title/warranty-deed-g4-300dpi.tiff", "setup.exe": "refuse/setup.exe",
	} {
		_, content := readSample(t, from)
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatalf("write sample: %v", err)
		}
	}
	data := shortDataDir(t)
	server := startServer(t, data)
	t.Setenv("DEEDKEEP_DATA", data)
	script := "set -e\ngo() { shift 2; deedkeep \"$@\"; }\n" +
		strings.ReplaceAll(block, "127.0.0.1:8080", strings.TrimPrefix(server.url, "http://"))
	out := runTool(t, dir, "bash", "-c", script)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if lines[len(lines)-1] != "every byte is back" {
		t.Errorf("last line: got %q, want \"every byte is back\" in\n%s", lines[len(lines)-1], out)
	}
	abstract, err := os.ReadFile(filepath.Join(dir, "abstract.json"))
	if err != nil || !strings.Contains(string(abstract), `"filename":"setup.exe","error":"File type not supported.`) {
		t.Errorf("abstract.json: got %s, %v, want an error for setup.exe", abstract, err)
	}
}

// runTool runs a program in a directory and returns its standard output. The test fails if
// the program fails or takes longer than a minute.
func runTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var messages bytes.Buffer
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir, c.Stderr, c.WaitDelay = dir, &messages, time.Second
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", args[0], err, out, &messages)
	}
	return string(out)
}
