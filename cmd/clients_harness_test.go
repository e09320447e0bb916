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

// A client of another language than ours files a document, follows its
// download_url, and gets the same bytes; without a key or the ability it does not.
func TestClientsInOtherLanguages(t *testing.T) {
	server := startServer(t, shortDataDir(t))
	key, weak := server.createKey(t, "harness"), server.createKey(t, "harness", "--ability", "events")
	document, content := readSample(t, "title/open-end-mortgage.pdf")
	dir := filepath.Join("testdata", "clients")
	for name, call := range map[string][]string{
		"curl":             {"bash", filepath.Join(dir, "curl.sh")},
		"Python requests":  {python(), filepath.Join(dir, "client.py")},
		"node fetch":       {"node", filepath.Join(dir, "client.mjs")},
		"Java HttpClient":  {"java", filepath.Join(dir, "Client.java")},
		"Go with net/http": {"go", "run", filepath.Join(dir, "client.go")},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "back.pdf")
			said := runTool(t, "", append(call, server.url+"/v1", key, weak, document, out)...)
			if said != "401 403\n" {
				t.Errorf("it said %q", said)
			}
			back, err := os.ReadFile(out)
			if err != nil || !bytes.Equal(back, content) {
				t.Errorf("%d bytes came back, %v", len(back), err)
			}
		})
	}
}

// python is the python3 that has requests: a version manager's may lack it.
func python() string {
	if exec.Command("python3", "-c", "import requests").Run() == nil {
		return "python3"
	}
	return "/usr/bin/python3"
}

// The first ten minutes of the README are run as they stand there, but for the port
// and for "go run .", which is the program under test.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	_, rest, found := strings.Cut(string(text), "## The first ten minutes\n")
	_, rest, opened := strings.Cut(rest, "```sh\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !opened || !closed || strings.Count(block, "\n") > 12 || !strings.Contains(block, "127.0.0.1:8080") {
		t.Fatalf("the block is\n%s", block)
	}
	room := t.TempDir()
	for name, from := range map[string]string{
		"deed.pdf": "title/warranty-deed-scan-100dpi.pdf", "plat.tiff": "title/warranty-deed-g4-300dpi.tiff", "setup.exe": "refuse/setup.exe",
	} {
		_, content := readSample(t, from)
		if err := os.WriteFile(filepath.Join(room, name), content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	data := shortDataDir(t)
	server := startServer(t, data)
	t.Setenv("DEEDKEEP_DATA", data)
	script := "set -e\ngo() { shift 2; deedkeep \"$@\"; }\n" + strings.ReplaceAll(block, "127.0.0.1:8080", strings.TrimPrefix(server.url, "http://"))
	said := runTool(t, room, "bash", "-c", script)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if lines[len(lines)-1] != "every byte is back" {
		t.Errorf("it said\n%s", said)
	}
	made, err := os.ReadFile(filepath.Join(room, "abstract.json"))
	if err != nil || !strings.Contains(string(made), `"filename":"setup.exe","error":"File type not supported.`) {
		t.Errorf("%s, %v", made, err)
	}
}

// runTool runs a program in a directory for at most a minute and gives its standard
// output.
func runTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var messages bytes.Buffer
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir, c.Stderr, c.WaitDelay = dir, &messages, time.Second
	said, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", args[0], err, said, &messages)
	}
	return string(said)
}
