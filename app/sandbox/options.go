package sandbox

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"
)

// Options configure a Pool. The zero value of each field selects a default.
type Options struct {
	Command     []string      // command line of a worker; nil: this binary with WorkerArg
	CacheDir    string        // folder for compiled engines; "": compile in each worker (about a second)
	Workers     int           // maximum number of workers; 0: one per CPU, at most 2
	MemoryLimit int64         // resident bytes above which a worker is killed; 0: 512 MiB
	Deadline    time.Duration // default for Deadlines.Inspect
	Deadlines   Deadlines     // per document; then its worker is killed
	QueueSize   int           // maximum waiting calls per Class; 0: 4,096
	Log         *slog.Logger  // nil: no logging

	helloTimeout time.Duration // for the first frame of a worker
}

// Deadlines limit each kind of task on one document, from when a worker has it. Waiting for a
// worker does not count.
type Deadlines struct {
	Inspect time.Duration // 0: 20 s
	Picture time.Duration // one page image, or page sizes, or marks; 0: 20 s
	Text    time.Duration // not counting time in the caller's callback; 0: 60 s
}

func (d Deadlines) forTask(t task) time.Duration {
	switch t.Task {
	case taskPicture, taskSizes, taskMarks:
		return d.Picture
	case taskText:
		return d.Text
	}
	return d.Inspect
}

const (
	defaultWorkers      = 2
	defaultMemoryLimit  = 512 << 20
	defaultDeadline     = 20 * time.Second
	defaultTextDeadline = 60 * time.Second
	defaultQueue        = 4096
	defaultHelloTimeout = 15 * time.Second
)

// withDefaults returns the options with defaults for zero fields.
func (o Options) withDefaults() (Options, error) {
	if o.Command == nil {
		command, err := ownExecutable()
		if err != nil {
			return o, fmt.Errorf("find own program: %w", err)
		}
		o.Command = []string{command, WorkerArg}
	}
	if o.CacheDir != "" {
		dir, err := filepath.Abs(o.CacheDir)
		if err != nil {
			return o, err
		}
		o.CacheDir = dir
	}
	if o.Workers <= 0 {
		o.Workers = min(runtime.NumCPU(), defaultWorkers)
	}
	o.MemoryLimit = positiveOr(o.MemoryLimit, defaultMemoryLimit)
	o.Deadlines = Deadlines{
		Inspect: positiveOr(o.Deadlines.Inspect, positiveOr(o.Deadline, defaultDeadline)),
		Picture: positiveOr(o.Deadlines.Picture, defaultDeadline),
		Text:    positiveOr(o.Deadlines.Text, defaultTextDeadline),
	}
	o.QueueSize = positiveOr(o.QueueSize, defaultQueue)
	o.helloTimeout = positiveOr(o.helloTimeout, defaultHelloTimeout)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
