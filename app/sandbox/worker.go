package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// worker is the parent's view of a worker process.
type worker struct {
	cmd          *exec.Cmd
	in           *os.File // standard input of the process
	out          *os.File // standard output of the process
	r            *bufio.Reader
	job          io.Closer // job object on Windows, else nil
	loaded       engines
	missing      []MissingProtection // protections that the worker lacks
	badLanguages []BadLanguage
	idleTimer    *time.Timer   // ends the worker when it has been idle for too long; guarded by the pool's mu
	idleSince    time.Time     // guarded by the pool's mu
	exited       chan struct{} // closed once the process has ended and been reaped
	once         sync.Once
}

// Reasons why the parent kills a worker.
var (
	errDeadline = errors.New("document exceeded the time limit")
	errMemory   = errors.New("worker process exceeded the memory limit")
	errNoHello  = errors.New("no message from the worker process")
	errSetup    = errors.New("worker process took too long to load its engines and languages")
)

// launch starts a worker process. The calling goroutine must be locked to a thread that lives as
// long as the worker, because of Pdeathsig on Linux.
func launch(o Options) (*worker, error) {
	workerIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, workerOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, workerIn.Close(), in.Close())
	}
	cmd, lacks, err := startProcess(func() *exec.Cmd {
		cmd := exec.Command(o.Command[0], o.Command[1:]...) //nolint:gosec,noctx // our own program; it outlives the call that starts it
		cmd.Args[0] = "deedkeep: " + o.Name                 // in lists of processes, instead of the path
		cmd.Stdin, cmd.Stdout = workerIn, workerOut
		// Don't pass on the environment because it may contain secrets. A worker doesn't follow changes of
		// its CPU quota, which would need two open files.
		cmd.Env = []string{"GOTRACEBACK=none", "GODEBUG=containermaxprocs=0", "GOMAXPROCS=" + strconv.Itoa(runtime.GOMAXPROCS(0))}
		cmd.SysProcAttr = procAttributes(o.LowPriority)
		return cmd
	})
	// If the parent kept these ends open, it would not notice when the worker exits.
	closed := errors.Join(workerIn.Close(), workerOut.Close())
	if err = errors.Join(err, closed); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	p := &worker{cmd: cmd, in: in, out: out, r: bufio.NewReader(out), missing: lacks, exited: make(chan struct{})}
	p.job, err = attachJob(cmd.Process, o.MemoryLimit)
	go p.reap()
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("assign worker process to job: %w", err)
	}
	return p, nil
}

// reap waits for the process to end. kill waits for reap.
func (w *worker) reap() {
	// The exit status is in ProcessState. A killed worker is not an error here.
	_ = w.cmd.Wait()
	close(w.exited)
}

// handshake reads the worker's hello, sends its setup, and waits until the worker is ready.
func (w *worker) handshake(ctx context.Context, o Options, load engines) error {
	g := w.watch(ctx, o.helloTimeout, errNoHello, 0, false)
	err := w.sendSetup(o, load)
	if cause := g.release(); cause != nil {
		return cause
	}
	if err == nil {
		// Compiling the engines may take a long time on a slow computer. The data of a language is
		// untrusted, like a document.
		g = w.watch(ctx, setupTimeout, errSetup, o.setupMemory, o.LowPriority)
		err = w.readReady()
		if cause := g.release(); cause != nil {
			return cause
		}
	}
	w.loaded = load
	return w.exitCause(err)
}

// setupTimeout is how long a worker may take to load its engines and apply its protections.
const setupTimeout = 2 * time.Minute

// readReady reads the ready frame and stores what it reports.
func (w *worker) readReady() error {
	var r workerReady
	if err := readMessage(w.r, new([]byte), frameReady, &r); err != nil {
		return fmt.Errorf("read from worker process: %w", err)
	}
	w.missing = append(w.missing, r.Gaps...)
	w.badLanguages = r.Languages
	return nil
}

// sendSetup reads the hello frame, checks that the worker is the same build, and sends the setup.
func (w *worker) sendSetup(o Options, load engines) error {
	var h hello
	if err := readMessage(w.r, new([]byte), frameHello, &h); err != nil {
		return fmt.Errorf("read from worker process: %w", err)
	}
	if h.Build != buildID() {
		return errors.New("the program file was replaced by another version; restart the server")
	}
	return writeMessage(w.in, frameSetup, setup{
		Name: o.Name, CacheDir: o.CacheDir, MemoryLimit: o.MemoryLimit, Load: load, OCR: o.OCR, LowPriority: o.LowPriority,
	})
}

// run runs one task. The caller must kill the worker if retire is true or if err is neither nil, a
// *docReadError, nor a *workerError. In addition to the errors of runTask, run returns errDeadline,
// errMemory, or ctx's error.
func (w *worker) run(ctx context.Context, o Options, doc io.ReaderAt, t task, a result) (retire bool, err error) {
	g := w.watch(ctx, o.Deadlines.forTask(t), errDeadline, o.MemoryLimit, o.LowPriority && t.Task == taskOCR)
	if text, ok := a.(*textResult); ok {
		text.pauseDeadline = g.pauseDeadline
	}
	retire, err = runTask(w.in, w.r, doc, t, a)
	if cause := g.release(); cause != nil {
		return true, cause
	}
	return retire, w.exitCause(err)
}

// exitTimeout is how long a worker may take to exit after it has closed its pipes.
const exitTimeout = time.Second

// exitCause adds ErrKilled to err if something outside the program ended the worker with a signal.
// A document can crash its worker but never causes such a signal. exitCause must not be called
// after the parent has killed the worker.
func (w *worker) exitCause(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	timer := time.NewTimer(exitTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-w.exited:
	}
	// Windows has no signals, so the cause is unknown there.
	if status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() &&
		slices.Contains(externalSignals, status.Signal()) {
		return fmt.Errorf("%w: %w", ErrKilled, err)
	}
	return err
}

// externalSignals are the signals that the system or an administrator sends to end a process.
var externalSignals = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// hasExited reports whether the process has ended.
func (w *worker) hasExited() bool {
	select {
	case <-w.exited:
		return true
	default:
		return false
	}
}

// kill kills the process and waits until it has ended. It is safe to call kill more than once and
// concurrently.
func (w *worker) kill() {
	w.once.Do(func() {
		// The process may have exited already.
		_ = w.cmd.Process.Kill()
		<-w.exited
		// The parent doesn't read from the pipes again, so errors don't matter.
		_ = w.in.Close()
		_ = w.out.Close()
		if w.job != nil {
			_ = w.job.Close()
		}
	})
}

// logEnd logs the unexpected end of a worker.
func (w *worker) logEnd(log *slog.Logger, cause error) {
	log.Warn("worker process stopped", "pid", w.cmd.Process.Pid, "state", w.cmd.ProcessState.String(), "cause", cause)
}
