package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

// ended reports whether a process is gone, or dead and not yet reaped.
func ended(t *testing.T, pid string) bool {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		// A process that ends while it is looked at answers so.
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}

// TestParentIsKilled: a child that spins hears no end of input, and dies with
// its parent all the same.
func TestParentIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(self, parentArg, file)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child string
	await(t, "child at work", func() bool {
		content, err := os.ReadFile(file)
		child = string(content)
		return err == nil
	})
	if n, err := strconv.Atoi(child); err != nil || n <= 1 || ended(t, child) {
		t.Errorf("child %q is not at work", child)
	}
	t.Cleanup(func() {
		if n, err := strconv.Atoi(child); err == nil && n > 1 && t.Failed() {
			_ = syscall.Kill(n, syscall.SIGKILL) // where the test has failed, it still spins
		}
	})
	if err := parent.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent ended well")
	}
	await(t, "end of the child", func() bool { return ended(t, child) })
}

// TestCallersThreadEnds: Linux sends the death signal when the thread ends that
// started the child, so it must not be the caller's.
func TestCallersThreadEnds(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	over := make(chan struct{})
	defer close(over)
	inspectIn := func(thread chan int) {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		thread <- syscall.Gettid()
		if syscall.Gettid() == os.Getpid() {
			<-over // the first thread of a process never ends: out of the way with it
			return
		}
		doc, size := text("x")
		if _, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil {
			t.Error(err)
		}
		close(thread)
	}
	for range 3 {
		thread := make(chan int)
		go inspectIn(thread)
		id := <-thread
		if id == os.Getpid() {
			go inspectIn(thread)
			id = <-thread
		}
		<-thread
		await(t, "end of the thread", func() bool {
			_, err := os.Stat("/proc/self/task/" + strconv.Itoa(id))
			return errors.Is(err, os.ErrNotExist)
		})
	}
	if s := p.Stats(); s != (sandbox.Stats{Alive: 1, Started: 1, Served: 3}) {
		t.Errorf("%+v", s)
	}
}

// A document is not refused because its process was killed from outside: it is
// inspected again, and after a second kill the error is no finding.
func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		kind    string
		killed  bool // the error is ErrKilled
		refusal string
		started int
	}{
		{"is killed", true, "", 2},
		{"is killed once", false, "", 2},
		{"is killed, then crashes", false, document.ReasonPDFUnreadable, 3},
	} {
		t.Run(row.kind, func(t *testing.T) {
			t.Parallel()
			p := open(t, fake(t, row.kind+"="+filepath.Join(t.TempDir(), "mark")))
			doc, size := text("x")
			report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
			if errors.Is(err, sandbox.ErrKilled) != row.killed || (err == nil) == row.killed || report.Rejection != row.refusal || sandbox.IsDocumentError(err) {
				t.Errorf("got %+v, %v; want killed %v, refusal %q", report, err, row.killed, row.refusal)
			}
			if got := p.Stats().Started; got != row.started {
				t.Errorf("got %d children, want %d", got, row.started)
			}
		})
	}
}

// A child that is killed while it starts is replaced too, and is no finding.
func TestKilledAtTheStart(t *testing.T) {
	t.Parallel()
	p := open(t, fake(t, "is killed early"))
	doc, size := text("x")
	if report, err := p.Inspect(t.Context(), doc, size, "pdf", limits); !errors.Is(err, sandbox.ErrKilled) {
		t.Errorf("got %+v, %v; want ErrKilled", report, err)
	}
}
