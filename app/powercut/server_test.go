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

	"deedkeep/app/client"
	"deedkeep/app/instance"
	"deedkeep/app/secret"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/blockdev"
)

// purgeVariable tells the test binary to purge the vault in that directory: in a process
// of its own, since the disk of the recording is served by this one (package blockdev).
const purgeVariable = "DEEDKEEP_TEST_PURGE"

const (
	trashKeep = time.Hour
	workers   = 4
)

func TestMain(m *testing.M) {
	dir := os.Getenv(purgeVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := purge(dir); err != nil {
		fmt.Fprintln(os.Stderr, "purge:", err)
		os.Exit(1)
	}
}

// options of a vault that the server wrote.
func options(dir string, now func() time.Time) instance.Options {
	settings := vaulttest.Settings()
	settings.TrashKeep = trashKeep
	return instance.Options{Dir: dir, Create: true, Settings: settings, Reader: vaulttest.Reader{}, Now: now, Rand: vaulttest.Rand(),
		Passwords: secret.Argon2Params{Memory: 8, Passes: 1, Lanes: 1}, Log: slog.New(slog.DiscardHandler)}
}

// purge empties the trash of what the server just deleted.
func purge(dir string) error {
	ctx := context.Background()
	v, err := instance.Open(ctx, options(dir, func() time.Time { return time.Now().Add(2 * trashKeep) }))
	if err != nil {
		return err
	}
	defer v.Close() //nolint:errcheck // what was purged is durable
	if err := v.Purge(ctx); err != nil {
		return err
	}
	return v.Sweeper.Sweep(ctx)
}

// number is what a variable says, or usual.
func number(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q", variable, text)
	}
	return n
}

// seed is what the choices of the test follow from.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := uint64(number(t, "DEEDKEEP_TEST_SEED", int(time.Now().UnixNano())))
	t.Logf("DEEDKEEP_TEST_SEED=%d", n)
	return n
}

// program builds the server, with some files of it replaced.
func program(t *testing.T, replaced map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "deedkeep")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "nomsgpack", "-overlay", filepath.Join(folder, "overlay.json"), "-o", path, "deedkeep")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// house is a data directory on a disk of its own, and the server that works in it.
type house struct {
	t       *testing.T
	program string
	mutant  string // the sync that the program leaves out; "" for none
	disk    *blockdev.Disk
	moment  func() int
	book    *book
	workers []*worker

	folder string // of the mounted disk
	key    string
	server *exec.Cmd
	said   *bytes.Buffer
	client *client.Client
}

func newHouse(t *testing.T, program, mutant string, disk *blockdev.Disk, chance *rand.Rand) *house {
	h := &house{t: t, program: program, mutant: mutant, disk: disk, book: newBook()}
	for n := range workers {
		h.workers = append(h.workers, &worker{house: h, name: fmt.Sprintf("W%d", n), rng: rand.New(rand.NewPCG(chance.Uint64(), chance.Uint64()))})
	}
	t.Cleanup(h.kill)
	return h
}

// mount mounts the disk, and makes the data directory where there is none.
func (h *house) mount() {
	h.t.Helper()
	h.folder = h.disk.Mount(h.t)
	if err := os.MkdirAll(dataIn(h.folder), 0o700); err != nil {
		h.t.Fatal(err)
	}
}

func dataIn(folder string) string   { return filepath.Join(folder, "data") }
func backupIn(folder string) string { return filepath.Join(folder, "backup") }

// start starts the server and waits until it is ready.
func (h *house) start() {
	h.t.Helper()
	h.said = &bytes.Buffer{}
	h.server = exec.Command(h.program, "serve", "--data", dataIn(h.folder), "--listen", "127.0.0.1:0", "--log-level", "warn")
	h.server.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_DISK_RESERVE=1 MB", mutantVariable+"="+h.mutant)
	h.server.Stderr = h.said
	h.server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := h.server.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.server.Start(); err != nil {
		h.t.Fatal(err)
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
		h.kill()
		h.t.Fatalf("serve ended:\n%s", h.said)
	}
	if h.key == "" {
		h.key = strings.TrimSpace(h.command("keys", "create", "power", "--quiet"))
	}
	transport := &http.Transport{}
	h.t.Cleanup(transport.CloseIdleConnections)
	h.client = client.New(address, h.key, transport)
}

// command runs a command on the data directory.
func (h *house) command(args ...string) string {
	h.t.Helper()
	run := exec.CommandContext(h.t.Context(), h.program, append(args, "--data", dataIn(h.folder))...)
	run.Env = append(os.Environ(), mutantVariable+"="+h.mutant)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		h.t.Fatalf("%s: %v\n%s", args[0], err, &said)
	}
	return string(out)
}

// kill ends the server and its children without a word.
func (h *house) kill() {
	if h.server == nil {
		return
	}
	_ = syscall.Kill(-h.server.Process.Pid, syscall.SIGKILL) // the group is ours, and not waited for
	_ = h.server.Wait()                                      // it was killed: that is no news
	h.server = nil
}

// stop ends the server as people do.
func (h *house) stop() {
	h.t.Helper()
	if err := h.server.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Fatal(err)
	}
	if err := h.server.Wait(); err != nil {
		h.t.Fatalf("serve: %v\n%s", err, h.said)
	}
	h.server = nil
}

// work has the workers send that number of requests each, or until one fails.
func (h *house) work(workers []*worker, requests int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // for a server that hangs
	defer cancel()
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() {
			for n := 0; n < requests && errs[i] == nil; n++ {
				errs[i] = w.request(ctx, h.client)
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
