//go:build wine

package cmd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/client"
)

// wineEnv is a Windows of wine in a folder of its own, with our program in it.
type wineEnv struct {
	prefix string
	env    []string
}

// Where things are in it.
const (
	windowsVault    = `C:\vault`
	windowsBackups  = `C:\backup`
	windowsRestored = `C:\restored`
)

func newWindows(t *testing.T) *wineEnv {
	t.Helper()
	w := &wineEnv{prefix: filepath.Join(t.TempDir(), "wine")}
	w.env = append(os.Environ(), "WINEPREFIX="+w.prefix, "WINEARCH=win64", "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=", "DISPLAY=")
	t.Cleanup(func() { w.runTool(t, "wineserver", "--kill", "--wait") })
	w.runTool(t, "wine", "wineboot", "--init")
	w.runTool(t, "wineserver", "--wait") // It writes on for a moment.
	system := filepath.Join(w.prefix, "drive_c", "windows", "system32")
	w.runTool(t, "x86_64-w64-mingw32-gcc", "-shared", "-O2", "-o", filepath.Join(system, "bcryptprimitives.dll"),
		"testdata/wine/bcryptprimitives.c", "-ladvapi32")
	build := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-o", filepath.Join(w.prefix, "drive_c", "deedkeep.exe"), "..")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, said)
	}
	return w
}

// runTool runs what is needed to have a Windows. "wineserver --kill" fails where none runs.
func (w *wineEnv) runTool(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	tool := exec.CommandContext(ctx, name, args...)
	tool.Env = w.env
	if said, err := tool.CombinedOutput(); err != nil && !(name == "wineserver" && ctx.Err() == nil) {
		t.Fatalf("%s: %v\n%s", name, err, said)
	}
}

// hostPath is where a path of that Windows is.
func (w *wineEnv) hostPath(path string) string {
	return filepath.Join(w.prefix, "drive_c", filepath.FromSlash(strings.ReplaceAll(strings.TrimPrefix(path, `C:\`), `\`, "/")))
}

// run runs a command of ours there, wants its exit code, and gives what it prints.
func (w *wineEnv) run(t *testing.T, code int, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "wine", append([]string{`C:\deedkeep.exe`}, args...)...)
	command.Env = w.env
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	err := command.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || command.ProcessState.ExitCode() != code {
		t.Fatalf("%v: %v, want exit code %d\n%s%s", args, err, code, &out, &messages)
	}
	t.Logf("deedkeep %s\n%s", strings.Join(args, " "), &out)
	return strings.TrimSpace(out.String())
}

// served there is a server until it is stopped.
type wineServer struct {
	url      string
	process  *exec.Cmd
	messages *bytes.Buffer
	done     chan error
}

func (w *wineEnv) serve(t *testing.T, env ...string) *wineServer {
	t.Helper()
	s := &wineServer{messages: new(bytes.Buffer), done: make(chan error, 1)}
	s.process = exec.Command("wine", `C:\deedkeep.exe`, "serve", "--data", windowsVault, "--listen", "127.0.0.1:0")
	s.process.Env, s.process.Stderr = append(w.env, env...), s.messages
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatalf("StdoutPipe: %v", err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatalf("start process: %v", err)
	}
	patience := time.AfterFunc(time.Minute, func() { _ = s.process.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	patience.Stop()
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	s.url = url
	go func() {
		_, _ = io.Copy(io.Discard, out) // Nothing more comes.
		s.done <- s.process.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		_ = s.process.Process.Kill() // It may have ended.
		t.Logf("serve: %v", <-s.done)
	})
	if err != nil || !ok {
		_ = s.process.Process.Kill() // The failure is told.
		t.Fatalf("serve: %q, %v, %v\n%s", line, err, <-s.done, s.messages)
	}
	return s
}

// stop is Ctrl-C at its window.
func (s *wineServer) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		t.Fatalf("Signal: %v", err)
	}
	select {
	case err := <-s.done:
		if err != nil || !strings.Contains(s.messages.String(), "msg=stopping") {
			t.Fatalf("serve ended: %v\n%s", err, s.messages)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("serve does not stop\n%s", s.messages)
	}
}

// The program for Windows, from its first start to a restored backup. What wine does
// not show: locks that hold against other machines, access lists, a service manager,
// and whether a disk keeps what it says it keeps.
func TestWine(t *testing.T) {
	w := newWindows(t)
	w.run(t, exitNoVault, "status", "--data", windowsVault)
	server := w.serve(t)
	key := w.run(t, exitDone, "keys", "create", "wine", "--quiet", "--data", windowsVault)
	_, document := readSample(t, "title/warranty-deed-g4-ocr-layer.pdf")
	c := client.New(server.url, key, nil)
	id := uploadAndProcess(t, c, document)
	if got := w.run(t, exitDone, "process", "list", "--data", windowsVault); got != "nothing failed" {
		t.Errorf("processing: %s", got)
	}
	for pattern, least := range map[string]int{`previews\*\*\thumbnail`: 1, `previews\*\*\text`: 1, `blobs\*\*`: 1} {
		if found, err := filepath.Glob(w.hostPath(windowsVault + `\` + pattern)); err != nil || len(found) < least {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
	}
	checkDownload(t, c, id, document)
	w.run(t, exitLocked, "serve", "--data", windowsVault, "--listen", "127.0.0.1:0")
	w.run(t, exitDone, "backup", "create", "--to", windowsBackups, "--data", windowsVault)
	if got := w.run(t, exitDone, "verify", "--data", windowsVault); !strings.HasPrefix(got, "all is well: ") ||
		!strings.Contains(got, "1 document ") {
		t.Errorf("verify: %s", got)
	}
	if got := w.run(t, exitDone, "doctor", "--data", windowsVault); strings.Contains(got, "bad ") || !strings.Contains(got, "ok    sandbox ") {
		t.Errorf("doctor: %s", got)
	}
	server.stop(t)
	if _, err := os.Stat(w.hostPath(windowsVault + `\control.json`)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the door is still written down: %v", err)
	}

	// Down, restored, and in the next start with https and a power cut.
	w.run(t, exitDone, "verify", "--data", windowsVault)
	w.run(t, exitDone, "backup", "verify", "--from", windowsBackups, "--data", windowsVault)
	w.run(t, exitDone, "restore", "latest", "--from", windowsBackups, "--data", windowsRestored)
	w.run(t, exitDone, "verify", "--data", windowsRestored)
	again := w.serve(t, "DEEDKEEP_TLS_SELF_SIGNED=true")
	checkDownload(t, client.New(again.url, key, w.trustingTransport(t)), id, document)
	if err := again.process.Process.Kill(); err != nil {
		t.Fatalf("kill process: %v", err)
	}
	t.Logf("killed: %v", <-again.done)
	if got := w.run(t, exitDone, "doctor", "--data", windowsVault); !strings.Contains(got, "a server did not stop cleanly") {
		t.Errorf("doctor: %s", got)
	}
	last := w.serve(t)
	checkDownload(t, client.New(last.url, key, nil), id, document)
	last.stop(t)
}

// uploadAndProcess uploads a document and waits for its processing.
func uploadAndProcess(t *testing.T, c *client.Client, document []byte) int64 {
	t.Helper()
	up, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "Return.pdf", Reader: bytes.NewReader(document)}})
	if err != nil || len(up.Files) != 1 || up.Files[0].PageCount == nil || *up.Files[0].PageCount != 4 {
		t.Fatalf("%+v, %v", up, err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		f, err := c.File(t.Context(), up.Files[0].ID)
		if err != nil {
			t.Fatalf("File: %v", err)
		}
		if !f.IsProcessing {
			return f.ID
		}
		if time.Now().After(end) {
			t.Fatal("it is processed for a minute")
		}
	}
}

// checkDownload downloads the document and holds it against what was sent.
func checkDownload(t *testing.T, c *client.Client, id int64, document []byte) {
	t.Helper()
	body, err := c.Download(t.Context(), id)
	if err != nil {
		t.Fatalf("download: %v", err)
	}
	got, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil || !bytes.Equal(got, document) {
		t.Errorf("%d bytes of %d came back, %v", len(got), len(document), err)
	}
}

// trustingTransport believes the certificate that was made there.
func (w *wineEnv) trustingTransport(t *testing.T) http.RoundTripper {
	t.Helper()
	public, err := os.ReadFile(w.hostPath(windowsVault + `\tls\certificate.pem`))
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(public) {
		t.Fatal(fmt.Errorf("certificate: %w", err))
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
