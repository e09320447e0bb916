//go:build wine

package cmd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest/client"
)

// wineEnv is a Wine prefix that contains the Windows binary.
type wineEnv struct {
	prefix string
	env    []string
}

// Windows paths in the Wine prefix.
const (
	windowsVault    = `C:\vault`
	windowsBackups  = `C:\backup`
	windowsRestored = `C:\restored`
)

func newWineEnv(t *testing.T) *wineEnv {
	t.Helper()
	w := &wineEnv{prefix: filepath.Join(t.TempDir(), "wine")}
	w.env = append(os.Environ(), "WINEPREFIX="+w.prefix, "WINEARCH=win64", "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=", "DISPLAY=")
	t.Cleanup(func() { w.runTool(t, "wineserver", "--kill", "--wait") })
	w.runTool(t, "wine", "wineboot", "--init")
	w.runTool(t, "wineserver", "--wait") // wineserver still writes to the prefix after wineboot has exited
	system := filepath.Join(w.prefix, "drive_c", "windows", "system32")
	w.runTool(t, "x86_64-w64-mingw32-gcc", "-shared", "-O2", "-o", filepath.Join(system, "bcryptprimitives.dll"),
		"testdata/wine/bcryptprimitives.c", "-ladvapi32")
	build := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-o", filepath.Join(w.prefix, "drive_c", "deedkeep.exe"), "..")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return w
}

// runTool runs a Wine tool or the compiler. It ignores the error of "wineserver --kill", which fails if no server is
// running.
func (w *wineEnv) runTool(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = w.env
	if output, err := cmd.CombinedOutput(); err != nil && !(name == "wineserver" && ctx.Err() == nil) {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
}

// hostPath returns the path on this machine for a Windows path.
func (w *wineEnv) hostPath(path string) string {
	return filepath.Join(w.prefix, "drive_c", filepath.FromSlash(strings.ReplaceAll(strings.TrimPrefix(path, `C:\`), `\`, "/")))
}

// run runs a deedkeep command in Wine, checks its exit code, and returns its output.
func (w *wineEnv) run(t *testing.T, code int, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "wine", append([]string{`C:\deedkeep.exe`}, args...)...)
	cmd.Env = w.env
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("deedkeep %s: got %v, want exit code %d\n%s%s", strings.Join(args, " "), err, code, &out, &messages)
	}
	t.Logf("deedkeep %s\n%s", strings.Join(args, " "), &out)
	return strings.TrimSpace(out.String())
}

// wineServer is a "deedkeep serve" process in Wine.
type wineServer struct {
	url      string
	process  *exec.Cmd
	messages *bytes.Buffer
	done     chan error
}

// serve starts a server and waits until it prints its address.
func (w *wineEnv) serve(t *testing.T, env ...string) *wineServer {
	t.Helper()
	s := &wineServer{messages: new(bytes.Buffer), done: make(chan error, 1)}
	s.process = exec.Command("wine", `C:\deedkeep.exe`, "serve", "--data", windowsVault, "--listen", "127.0.0.1:0")
	s.process.Env, s.process.Stderr = append(w.env, env...), s.messages
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatalf("create pipe: %v", err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatalf("start server: %v", err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = s.process.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	timer.Stop()
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	s.url = url
	go func() {
		_, _ = io.Copy(io.Discard, out) // no more output is expected
		s.done <- s.process.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		_ = s.process.Process.Kill() // the process may have exited
		t.Logf("serve: %v", <-s.done)
	})
	if err != nil || !ok {
		_ = s.process.Process.Kill() // the test fails anyway
		t.Fatalf("serve printed %q, %v, want an address; it ended with %v\n%s", line, err, <-s.done, s.messages)
	}
	return s
}

// stop sends Ctrl-C to the server and waits until it has exited.
func (s *wineServer) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		t.Fatalf("interrupt server: %v", err)
	}
	select {
	case err := <-s.done:
		if err != nil || !strings.Contains(s.messages.String(), "msg=stopping") {
			t.Fatalf("serve ended with %v, want a clean stop\n%s", err, s.messages)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("serve still runs after 30 seconds\n%s", s.messages)
	}
}

// The Windows binary works, from the first start to restoring a backup. Wine can't be used to test locks between
// machines, access control lists, the service manager, or whether synced data is really on disk.
func TestWine(t *testing.T) {
	w := newWineEnv(t)
	w.run(t, exitNoVault, "status", "--data", windowsVault)
	server := w.serve(t)
	key := w.run(t, exitDone, "keys", "create", "wine", "--quiet", "--data", windowsVault)
	_, document := readSample(t, "title/warranty-deed-g4-ocr-layer.pdf")
	c := client.New(server.url, key, nil)
	fileID := uploadAndProcess(t, c, document)
	if got := w.run(t, exitDone, "process", "list", "--data", windowsVault); got != "no failed documents" {
		t.Errorf("process list: got %q, want \"no failed documents\"", got)
	}
	for pattern, want := range map[string]int{`previews\*\*\thumbnail`: 1, `previews\*\*\text`: 1, `blobs\*\*`: 1} {
		if matches, err := filepath.Glob(w.hostPath(windowsVault + `\` + pattern)); err != nil || len(matches) < want {
			t.Errorf("files of %s: got %v, %v, want at least %d", pattern, matches, err, want)
		}
	}
	checkDownload(t, c, fileID, document)
	w.run(t, exitLocked, "serve", "--data", windowsVault, "--listen", "127.0.0.1:0")
	w.run(t, exitDone, "backup", "create", "--to", windowsBackups, "--data", windowsVault)
	if got := w.run(t, exitDone, "verify", "--data", windowsVault); !strings.HasPrefix(got, "OK: ") ||
		!strings.Contains(got, "1 document ") {
		t.Errorf("verify: got %s, want one intact document", got)
	}
	if got := w.run(t, exitDone, "doctor", "--data", windowsVault); strings.Contains(got, "bad ") || !strings.Contains(got, "ok    sandbox ") {
		t.Errorf("doctor: got %s, want no \"bad\" and a working sandbox", got)
	}
	server.stop(t)
	if _, err := os.Stat(w.hostPath(windowsVault + `\control.json`)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat control.json after the stop: got %v, want os.ErrNotExist", err)
	}

	// Run commands without a server, restore a backup, and kill a server that uses https.
	w.run(t, exitDone, "verify", "--data", windowsVault)
	w.run(t, exitDone, "backup", "verify", "--from", windowsBackups, "--data", windowsVault)
	w.run(t, exitDone, "restore", "latest", "--from", windowsBackups, "--data", windowsRestored)
	w.run(t, exitDone, "verify", "--data", windowsRestored)
	secure := w.serve(t, "DEEDKEEP_TLS_SELF_SIGNED=true")
	checkDownload(t, client.New(secure.url, key, w.trustingTransport(t)), fileID, document)
	if err := secure.process.Process.Kill(); err != nil {
		t.Fatalf("kill server: %v", err)
	}
	t.Logf("killed: %v", <-secure.done)
	if got := w.run(t, exitDone, "doctor", "--data", windowsVault); !strings.Contains(got, "the server did not shut down cleanly") {
		t.Errorf("doctor: got %s, want the unclean stop", got)
	}
	restarted := w.serve(t)
	checkDownload(t, client.New(restarted.url, key, nil), fileID, document)
	restarted.stop(t)
}

// uploadAndProcess uploads a four-page document, waits until it is processed, and returns its ID.
func uploadAndProcess(t *testing.T, c *client.Client, document []byte) int64 {
	t.Helper()
	uploaded, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "Return.pdf", Reader: bytes.NewReader(document)}})
	if err != nil || len(uploaded.Files) != 1 || uploaded.Files[0].PageCount == nil || *uploaded.Files[0].PageCount != 4 {
		t.Fatalf("upload: got %+v, %v, want one file of 4 pages", uploaded, err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		f, err := c.File(t.Context(), uploaded.Files[0].ID)
		if err != nil {
			t.Fatalf("get file: %v", err)
		}
		if !f.IsProcessing {
			return f.ID
		}
		if time.Now().After(deadline) {
			t.Fatal("file is still being processed after a minute")
		}
	}
}

// checkDownload downloads a file and compares it with the uploaded document.
func checkDownload(t *testing.T, c *client.Client, fileID int64, document []byte) {
	t.Helper()
	body, err := c.Download(t.Context(), fileID)
	if err != nil {
		t.Fatalf("download: %v", err)
	}
	got, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil || !bytes.Equal(got, document) {
		t.Errorf("download: got %d bytes, %v, want the %d bytes of the upload", len(got), err, len(document))
	}
}

// trustingTransport returns a transport that trusts the server's self-signed certificate.
func (w *wineEnv) trustingTransport(t *testing.T) http.RoundTripper {
	t.Helper()
	certPEM, err := os.ReadFile(w.hostPath(windowsVault + `\tls\certificate.pem`))
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(certPEM) {
		t.Fatalf("read certificate: %v", err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// The commands for the service of Windows, in Wine's service manager. It can't run the server: Wine doesn't tell a program
// that it was started as a service.
func TestWineService(t *testing.T) {
	w := newWineEnv(t)
	// Wine stops its services when no other program runs.
	other := exec.Command("wine", "cmd", "/k")
	other.Env = w.env
	input, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatalf("start cmd: %v", err)
	}
	t.Cleanup(func() { t.Logf("cmd: %v, %v", input.Close(), other.Wait()) })
	// A program that starts Wine's services would leave its output open with them.
	warmUp := exec.Command("wine", "cmd", "/c", "exit")
	warmUp.Env = w.env
	if err := warmUp.Run(); err != nil {
		t.Fatalf("start Wine: %v", err)
	}

	data, address := `C:\my vault`, freeAddress(t)
	if err := os.Mkdir(w.hostPath(data), 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	settings := "listen: " + address + "\nocr:\n  enabled: false\n"
	if err := os.WriteFile(w.hostPath(data+`\config.yaml`), []byte(settings), 0o600); err != nil {
		t.Fatalf("write settings: %v", err)
	}
	w.run(t, exitFailed, "service", "status")
	w.run(t, exitFailed, "service", "start")
	// The service is there, but its start times out.
	const wrote = `wrote the service deedkeep: C:\deedkeep.exe serve --data "C:\my vault" runs as NT SERVICE\deedkeep`
	if got := w.run(t, exitFailed, "service", "install", "--data", data); !strings.Contains(got, wrote) {
		t.Errorf("install: got %s, want %q", got, wrote)
	}
	var state serviceState
	if err := json.Unmarshal([]byte(w.run(t, exitFailed, "service", "status", "--json")), &state); err != nil || state.Running ||
		!state.Enabled || state.Data != data || state.Account != `NT SERVICE\deedkeep` || state.Address != nil {
		t.Errorf("status: got %+v, %v", state, err)
	}
	if got := w.run(t, exitDone, "service", "stop"); !strings.Contains(got, "already stopped") {
		t.Errorf("stop: got %s, want a stopped service", got)
	}
	w.run(t, exitDone, "service", "uninstall")
	if got := w.run(t, exitDone, "service", "uninstall"); got != "no service deedkeep is installed" {
		t.Errorf("second uninstall: got %s", got)
	}
}
