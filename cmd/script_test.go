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

	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
	"deedkeep/web"
)

// raceOptions keeps the race detector from sleeping a second at the end of every
// process.
const raceOptions = "atexit_sleep_ms=0"

// scriptExample is in the place of config.example.yaml, which only the program has inside.
const scriptExample = "# The settings.\ndata: ./data\n"

// The test binary is the program: scripts run it as deedkeep, and it runs itself to
// open documents.
func TestMain(m *testing.M) {
	if sandbox.IsWorker(os.Args) {
		os.Exit(sandbox.RunWorker(web.PDFium))
	}
	testscript.Main(m, map[string]func(){"deedkeep": func() { os.Exit(Main(scriptExample)) }})
}

// Every script of testdata/both runs with the server up and with it down, over a
// vault that holds a key ($KEY, its number is 1), an order and a document.
func TestWithServerUp(t *testing.T)   { scripts(t, "testdata/both", "up") }
func TestWithServerDown(t *testing.T) { scripts(t, "testdata/both", "down") }

// The scripts of testdata/alone begin without a vault and start what they need.
func TestAlone(t *testing.T) { scripts(t, "testdata/alone", "") }

func scripts(t *testing.T, dir, mode string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           func(word string) (bool, error) { return word == mode, nil },
		Setup: func(env *testscript.Env) error {
			// Sockets need a short path.
			root, err := os.MkdirTemp("", "dk") //nolint:usetesting // a script has no t
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(root) }) // A killed server may still be writing.
			data := filepath.Join(root, "d")
			env.Values[scriptStateKey{}] = new(scriptState)
			env.Setenv("SHORT", root)
			env.Setenv("GORACE", raceOptions)
			env.Setenv("DATA", data)
			env.Setenv("MODE", mode)
			env.Setenv("DEEDKEEP_DATA", data)
			env.Setenv("DEEDKEEP_LISTEN", "127.0.0.1:0")
			env.Setenv("DEEDKEEP_READER_CACHE", vaulttest.CacheDir())
			// The engine is made ready at first use, which takes its time on a busy machine.
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

// seedVault makes a vault with a key, an order and a document.
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
	h, err := server.Handler(server.Options{Config: config.Default(), Vault: v, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		return "", err
	}
	c := client.New("http://seed", key, handlerTransport{h})
	if _, err := c.CreateOrder(ctx, client.OrderDraft{OrderNumber: "SEED-0001"}); err != nil {
		return "", err
	}
	up, err := c.Upload(ctx, nil, []client.Upload{{Filename: "Seed.txt", Reader: strings.NewReader("the seeded document")}})
	if err == nil && len(up.Files) != 1 {
		err = fmt.Errorf("seed: %+v", up)
	}
	return key, err
}

// handlerTransport is a transport without a network.
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

// scriptServer is the server that a script has started.
type scriptServer struct {
	process *exec.Cmd
	done    chan error
}

// cmdBegin starts the server of a script that runs with one.
func cmdBegin(ts *testscript.TestScript, _ bool, args []string) {
	if ts.Getenv("MODE") == "up" {
		cmdStart(ts, false, args)
	}
}

// cmdStart starts "deedkeep serve" with flags; $URL is its address, serve.out and
// serve.err what it says.
func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	program, err := exec.LookPath("deedkeep")
	ts.Check(err)
	process := exec.Command(program, append([]string{"serve"}, args...)...)
	process.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "GORACE", "TMPDIR", "DEEDKEEP_DATA", "DEEDKEEP_LISTEN", "DEEDKEEP_READER_CACHE",
		"DEEDKEEP_READER_DEADLINE", "DEEDKEEP_LOG_LEVEL", "DEEDKEEP_TLS_SELF_SIGNED", "DEEDKEEP_BACKUP_PASSPHRASE"} {
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
		_ = process.Process.Kill() // It may have ended.
		if err := <-s.done; err != nil {
			ts.Logf("serve: %v", err)
		}
	})
	for {
		said := ts.ReadFile("serve.out")
		if url, ok := strings.CutPrefix(strings.TrimSpace(said), "listening on "); ok && strings.HasSuffix(said, "\n") {
			ts.Setenv("URL", url)
			ts.Setenv("ADDRESS", url[strings.LastIndex(url, "/")+1:])
			ts.Logf("answers after %v", time.Since(start).Round(time.Millisecond))
			ts.Setenv("STARTED_MS", strconv.FormatInt(time.Since(start).Milliseconds(), 10))
			return
		}
		select {
		case err := <-s.done:
			ts.Fatalf("serve ended: %v\n%s", err, ts.ReadFile("serve.err"))
		case <-time.After(2 * time.Millisecond): // Nobody tells when a file grows.
		}
		if time.Since(start) > 30*time.Second {
			ts.Fatalf("serve does not answer\n%s", ts.ReadFile("serve.err"))
		}
	}
}

// scriptState is what a script has under way; scripts run at the same time.
type scriptState struct{ server *scriptServer }

type scriptStateKey struct{}

func stateOf(ts *testscript.TestScript) *scriptState {
	return ts.Value(scriptStateKey{}).(*scriptState)
}

// cmdEnd sends a signal (TERM, INT, KILL), waits, and wants an exit code (0).
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
			ts.Fatalf("serve ended with %d: %v\n%s", code, err, ts.ReadFile("serve.err"))
		}
	case <-time.After(30 * time.Second):
		_ = s.process.Process.Kill() // The failure is that it had to be.
		ts.Fatalf("serve does not stop")
	}
}

// cmdCode runs a command and wants its exit code: code 3 deedkeep verify.
func cmdCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s\n%s%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// cmdJSON wants one JSON document in a file and a value in it: json stdout data.id 2.
// The value "keys" of the path "" are the names of its members.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var value any
	ts.Check(decoder.Decode(&value))
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		ts.Fatalf("more than one document: %v", err)
	}
	for name := range strings.SplitSeq(args[1], ".") {
		switch at := value.(type) {
		case map[string]any:
			found, ok := at[name]
			if !ok {
				ts.Fatalf("%s: there is no %s", args[1], name)
			}
			value = found
		case []any:
			if name == "#" {
				value = len(at)
				continue
			}
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(at) {
				ts.Fatalf("%s: there is no item %s of %d", args[1], name, len(at))
			}
			value = at[n]
		default:
			ts.Fatalf("%s: %s is inside %v", args[1], name, value)
		}
	}
	text, err := json.Marshal(value)
	ts.Check(err)
	if (string(text) == args[2]) == neg {
		ts.Fatalf("%s is %s", args[1], text)
	}
}

// cmdFlip changes one bit in the middle of the one file that a pattern names.
func cmdFlip(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(args[0])
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s: %d files", args[0], len(found))
	}
	ts.Check(os.Chmod(found[0], 0o600))
	content, err := os.ReadFile(found[0])
	ts.Check(err)
	content[len(content)/2] ^= 1
	ts.Check(os.WriteFile(found[0], content, 0o600))
}

// cmdDrop removes the one file that a pattern names.
func cmdDrop(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(args[0])
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s: %d files", args[0], len(found))
	}
	ts.Check(os.Remove(found[0]))
}

// cmdRewrite changes bytes of a file where they are, whoever has it open.
func cmdRewrite(ts *testscript.TestScript, _ bool, args []string) {
	content, err := os.ReadFile(args[0])
	ts.Check(err)
	file, err := os.OpenFile(args[0], os.O_WRONLY, 0)
	ts.Check(err)
	defer func() { ts.Check(file.Close()) }()
	from, to := args[1], args[2]
	count := 0
	for at := 0; ; count++ {
		next := strings.Index(string(content[at:]), from)
		if next < 0 {
			break
		}
		at += next
		_, err := file.WriteAt([]byte(to), int64(at))
		ts.Check(err)
		at += len(from)
	}
	if count == 0 || len(from) != len(to) {
		ts.Fatalf("%q stands %d times in %s", from, count, args[0])
	}
}

// upload sends a file of the script with $KEY.
func cmdUpload(ts *testscript.TestScript, _ bool, args []string) {
	c := client.New(ts.Getenv("URL"), ts.Getenv("KEY"), nil)
	up, err := c.Upload(context.Background(), nil, []client.Upload{{Filename: args[0], Reader: strings.NewReader(ts.ReadFile(args[0]))}})
	ts.Check(err)
	if len(up.Files) != 1 {
		ts.Fatalf("%+v", up)
	}
}

// cmdGet asks for a path with a key and wants a status: get 401 /v1/order-fields $KEY.
func cmdGet(ts *testscript.TestScript, _ bool, args []string) {
	req, err := http.NewRequest(http.MethodGet, ts.Getenv("URL")+args[1], nil)
	ts.Check(err)
	req.Header.Set("Authorization", "Bearer "+args[2])
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	ts.Check(resp.Body.Close())
	if strconv.Itoa(resp.StatusCode) != args[0] {
		ts.Fatalf("%s", resp.Status)
	}
}

// cmdPage asks for an address and wants a status and a text: page 200 $LINK 'Choose'.
func cmdPage(ts *testscript.TestScript, _ bool, args []string) {
	req, err := http.NewRequest(http.MethodGet, args[1], nil)
	ts.Check(err)
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer func() { ts.Check(resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if strconv.Itoa(resp.StatusCode) != args[0] || !strings.Contains(string(text), args[2]) {
		ts.Fatalf("%s\n%s", resp.Status, text)
	}
}

// cmdKeep puts what the last command printed into a variable.
func cmdKeep(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// cmdPicture writes a PNG that says what it is and breaks off then.
func cmdPicture(ts *testscript.TestScript, _ bool, args []string) {
	var whole bytes.Buffer
	ts.Check(png.Encode(&whole, image.NewGray(image.Rect(0, 0, 500, 500))))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), whole.Bytes()[:whole.Len()-40], 0o600))
}

// cmdIdle waits until nothing waits for its processing.
func cmdIdle(ts *testscript.TestScript, _ bool, _ []string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		ts.Check(ts.Exec("deedkeep", "status", "--json"))
		if strings.Contains(ts.ReadFile("stdout"), `"queue": 0,`) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("it never ends")
		}
	}
}
