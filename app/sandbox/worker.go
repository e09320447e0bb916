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

// worker is one child as the parent holds it.
type worker struct {
	cmd     *exec.Cmd
	in      *os.File // its standard input
	out     *os.File // its standard output
	r       *bufio.Reader
	job     io.Closer           // what binds its life and memory to ours besides; may be nil
	engine  bool                // it has loaded PDFium
	missing []MissingProtection // of its sandbox
	exited  chan struct{}       // closed once it is gone and reaped
	once    sync.Once
}

// causes of a child's end that are ours.
var (
	errDeadline = errors.New("deadline for one document")
	errMemory   = errors.New("memory limit")
	errNoHello  = errors.New("child said nothing")
)

// launch starts a child and hears its hello. The calling goroutine must be
// locked to a thread that lives as long as the child (Linux: Pdeathsig).
func launch(o Options) (*worker, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	cmd, lacks, err := startProcess(func() *exec.Cmd {
		cmd := exec.Command(o.Command[0], o.Command[1:]...) //nolint:gosec,noctx // our own program; it outlives the call that starts it
		cmd.Stdin, cmd.Stdout = childIn, childOut
		// Nothing of the settings, which may hold secrets, reaches a child.
		cmd.Env = []string{"GOTRACEBACK=none"}
		cmd.SysProcAttr = procAttributes()
		return cmd
	})
	// The child has its own copies; ours would hide its end.
	closed := errors.Join(childIn.Close(), childOut.Close())
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

// reap waits for the child's end; kill waits for reap.
func (p *worker) reap() {
	// How it ended is in ProcessState; that it was killed is no error.
	_ = p.cmd.Wait()
	close(p.exited)
}

// handshake hears the child's hello, tells it what it runs with, and waits until it is ready.
func (p *worker) handshake(ctx context.Context, o Options, engine bool) error {
	g := p.watch(ctx, o.helloTimeout, errNoHello, 0)
	err := p.sendSetup(o, engine)
	if cause := g.release(); cause != nil {
		return cause
	}
	if err == nil {
		// Compiling PDFium takes a slow machine a while, and no document waits in the child.
		g = p.watch(ctx, setupTimeout, errNoHello, 0)
		err = p.readReady()
		if cause := g.release(); cause != nil {
			return cause
		}
	}
	p.engine = engine
	return p.exitCause(err)
}

// setupTimeout is how long a child may take to load PDFium and to close its sandbox.
const setupTimeout = 2 * time.Minute

// readReady hears what the sandbox of the child lacks.
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

// run has one task done. A child for which err is no *docReadError and no
// *workerError, or which retires, must be killed. Besides the errors of talk
// there are errDeadline, errMemory and ctx's.
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

// exitTimeout is how long a child that has closed its pipes has to end.
const exitTimeout = time.Second

// exitCause adds ErrKilled to the error of a child that ended by a signal from outside. A
// document can make a child crash, and never sends it such a signal. The caller has
// not killed it.
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
	// Windows has no signals, and its ends are not told apart.
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && slices.Contains(externalSignals, status.Signal()) {
		return fmt.Errorf("%w: %w", ErrKilled, err)
	}
	return err
}

// externalSignals are the signals that a system or a person sends.
var externalSignals = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// hasExited reports whether the child has ended.
func (p *worker) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// kill ends the child, whatever it does, and waits until it is gone. It is safe
// to call more than once and from several goroutines.
func (p *worker) kill() {
	p.once.Do(func() {
		// It may have ended by itself: then there is nothing to kill.
		_ = p.cmd.Process.Kill()
		<-p.exited
		// The pipes of a child that is gone hold nothing that could be lost.
		_ = p.in.Close()
		_ = p.out.Close()
		if p.job != nil {
			_ = p.job.Close()
		}
	})
}

// logEnd says how a child ended that was not told to.
func (p *worker) logEnd(log *slog.Logger, cause error) {
	log.Warn("document process ended", "pid", p.cmd.Process.Pid, "state", p.cmd.ProcessState.String(), "cause", cause)
}
