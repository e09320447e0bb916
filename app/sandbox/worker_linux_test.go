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

// ended reports whether a process has ended. A zombie process has ended, too.
func ended(t *testing.T, pid string) bool {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		// Reading fails with this error while the process is ending.
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}

// A worker in an endless loop doesn't notice that its input was closed. It must still die with its
// parent.
func TestWorkerDiesWithParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find test binary: %v", err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(self, parentArg, file)
	if err := parent.Start(); err != nil {
		t.Fatalf("start parent: %v", err)
	}
	var worker string
	await(t, "worker running", func() bool {
		content, err := os.ReadFile(file)
		worker = string(content)
		return err == nil
	})
	if n, err := strconv.Atoi(worker); err != nil || n <= 1 || ended(t, worker) {
		t.Errorf("worker %q has ended, want it to run", worker)
	}
	t.Cleanup(func() {
		if n, err := strconv.Atoi(worker); err == nil && n > 1 && t.Failed() {
			_ = syscall.Kill(n, syscall.SIGKILL) // if the test failed, the worker is still in its loop
		}
	})
	if err := parent.Process.Kill(); err != nil {
		t.Errorf("kill parent: %v", err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent exited without an error, want it killed")
	}
	await(t, "end of the worker", func() bool { return ended(t, worker) })
}

// Linux sends the parent death signal when the thread that started the worker ends. The worker must
// therefore not be started by the caller's thread.
func TestWorkerSurvivesCallersThread(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	over := make(chan struct{})
	defer close(over)
	inspectIn := func(thread chan int) {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		thread <- syscall.Gettid()
		if syscall.Gettid() == os.Getpid() {
			<-over // the main thread never ends, so keep it busy and use another one
			return
		}
		doc, size := text("x")
		if _, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil {
			t.Errorf("inspect: %v", err)
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
	if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 1, Served: 3}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

// If a worker is killed from outside, its document is not rejected but inspected again. If that
// worker is killed, too, the error is temporary.
func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		kind      string
		killed    bool // whether the error is ErrKilled
		rejection string
		started   int
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
			if errors.Is(err, sandbox.ErrKilled) != row.killed || (err == nil) == row.killed || report.Rejection != row.rejection ||
				sandbox.IsDocumentError(err) {
				t.Errorf("got %+v, %v; want killed %v, rejection %q", report, err, row.killed, row.rejection)
			}
			if got := p.Stats().Started; got != row.started {
				t.Errorf("got %d workers, want %d", got, row.started)
			}
		})
	}
}

// If a worker is killed while it starts, another one is started. The error is temporary.
func TestKilledDuringStart(t *testing.T) {
	t.Parallel()
	p := open(t, fake(t, "is killed early"))
	doc, size := text("x")
	if report, err := p.Inspect(t.Context(), doc, size, "pdf", limits); !errors.Is(err, sandbox.ErrKilled) {
		t.Errorf("got %+v, %v; want ErrKilled", report, err)
	}
}

func TestWorkerExceedsMemoryLimit(t *testing.T) {
	o := fake(t, "swells")
	o.MemoryLimit = 64 << 20
	p := open(t, o)
	doc, size := text("x")
	report, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
	if err != nil || report.Rejection != document.ReasonPDFUnreadable {
		t.Errorf("Inspect = %+v, %v; want %q", report, err, document.ReasonPDFUnreadable)
	}
	if got, want := p.Stats(), (sandbox.Stats{Started: 1, Killed: 1, Served: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

// The limit also applies while a worker loads its engines and languages. The document is not to blame.
func TestWorkerExceedsMemoryLimitBeforeItIsReady(t *testing.T) {
	t.Parallel()
	p := open(t, fake(t, "swells before it is ready").WithSetupMemory(64<<20))
	doc, size := text("x")
	_, err := p.Inspect(t.Context(), doc, size, "pdf", limits)
	if err == nil || !strings.Contains(err.Error(), "exceeded the memory limit") || sandbox.IsDocumentError(err) {
		t.Errorf("error = %v, want one about the memory limit that isn't the document's", err)
	}
}

// If memory grows too fast for the watchdog, the system limits it.
func TestWorkerAllocatesTooFast(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find test binary: %v", err)
	}
	file := filepath.Join(t.TempDir(), "had it")
	if err := exec.Command(self, sandbox.FakeArg, "confined="+file).Run(); err == nil {
		t.Error("the worker exited without an error, want it to run out of memory")
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the worker got its memory, want none")
	}
}

// pids returns the IDs of the processes that this one has started.
func pids(t *testing.T) (list []string) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatalf("list threads: %v", err)
	}
	for _, path := range tasks {
		content, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			t.Fatalf("list processes: %v", err)
		}
		list = append(list, strings.Fields(string(content))...)
	}
	return list
}

// A worker has a name, and no files but its pipes, the log, the runtime's poller, and its own memory.
func TestNameAndFilesOfWorker(t *testing.T) {
	p := open(t, sandbox.Options{Name: "ocr", Workers: 1})
	doc, size := text("x")
	if _, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil {
		t.Fatalf("inspect: %v", err)
	}
	found := false
	for _, pid := range pids(t) {
		args, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err != nil || string(args) != "deedkeep: ocr\x00"+sandbox.WorkerArg+"\x00" {
			continue
		}
		found = true
		if name, err := os.ReadFile("/proc/" + pid + "/comm"); err != nil || string(name) != "deedkeep:ocr\n" {
			t.Errorf("the name of the process is %q, %v; want deedkeep:ocr", name, err)
		}
		files, err := os.ReadDir("/proc/" + pid + "/fd")
		if err != nil {
			t.Fatalf("list files: %v", err)
		}
		for _, f := range files {
			target, err := os.Readlink("/proc/" + pid + "/fd/" + f.Name())
			kind, _, _ := strings.Cut(target, ":")
			switch {
			case err != nil:
				t.Errorf("file %s: %v", f.Name(), err)
			case f.Name() == "0" || f.Name() == "1":
				if kind != "pipe" {
					t.Errorf("file %s is %s, want a pipe", f.Name(), target)
				}
			case f.Name() == "2", target == "anon_inode:[eventpoll]", target == "anon_inode:[eventfd]", strings.HasSuffix(target, "/statm"):
			default:
				t.Errorf("file %s is %s, want none", f.Name(), target)
			}
		}
	}
	if !found {
		t.Errorf("no process with the arguments of a worker among %v", pids(t))
	}
	if m := p.Memory(); m.Type != "ocr" || m.Count != 1 || m.Anonymous < 1<<20 || m.Total < m.Anonymous {
		t.Errorf("Memory() = %+v, want that of one worker", m)
	}
}
