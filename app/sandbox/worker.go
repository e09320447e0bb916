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
	"slices"
	"sync"
	"syscall"
	"time"
)

// worker is a worker process, as the parent sees it.
type worker struct {
	cmd     *exec.Cmd
	in      *os.File // standard input of the process
	out     *os.File // standard output of the process
	r       *bufio.Reader
	job     io.Closer           // job object on Windows; may be nil
	engine  bool                // PDFium is loaded
	missing []MissingProtection // protections it runs without
	exited  chan struct{}       // closed once the process has ended and was reaped
	once    sync.Once
}

// Reasons for which the parent kills a worker.
var (
	errDeadline = errors.New("deadline for one document")
	errMemory   = errors.New("memory limit")
	errNoHello  = errors.New("child said nothing")
)

// launch starts a worker process. The calling goroutine must be locked to a thread that lives
// as long as the worker (Linux: Pdeathsig).
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
		cmd.Stdin, cmd.Stdout = workerIn, workerOut
		// Don't pass on the environment: it may contain secrets.
		cmd.Env = []string{"GOTRACEBACK=none"}
		cmd.SysProcAttr = procAttributes()
		return cmd
	})
	// With our copies open, we would not see the end of the worker.
	closed := errors.Join(workerIn.Close(), workerOut.Close())
	if err = errors.Join(err, closed); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	p := &worker{cmd: cmd, in: in, out: out, r: bufio.NewReader(out), missing: lacks, exited: make(chan struct{})}
	p.job, err = attachJob(cmd.Process, o.MemoryLimit)
	go p.reap()
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("bind child: %w", err)
	}
	return p, nil
}

// reap waits for the end of the process. kill waits for reap.
func (p *worker) reap() {
	// The exit status is in ProcessState; being killed is not an error here.
	_ = p.cmd.Wait()
	close(p.exited)
}

// handshake reads the worker's hello, sends its setup, and waits until it is ready.
func (p *worker) handshake(ctx context.Context, o Options, engine bool) error {
	g := p.watch(ctx, o.helloTimeout, errNoHello, 0)
	err := p.sendSetup(o, engine)
	if cause := g.release(); cause != nil {
		return cause
	}
	if err == nil {
		// Compiling PDFium may take long on a slow machine.
		g = p.watch(ctx, setupTimeout, errNoHello, 0)
		err = p.readReady()
		if cause := g.release(); cause != nil {
			return cause
		}
	}
	p.engine = engine
	return p.exitCause(err)
}

// setupTimeout is how long a worker may take to load PDFium and apply its protections.
const setupTimeout = 2 * time.Minute

// readReady reads the ready frame with the missing protections.
func (p *worker) readReady() error {
	var buf []byte
	kind, content, err := readFrame(p.r, &buf)
	if err != nil {
		return fmt.Errorf("hear child: %w", err)
	}
	if kind != frameReady {
		return protocolError("frame %q instead of ready", kind)
	}
	var r workerReady
	if err := decode(content, &r); err != nil {
		return err
	}
	p.missing = append(p.missing, r.Gaps...)
	return r.check()
}

// sendSetup reads the hello frame, checks the build, and sends the setup.
func (p *worker) sendSetup(o Options, engine bool) error {
	var buf []byte
	kind, content, err := readFrame(p.r, &buf)
	if err != nil {
		return fmt.Errorf("hear child: %w", err)
	}
	if kind != frameHello {
		return protocolError("frame %q instead of hello", kind)
	}
	var h hello
	if err := decode(content, &h); err != nil {
		return err
	}
	if h.Build != buildID() {
		return errors.New("the program file is of another build than this process: restart it")
	}
	return writeMessage(p.in, frameSetup, setup{CacheDir: o.CacheDir, MemoryLimit: o.MemoryLimit, Engine: engine})
}

// run runs one task. The worker must be killed if retire is true or err is anything
// but a *docReadError or *workerError. In addition to the errors of runTask there are
// errDeadline, errMemory, and ctx's error.
func (p *worker) run(ctx context.Context, o Options, doc io.ReaderAt, t task, a result) (retire bool, err error) {
	g := p.watch(ctx, o.Deadlines.forTask(t), errDeadline, o.MemoryLimit)
	if text, ok := a.(*textResult); ok {
		text.pauseDeadline = g.pauseDeadline
	}
	retire, err = runTask(p.in, p.r, doc, t, a)
	if cause := g.release(); cause != nil {
		return true, cause
	}
	return retire, p.exitCause(err)
}

// exitTimeout is how long a worker that has closed its pipes may take to exit.
const exitTimeout = time.Second

// exitCause adds ErrKilled to the error of a worker that was ended by a signal from outside. A
// document can crash its worker, but never causes such a signal. The caller must not have
// killed it.
func (p *worker) exitCause(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	timer := time.NewTimer(exitTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-p.exited:
	}
	// On Windows, which has no signals, the cause is unknown.
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() &&
		slices.Contains(externalSignals, status.Signal()) {
		return fmt.Errorf("%w: %w", ErrKilled, err)
	}
	return err
}

// externalSignals are the signals that the system or a person sends.
var externalSignals = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// hasExited reports whether the process has ended.
func (p *worker) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// kill kills the process and waits until it has ended. It may be called more than once and
// concurrently.
func (p *worker) kill() {
	p.once.Do(func() {
		// The process may have exited already.
		_ = p.cmd.Process.Kill()
		<-p.exited
		// Nothing more is read from the pipes, so errors don't matter.
		_ = p.in.Close()
		_ = p.out.Close()
		if p.job != nil {
			_ = p.job.Close()
		}
	})
}

// logEnd logs the unexpected end of a worker.
func (p *worker) logEnd(log *slog.Logger, cause error) {
	log.Warn("document process ended", "pid", p.cmd.Process.Pid, "state", p.cmd.ProcessState.String(), "cause", cause)
}
