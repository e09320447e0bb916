package reader_test

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

	"deedkeep/app/reader"
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
	p := open(t, reader.Options{Processes: 1})
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
	if s := p.Stats(); s != (reader.Stats{Alive: 1, Started: 1, Served: 3}) {
		t.Errorf("%+v", s)
	}
}
