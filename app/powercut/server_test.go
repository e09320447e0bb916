//go:build root && linux

package powercut

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/instance"
	"deedkeep/app/secret"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/blockdev"
	"deedkeep/app/vaulttest/client"
)

// purgeEnv is the environment variable that makes the test binary purge the vault in the given directory. The purge
// runs in its own process, because this process serves the recorded disk (package blockdev).
const purgeEnv = "DEEDKEEP_TEST_PURGE"

const (
	trashKeep = time.Hour
	workers   = 4
	keyID     = 1 // of the only API key
)

func TestMain(m *testing.M) {
	dir := os.Getenv(purgeEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := purge(dir); err != nil {
		fmt.Fprintln(os.Stderr, "purge:", err)
		os.Exit(1)
	}
}

// options returns the options to open a vault that the server created.
func options(dir string, now func() time.Time) instance.Options {
	load := vaulttest.With(map[string]string{"trash.keep": config.FormatDuration(trashKeep)})
	return instance.Options{Dir: dir, Create: true, Settings: vaulttest.Settings(), Load: load,
		Reader: vaulttest.Reader{}, Now: now, Rand: vaulttest.Rand(),
		Passwords: secret.Argon2Params{Memory: 8, Passes: 1, Lanes: 1}, Log: slog.New(slog.DiscardHandler)}
}

// purge permanently deletes everything in the trash of a vault.
func purge(dir string) error {
	ctx := context.Background()
	v, err := instance.Open(ctx, options(dir, func() time.Time { return time.Now().Add(2 * trashKeep) }))
	if err != nil {
		return err
	}
	defer v.Close() //nolint:errcheck // what was purged is durable
	if err := v.Purger.PurgeExpired(ctx); err != nil {
		return err
	}
	return v.Sweeper.Sweep(ctx)
}

// number returns the positive integer in an environment variable, or usual if the variable is not set.
func number(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s = %q, want a positive number", variable, text)
	}
	return n
}

// seed returns the seed of the test's random choices and logs it, so that a failed run can be repeated.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := uint64(number(t, "DEEDKEEP_TEST_SEED", int(time.Now().UnixNano())))
	t.Logf("DEEDKEEP_TEST_SEED=%d", n)
	return n
}

// testServer is a data directory on its own disk, with the server that uses it and the workers that send requests to
// it.
type testServer struct {
	t       *testing.T
	program string
	mutant  string // the sync that the server omits; "": none
	disk    *blockdev.Disk
	moment  func() int
	journal *journal
	workers []*worker

	folder string // mount point of the disk
	key    string
	server *exec.Cmd
	said   *bytes.Buffer
	client *client.Client
}

func newTestServer(t *testing.T, program, mutant string, disk *blockdev.Disk, rng *rand.Rand) *testServer {
	h := &testServer{t: t, program: program, mutant: mutant, disk: disk, journal: newJournal()}
	for n := range workers {
		h.workers = append(h.workers, &worker{testServer: h, name: fmt.Sprintf("W%d", n), rng: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))})
	}
	t.Cleanup(h.kill)
	return h
}

// mount mounts the disk and creates the data directory if it is missing.
func (ts *testServer) mount() {
	ts.t.Helper()
	ts.folder = ts.disk.Mount(ts.t)
	if err := os.MkdirAll(dataIn(ts.folder), 0o700); err != nil {
		ts.t.Fatalf("create data directory: %v", err)
	}
}

func dataIn(folder string) string   { return filepath.Join(folder, "data") }
func backupIn(folder string) string { return filepath.Join(folder, "backup") }

// start starts the server and waits until it is ready.
func (ts *testServer) start() {
	ts.t.Helper()
	ts.said = &bytes.Buffer{}
	ts.server = exec.Command(ts.program, "serve", "--data", dataIn(ts.folder), "--listen", "127.0.0.1:0", "--log-level", "warn")
	ts.server.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_DISK_RESERVE=1 MB", mutantEnv+"="+ts.mutant)
	ts.server.Stderr = ts.said
	ts.server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := ts.server.StdoutPipe()
	if err != nil {
		ts.t.Fatalf("open pipe: %v", err)
	}
	if err := ts.server.Start(); err != nil {
		ts.t.Fatalf("start server: %v", err)
	}
	address := ""
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		address, _ = strings.CutPrefix(lines.Text(), "listening on ")
		if address == lines.Text() {
			address = ""
		}
	}
	go io.Copy(io.Discard, out) //nolint:errcheck // until it ends
	if address == "" {
		ts.kill()
		ts.t.Fatalf("serve ended:\n%s", ts.said)
	}
	if ts.key == "" {
		ts.key = strings.TrimSpace(ts.command("keys", "create", "power", "--quiet"))
	}
	transport := &http.Transport{}
	ts.t.Cleanup(transport.CloseIdleConnections)
	ts.client = client.New(address, ts.key, transport)
}

// command runs a deedkeep command on the data directory and returns its standard output.
func (ts *testServer) command(args ...string) string {
	ts.t.Helper()
	run := exec.CommandContext(ts.t.Context(), ts.program, append(args, "--data", dataIn(ts.folder))...)
	run.Env = append(os.Environ(), mutantEnv+"="+ts.mutant)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		ts.t.Fatalf("%s: %v\n%s", args[0], err, &said)
	}
	return string(out)
}

// waitOCR waits until the server has read all scans.
func (ts *testServer) waitOCR() {
	ts.t.Helper()
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		var status apitypes.Status
		if err := json.Unmarshal([]byte(ts.command("status", "--json")), &status); err != nil {
			ts.t.Fatalf("decode status: %v", err)
		}
		if status.Queue == 0 && status.OCRPages == 0 {
			return
		}
		if time.Since(start) > 5*time.Minute {
			ts.t.Fatalf("%d pages wait for OCR after 5 minutes, want none", status.OCRPages)
		}
	}
}

// kill kills the server and its child processes with SIGKILL.
func (ts *testServer) kill() {
	if ts.server == nil {
		return
	}
	_ = syscall.Kill(-ts.server.Process.Pid, syscall.SIGKILL) // the process group exists until Wait
	_ = ts.server.Wait()                                      // always an error, because the process was killed
	ts.server = nil
}

// stop stops the server gracefully with SIGTERM.
func (ts *testServer) stop() {
	ts.t.Helper()
	if err := ts.server.Process.Signal(syscall.SIGTERM); err != nil {
		ts.t.Fatalf("stop server: %v", err)
	}
	if err := ts.server.Wait(); err != nil {
		ts.t.Fatalf("serve: %v\n%s", err, ts.said)
	}
	ts.server = nil
}

// work makes each worker send the given number of requests, or fewer if one fails.
func (ts *testServer) work(workers []*worker, requests int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // in case the server hangs
	defer cancel()
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() {
			for n := 0; n < requests && errs[i] == nil; n++ {
				errs[i] = w.request(ctx, ts.client)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
