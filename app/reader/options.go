package reader

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"
)

// Options are what a Pool is made of; the zero value of each field has a
// meaning.
type Options struct {
	Command     []string      // command line of a child; nil: this binary with ChildArg
	CacheDir    string        // folder of compiled engines; "": compile in each child (about a second)
	Processes   int           // children at once; 0: one per CPU, at most 2
	MemoryLimit int64         // resident bytes above which a child is killed; 0: 512 MiB
	Deadline    time.Duration // for one document, then its child is killed; 0: 30 s
	Log         *slog.Logger  // nil: nothing is logged

	greeting time.Duration // for a child's first word
}

const (
	defaultProcesses   = 2
	defaultMemoryLimit = 512 << 20
	defaultDeadline    = 30 * time.Second
	defaultGreeting    = 15 * time.Second
)

// complete fills the zero fields in.
func (o Options) complete() (Options, error) {
	if o.Command == nil {
		command, err := self()
		if err != nil {
			return o, fmt.Errorf("find own program: %w", err)
		}
		o.Command = []string{command, ChildArg}
	}
	if o.CacheDir != "" {
		dir, err := filepath.Abs(o.CacheDir)
		if err != nil {
			return o, err
		}
		o.CacheDir = dir
	}
	if o.Processes <= 0 {
		o.Processes = min(runtime.NumCPU(), defaultProcesses)
	}
	if o.MemoryLimit <= 0 {
		o.MemoryLimit = defaultMemoryLimit
	}
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.greeting <= 0 {
		o.greeting = defaultGreeting
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
