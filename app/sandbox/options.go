package sandbox

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
	Command     []string      // command line of a child; nil: this binary with WorkerArg
	CacheDir    string        // folder of compiled engines; "": compile in each child (about a second)
	Workers     int           // children at once; 0: one per CPU, at most 2
	MemoryLimit int64         // resident bytes above which a child is killed; 0: 512 MiB
	Deadline    time.Duration // of Deadlines.Inspect, where that is 0
	Deadlines   Deadlines     // for one document, then its child is killed
	QueueSize   int           // calls of each Class that may wait for a child; 0: 4,096
	Log         *slog.Logger  // nil: nothing is logged

	helloTimeout time.Duration // for a child's first word
}

// Deadlines are how long each kind of work on one document may take, from when a
// child has it; waiting for a child does not count.
type Deadlines struct {
	Inspect time.Duration // 0: 20 s
	Picture time.Duration // of one page, or sizes, or marks; 0: 20 s
	Text    time.Duration // 0: 60 s, without the time of the receiver
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

// withDefaults fills the zero fields in.
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
