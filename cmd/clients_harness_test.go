//go:build harness

package cmd

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/vaulttest/client"
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

// CONTRIBUTING.md shows what the server prints at its first start, and names sample documents that the server accepts.
// README.md shows the setup link.
func TestFirstStart(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	text, err := os.ReadFile(filepath.Join("..", ".github", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	_, rest, found := strings.Cut(string(text), "go run . serve\n```\n")
	_, rest, opened := strings.Cut(rest, "```text\n")
	shown, steps, closed := strings.Cut(rest, "```\n")
	if !found || !opened || !closed {
		t.Fatal("CONTRIBUTING.md: got no command that starts the server, want one with its output below")
	}
	data := shortDataDir(t)
	server := startServer(t, data)
	steps, _, _ = strings.Cut(steps, "\n## ")
	names := regexp.MustCompile("`([a-z0-9-]+[.]pdf)`").FindAllStringSubmatch(steps, -1)
	if len(names) < 2 {
		t.Fatalf("CONTRIBUTING.md: got %d sample documents, want at least 2", len(names))
	}
	c := client.New(server.url, server.createKey(t, "README"), http.DefaultTransport)
	for _, m := range names {
		_, content := readSample(t, "title/"+m[1])
		uploaded, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: m[1], Reader: bytes.NewReader(content)}})
		if err != nil || len(uploaded.Errors) > 0 {
			t.Errorf("upload %s: got %+v, %v, want it accepted", m[1], uploaded.Errors, err)
		}
	}
	server.signal(t, syscall.SIGTERM)
	server.waitExit(t)
	code := regexp.MustCompile(`(/join/)[0-9A-Za-z]+`)
	printed := code.ReplaceAllString(server.messages.String(), "${1}CODE") + "listening on " + server.url + "\n"
	actual := strings.NewReplacer("/opt/deedkeep/data", data, "127.0.0.1:8080", strings.TrimPrefix(server.url, "http://"))
	link := actual.Replace(string(regexp.MustCompile("http://.*/join/CODE").Find(readme)))
	if link == "" || !strings.Contains(printed, link) {
		t.Errorf("README.md shows the setup link %q, but the server printed\n%s", link, printed)
	}
	for line := range strings.Lines(shown) {
		if !strings.Contains(printed, actual.Replace(line)) {
			t.Errorf("CONTRIBUTING.md shows %q, but the server printed\n%s", line, printed)
		}
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
