package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// WorkerArg is the hidden first argument that makes the binary a child.
const WorkerArg = "read-documents"

// IsWorker reports whether args, a whole command line as in os.Args, is that of
// a child. The answer must be acted on before anything else happens: a child's
// standard output carries frames only.
func IsWorker(args []string) bool { return len(args) > 1 && args[1] == WorkerArg }

// Exit codes of a child.
const (
	exitDone   = 0
	exitFailed = 1
)

// RunWorker is the whole life of a child: it serves documents over standard input
// and output until the input closes, and returns the exit code. assets yields
// PDFium; it is called when the first PDF comes.
func RunWorker(assets func() ([]byte, error)) int {
	// The parent says when a child ends, not whoever presses Ctrl-C.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	in, out := os.Stdin, os.Stdout
	os.Stdout = os.Stderr // nothing but frames reaches the parent
	if err := serve(context.Background(), in, out, assets); err != nil {
		return exitFailed
	}
	return exitDone
}

// heapLimit is when the collector of a child begins to work harder; PDFium's
// memory does not count here.
const heapLimit = 192 << 20

// serve speaks the child's side of the protocol until r ends.
func serve(ctx context.Context, in io.Reader, w io.Writer, assets func() ([]byte, error)) (err error) {
	if err := writeMessage(w, frameHello, hello{buildID()}); err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, 2*blockSize)
	var buf []byte
	kind, content, err := readFrame(r, &buf)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	var s setup
	if kind != frameSetup {
		return protocolError("frame %q before setup", kind)
	}
	if err := decode(content, &s); err != nil {
		return err
	}
	debug.SetMemoryLimit(heapLimit)
	if err := limitSelf(s.MemoryLimit); err != nil {
		return err
	}
	e := &engine{assets: assets, cacheDir: s.CacheDir}
	defer func() { err = errors.Join(err, e.close(ctx)) }()
	if s.Engine {
		// What is wrong with the engine is said of the first document that needs it.
		_, _ = e.load(ctx)
	}
	// From here on there are no files, and so no cache.
	e.cacheDir = ""
	if err := writeMessage(w, frameReady, workerReady{enclose()}); err != nil {
		return err
	}
	d := &session{w: w, r: r, engine: e}
	for {
		kind, content, err := readFrame(r, &buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if kind != frameTask {
			return protocolError("frame %q instead of a task", kind)
		}
		var t task
		if err := decode(content, &t); err != nil {
			return err
		}
		if err := d.run(ctx, t); err != nil {
			return err
		}
	}
}
