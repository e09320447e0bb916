package service

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	library "github.com/kardianos/service"
	"golang.org/x/sys/windows/svc"
)

// StartedByWindows reports whether the service manager of Windows started this process.
func StartedByWindows() bool { return !library.Interactive() }

// RunForWindows runs the server for the service manager of Windows and returns its exit code. run calls
// ready when the server accepts requests, and ends if its context is canceled. Its messages go to the
// Event Log. If run returns another code than 0 and final, this process ends like one that crashed,
// so that Windows starts the server again.
//
// The library would report no progress while the server starts, and would end a server that failed like
// one that was stopped.
func RunForWindows(final int, run func(ctx context.Context, ready func(), messages io.Writer) int) int {
	h := &windowsHandler{final: final, run: run}
	if err := svc.Run("", h); err != nil {
		return 1
	}
	return h.code
}

type windowsHandler struct {
	final, code int
	run         func(ctx context.Context, ready func(), messages io.Writer) int
}

// pendingHint is how long Windows waits for the next sign of life while the server starts or stops.
const pendingHint = 30 * time.Second

func (h *windowsHandler) Execute(args []string, requests <-chan svc.ChangeRequest, changes chan<- svc.Status) (specific bool, code uint32) {
	messages := io.Discard
	var events *eventWriter
	if s, err := library.New(nil, &library.Config{Name: args[0]}); err == nil {
		if log, err := s.SystemLogger(nil); err == nil {
			events = &eventWriter{log: log}
			messages = events
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready, done := make(chan struct{}), make(chan int, 1)
	readyOnce := sync.OnceFunc(func() { close(ready) })
	go func() { done <- h.run(ctx, readyOnce, messages) }()
	tick := time.NewTicker(pendingHint / 3)
	defer tick.Stop()
	status := svc.Status{State: svc.StartPending, WaitHint: uint32(pendingHint.Milliseconds())}
	for {
		changes <- status
		select {
		case <-ready:
			ready, status = nil, svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
		case request := <-requests:
			if request.Cmd == svc.Stop || request.Cmd == svc.Shutdown {
				cancel()
				status = svc.Status{State: svc.StopPending, WaitHint: uint32(pendingHint.Milliseconds())}
			}
		case <-tick.C:
			if status.State != svc.Running {
				status.CheckPoint++
			}
		case h.code = <-done:
			if h.code != 0 && ctx.Err() == nil {
				if events != nil {
					_ = events.failed() // there is no other place for the error
				}
				if h.code != h.final {
					os.Exit(h.code) //nolint:gocritic // the process ends without what is deferred: only then does Windows start it again
				}
			}
			return h.code != 0, uint32(h.code)
		}
	}
}
