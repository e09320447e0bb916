package server

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"deedkeep/app/api"
	"deedkeep/app/memory"
)

const (
	// idleTime is how long no request arrives before the server gives memory back.
	idleTime = 2 * time.Minute
	// idleCheckInterval is how often the server checks that.
	idleCheckInterval = 15 * time.Second
	// maxIdleGrowth is by how much the memory of an idle server may grow, in bytes, before it gives memory
	// back again. Background work, such as OCR, doesn't need requests.
	maxIdleGrowth = 16 << 20
)

// idleTrimmer releases memory when no requests arrive. Requests of monitoring don't count.
type idleTrimmer struct {
	now     func() time.Time
	usage   func() memory.Usage
	trim    func()
	last    atomic.Int64 // time of the last request, in nanoseconds since 1970
	trimmed int64        // memory after the last trim; 0 if there were requests since then
}

func newIdleTrimmer(opts Options) *idleTrimmer {
	database := filepath.Join(opts.App.Dir, "vault.db")
	return &idleTrimmer{
		now: time.Now, usage: func() memory.Usage { return memory.Of(os.Getpid()) },
		trim: func() { opts.App.Search.Index.DropCache(); memory.Trim(database) },
	}
}

// watch returns a handler that records the time of each request before and after next.
func (i *idleTrimmer) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isHealthCheck(r.URL.Path) && r.URL.Path != api.MetricsPath {
			i.touch()
			defer i.touch()
		}
		next.ServeHTTP(w, r)
	})
}

func (i *idleTrimmer) touch() { i.last.Store(i.now().UnixNano()) }

// run checks until ctx ends.
func (i *idleTrimmer) run(ctx context.Context) {
	i.touch()
	tick := time.NewTicker(idleCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			i.check()
		}
	}
}

// check releases memory if the server is idle and has grown since it last did so.
func (i *idleTrimmer) check() {
	if i.now().Sub(time.Unix(0, i.last.Load())) < idleTime {
		i.trimmed = 0
		return
	}
	if i.trimmed > 0 && i.usage().Total < i.trimmed+maxIdleGrowth {
		return
	}
	i.trim()
	i.trimmed = max(i.usage().Total, 1)
}
