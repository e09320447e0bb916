package cmd

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"deedkeep/app/config"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
	"deedkeep/web"
)

// raceOptions prevents the race detector from sleeping for one second when a process exits.
const raceOptions = "atexit_sleep_ms=0"

// scriptExample replaces config.example.yaml, which only the main package embeds.
const scriptExample = "# The settings.\ndata: ./data\n"

// withoutOCR is the setting of servers whose scans the tests don't search. Reading a page takes
// seconds.
const withoutOCR = "DEEDKEEP_OCR_ENABLED=false"

// TestMain lets the test binary act as deedkeep, which the scripts run, and as a sandbox worker.
func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) {
		os.Exit(sandbox.RunWorker(sandbox.Assets{PDFium: web.PDFium, Tesseract: web.Tesseract, English: web.English}))
	}
	if isOwnerProcess(os.Args) {
		os.Exit(runOwnerProcess(os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){"deedkeep": func() { os.Exit(runProgram(scriptExample, testInstalled())) }})
}

// testInstalled returns the paths of an installed package below the directory in DEEDKEEP_TEST_ROOT. Without it, a
// package that is installed on this machine doesn't change the tests.
func testInstalled() config.Installed {
	root := os.Getenv("DEEDKEEP_TEST_ROOT")
	if root == "" {
		return config.Installed{}
	}
	return config.Installed{File: filepath.Join(root, "etc", "config.yaml"), Data: filepath.Join(root, "lib")}
}

// All scripts in testdata/both run both with and without a server. Their vault contains an API key
// ($KEY, ID 1), an order, and a document.
func TestScriptsWithServer(t *testing.T)    { runScripts(t, "testdata/both", "up") }
func TestScriptsWithoutServer(t *testing.T) { runScripts(t, "testdata/both", "down") }

// The scripts in testdata/alone start without a vault.
func TestScriptsAlone(t *testing.T) { runScripts(t, "testdata/alone", "") }

// runScripts runs the scripts in a directory. Scripts can use the mode as a condition.
func runScripts(t *testing.T, dir, mode string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           func(word string) (bool, error) { return word == mode, nil },
		Setup: func(env *testscript.Env) error {
			// The path of a Unix socket must be short.
			root, err := os.MkdirTemp("", "dk") //nolint:usetesting // a script has no t
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(root) }) // fails if a killed server still writes
			data := filepath.Join(root, "d")
			env.Values[scriptStateKey{}] = new(scriptState)
			env.Setenv("SHORT", root)
			env.Setenv("GORACE", raceOptions)
			env.Vars = append(env.Vars, withoutOCR)
			env.Setenv("DATA", data)
			env.Setenv("MODE", mode)
			env.Setenv("DEEDKEEP_DATA", data)
			env.Setenv("DEEDKEEP_LISTEN", "127.0.0.1:0")
			env.Setenv("DEEDKEEP_READER_CACHE", vaulttest.CacheDir())
			// PDFium is compiled when it is first used, which takes a long time on a busy machine.
			env.Setenv("DEEDKEEP_READER_DEADLINE", "2m")
			if mode == "" {
				return nil
			}
			key, err := seedVault(data)
			env.Setenv("KEY", key)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"begin": cmdBegin, "start": cmdStart, "end": cmdEnd, "code": cmdCode, "json": cmdJSON, "flip": cmdFlip, "rewrite": cmdRewrite,
			"drop": cmdDrop, "upload": cmdUpload, "get": cmdGet, "keep": cmdKeep, "picture": cmdPicture, "idle": cmdIdle, "page": cmdPage,
		},
	})
}

// seedVault creates a vault with an API key, an order, and a document. It returns the key.
func seedVault(dir string) (key string, err error) {
	ctx := context.Background()
	v, err := instance.Open(ctx, instance.Options{
		Dir: dir, Create: true, Settings: vaulttest.Settings(), Reader: vaulttest.Reader{}, Now: time.Now, Rand: rand.Reader,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	key, _, err = v.Keys.Create(ctx, model.Actor{Kind: "operator", Name: "seed"}, model.KeyDraft{Name: "seed"})
	if err != nil {
		return "", err
	}
	h, err := server.Handler(server.Options{Config: config.Default(), App: v, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		return "", err
	}
	c := client.New("http://seed", key, handlerTransport{h})
	if _, err := c.CreateOrder(ctx, client.OrderDraft{OrderNumber: "SEED-0001"}); err != nil {
		return "", err
	}
	uploaded, err := c.Upload(ctx, nil, []client.Upload{{Filename: "Seed.txt", Reader: strings.NewReader("the seeded document")}})
	if err == nil && len(uploaded.Files) != 1 {
		err = fmt.Errorf("upload: got %+v, want one file", uploaded)
	}
	return key, err
}

// handlerTransport is an http.RoundTripper that calls a handler directly, without a network.
type handlerTransport struct{ http.Handler }

func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.RequestURI = r.URL.RequestURI()
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// scriptServer is a server started by a script.
type scriptServer struct {
	process *exec.Cmd
	done    chan error
}

// cmdBegin implements the command "begin", which starts a server if the script runs in the mode with
// a server.
func cmdBegin(ts *testscript.TestScript, _ bool, args []string) {
	if ts.Getenv("MODE") == "up" {
		cmdStart(ts, false, args)
	}
}

// cmdStart implements the command "start", which runs "deedkeep serve" with the given flags. It sets
// $URL to the address of the server and writes its output to serve.out and serve.err.
func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	program, err := exec.LookPath("deedkeep")
	ts.Check(err)
	process := exec.Command(program, append([]string{"serve"}, args...)...)
	process.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "GORACE", "TMPDIR", "DEEDKEEP_DATA", "DEEDKEEP_LISTEN", "DEEDKEEP_READER_CACHE",
		"DEEDKEEP_READER_DEADLINE", "DEEDKEEP_LOG_LEVEL", "DEEDKEEP_TLS_SELF_SIGNED", "DEEDKEEP_BACKUP_PASSPHRASE",
		"DEEDKEEP_TEST_ROOT"} {
		process.Env = append(process.Env, name+"="+ts.Getenv(name))
	}
	out, err := os.Create(ts.MkAbs("serve.out"))
	ts.Check(err)
	messages, err := os.Create(ts.MkAbs("serve.err"))
	ts.Check(err)
	process.Stdout, process.Stderr = out, messages
	start := time.Now()
	ts.Check(process.Start())
	ts.Check(errors.Join(out.Close(), messages.Close()))
	s := &scriptServer{process, make(chan error, 1)}
	go func() {
		s.done <- process.Wait()
		close(s.done)
	}()
	stateOf(ts).server = s
	ts.Defer(func() {
		_ = process.Process.Kill() // the process may have exited
		if err := <-s.done; err != nil {
			ts.Logf("serve: %v", err)
		}
	})
	for {
		printed := ts.ReadFile("serve.out")
		if url, ok := strings.CutPrefix(strings.TrimSpace(printed), "listening on "); ok && strings.HasSuffix(printed, "\n") {
			ts.Setenv("URL", url)
			ts.Setenv("ADDRESS", url[strings.LastIndex(url, "/")+1:])
			ts.Logf("ready after %v", time.Since(start).Round(time.Millisecond))
			ts.Setenv("STARTED_MS", strconv.FormatInt(time.Since(start).Milliseconds(), 10))
			return
		}
		select {
		case err := <-s.done:
			ts.Fatalf("serve ended: %v\n%s", err, ts.ReadFile("serve.err"))
		case <-time.After(2 * time.Millisecond): // there are no notifications when a file grows
		}
		if time.Since(start) > 30*time.Second {
			ts.Fatalf("serve prints no address in 30 seconds\n%s", ts.ReadFile("serve.err"))
		}
	}
}

// scriptState is the state of one script. Each script has its own, because scripts run in parallel.
type scriptState struct{ server *scriptServer }

type scriptStateKey struct{}

// stateOf returns the state of a script.
func stateOf(ts *testscript.TestScript) *scriptState {
	return ts.Value(scriptStateKey{}).(*scriptState)
}

// cmdEnd implements the command "end". It sends a signal (TERM, INT, or KILL) to the server, waits
// until it exits, and checks the exit code (default 0).
func cmdEnd(ts *testscript.TestScript, _ bool, args []string) {
	s := stateOf(ts).server
	want := 0
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		want = n
	}
	ts.Check(s.process.Process.Signal(signals[args[0]]))
	select {
	case err := <-s.done:
		if code := s.process.ProcessState.ExitCode(); code != want {
			ts.Fatalf("serve: got exit code %d (%v), want %d\n%s", code, err, want, ts.ReadFile("serve.err"))
		}
	case <-time.After(30 * time.Second):
		_ = s.process.Process.Kill() // the test fails anyway
		ts.Fatalf("serve still runs after 30 seconds")
	}
}

// cmdCode runs a command and checks its exit code. Example: code 3 deedkeep verify
func cmdCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("got exit code %d, want %s\n%s%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// cmdJSON checks that a file contains one JSON document and that the value at a path is as expected.
// In a path, # means the length of a list. Example: json stdout data.id 2
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var value any
	ts.Check(decoder.Decode(&value))
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		ts.Fatalf("got more than one JSON document: %v", err)
	}
	for name := range strings.SplitSeq(args[1], ".") {
		switch container := value.(type) {
		case map[string]any:
			member, ok := container[name]
			if !ok {
				ts.Fatalf("%s: no member %s", args[1], name)
			}
			value = member
		case []any:
			if name == "#" {
				value = len(container)
				continue
			}
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(container) {
				ts.Fatalf("%s: no item %s in a list of %d", args[1], name, len(container))
			}
			value = container[n]
		default:
			ts.Fatalf("%s: got %v, want an object or a list for %s", args[1], value, name)
		}
	}
	text, err := json.Marshal(value)
	ts.Check(err)
	if (string(text) == args[2]) == neg {
		ts.Fatalf("%s: got %s, want %s (negated: %v)", args[1], text, args[2], neg)
	}
}

// cmdFlip changes one bit in the middle of a file. Exactly one file must match the pattern.
func cmdFlip(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(args[0])
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s: got %d files, want 1", args[0], len(files))
	}
	ts.Check(os.Chmod(files[0], 0o600))
	content, err := os.ReadFile(files[0])
	ts.Check(err)
	content[len(content)/2] ^= 1
	ts.Check(os.WriteFile(files[0], content, 0o600))
}

// cmdDrop removes a file. Exactly one file must match the pattern.
func cmdDrop(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(args[0])
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s: got %d files, want 1", args[0], len(files))
	}
	ts.Check(os.Remove(files[0]))
}

// cmdRewrite replaces text in a file in place, even while another process has the file open.
func cmdRewrite(ts *testscript.TestScript, _ bool, args []string) {
	oldText, newText := args[1], args[2]
	count := rewriteText(ts, args[0], oldText, newText)
	if count == 0 || len(oldText) != len(newText) {
		ts.Fatalf("replaced %q %d times by %q in %s, want at least once, by a text of the same length", oldText, count, newText, args[0])
	}
	for rewriteText(ts, args[0], oldText, newText) > 0 { // a commit of the server has copied a page in the meantime
		continue
	}
}

// rewriteText replaces each occurrence of oldText in a file and returns their number.
func rewriteText(ts *testscript.TestScript, name, oldText, newText string) (count int) {
	content, err := os.ReadFile(name)
	ts.Check(err)
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	ts.Check(err)
	for pos := 0; ; count++ {
		next := strings.Index(string(content[pos:]), oldText)
		if next < 0 {
			break
		}
		pos += next
		_, err := file.WriteAt([]byte(newText), int64(pos))
		ts.Check(err)
		pos += len(oldText)
	}
	ts.Check(file.Close())
	return count
}

// cmdUpload uploads a file with the API key $KEY.
func cmdUpload(ts *testscript.TestScript, _ bool, args []string) {
	c := client.New(ts.Getenv("URL"), ts.Getenv("KEY"), nil)
	uploaded, err := c.Upload(context.Background(), nil, []client.Upload{{Filename: args[0], Reader: strings.NewReader(ts.ReadFile(args[0]))}})
	ts.Check(err)
	if len(uploaded.Files) != 1 {
		ts.Fatalf("upload: got %+v, want one file", uploaded)
	}
}

// cmdGet requests a path with an API key and checks the status of the response. Example: get 401
// /v1/order-fields $KEY
func cmdGet(ts *testscript.TestScript, _ bool, args []string) {
	req, err := http.NewRequest(http.MethodGet, ts.Getenv("URL")+args[1], nil)
	ts.Check(err)
	req.Header.Set("Authorization", "Bearer "+args[2])
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	ts.Check(resp.Body.Close())
	if strconv.Itoa(resp.StatusCode) != args[0] {
		ts.Fatalf("GET %s: got %s, want %s", args[1], resp.Status, args[0])
	}
}

// cmdPage requests a URL and checks the status and that the response contains a text. Example: page
// 200 $LINK 'Choose'
func cmdPage(ts *testscript.TestScript, _ bool, args []string) {
	req, err := http.NewRequest(http.MethodGet, args[1], nil)
	ts.Check(err)
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer func() { ts.Check(resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if strconv.Itoa(resp.StatusCode) != args[0] || !strings.Contains(string(text), args[2]) {
		ts.Fatalf("GET %s: got %s, want %s and %q\n%s", args[1], resp.Status, args[0], args[2], text)
	}
}

// cmdKeep sets a variable to the output of the previous command.
func cmdKeep(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// cmdPicture writes a truncated PNG file.
func cmdPicture(ts *testscript.TestScript, _ bool, args []string) {
	var encoded bytes.Buffer
	ts.Check(png.Encode(&encoded, image.NewGray(image.Rect(0, 0, 500, 500))))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), encoded.Bytes()[:encoded.Len()-40], 0o600))
}

// cmdIdle waits until the processing queue is empty.
func cmdIdle(ts *testscript.TestScript, _ bool, _ []string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		ts.Check(ts.Exec("deedkeep", "status", "--json"))
		if strings.Contains(ts.ReadFile("stdout"), `"queue": 0,`) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("processing queue is not empty after 30 seconds")
		}
	}
}
