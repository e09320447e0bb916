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

// WorkerArg is the hidden first argument that turns the binary into a worker.
const WorkerArg = "read-documents"

// IsWorker reports whether args, a complete command line as in os.Args, starts a worker. The caller
// must check this before anything else because the standard output of a worker may contain only
// frames.
func IsWorker(args []string) bool { return len(args) > 1 && args[1] == WorkerArg }

// Exit codes of a worker.
const (
	exitDone   = 0
	exitFailed = 1
)

// RunWorker processes the documents that arrive over standard input and output until the input is
// closed. It returns the exit code.
func RunWorker(assets Assets) int {
	// The parent decides when a worker ends, so ignore Ctrl-C in its terminal.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	in, out := os.Stdin, os.Stdout
	os.Stdout = os.Stderr // so that other output doesn't mix with the protocol
	if err := serve(context.Background(), in, out, assets); err != nil {
		return exitFailed
	}
	return exitDone
}

// heapLimit is the Go runtime's soft memory limit in a worker. It does not include the engines' memory.
const heapLimit = 96 << 20

// serve runs the worker's side of the protocol until in is closed.
func serve(ctx context.Context, in io.Reader, w io.Writer, assets Assets) (err error) {
	if err := writeMessage(w, frameHello, hello{buildID()}); err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, 2*blockSize)
	var buf []byte
	var s setup
	if err := readMessage(r, &buf, frameSetup, &s); err != nil {
		return unlessEOF(err)
	}
	nameProcess("deedkeep:" + s.Name)
	debug.SetMemoryLimit(heapLimit)
	if err := limitSelf(s.MemoryLimit); err != nil {
		return err
	}
	if s.LowPriority {
		// If the system doesn't allow that, the worker only slows other processes down more.
		_ = lowerPriority()
	}
	e := &engine{assets: assets, cacheDir: s.CacheDir}
	defer func() { err = errors.Join(err, e.close(ctx)) }()
	bad := e.prepare(ctx, s)
	debug.FreeOSMemory() // compiling an engine leaves garbage
	if err := writeMessage(w, frameReady, workerReady{enclose(), bad}); err != nil {
		return err
	}
	d := &session{w: w, r: r, engine: e}
	for {
		var t task
		if err := readMessage(r, &buf, frameTask, &t); err != nil {
			return unlessEOF(err)
		}
		if err := d.run(ctx, t); err != nil {
			return err
		}
	}
}

// unlessEOF returns nil for io.EOF, which means that the parent has closed the input.
func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
