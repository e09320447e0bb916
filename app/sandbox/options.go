package sandbox

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"
)

// Options configures a Pool. The zero value of each field selects its default.
type Options struct {
	Name        string        // type of the workers in lists of processes, such as "ocr"; "" means "render"
	Command     []string      // command line of a worker; nil means this binary with WorkerArg
	CacheDir    string        // cache directory for compiled PDFium; "" makes each worker compile it, which takes about a second
	Workers     int           // maximum number of workers; 0 means one per CPU, up to 2
	MemoryLimit int64         // resident bytes above which a worker is killed; 0 means 512 MiB
	Deadline    time.Duration // default for Deadlines.Inspect
	Deadlines   Deadlines     // time limits per document; a worker that exceeds one is killed
	IdleTime    time.Duration // how long a worker lives without a document; 0 means 2 min
	QueueSize   int           // maximum number of waiting calls per Class; 0 means 4,096
	OCR         OCR           // languages that ReadPage can read
	LowPriority bool          // run workers only when other processes leave CPU time; Deadlines.OCR then counts CPU time
	Log         *slog.Logger  // nil disables logging

	helloTimeout time.Duration // how long a worker may take to send its first frame
	setupMemory  int64         // resident bytes above which a worker is killed while it loads engines and languages
}

// Deadlines limits the time for each type of task on one document. Time starts when a worker gets
// the document, so waiting for a worker doesn't count.
type Deadlines struct {
	Inspect time.Duration // 0 means 20 s
	Image   time.Duration // one page image, the page sizes, or the marks or words of one page; 0 means 20 s
	Text    time.Duration // doesn't count time spent in the caller's callback; 0 means 60 s
	OCR     time.Duration // the words on the image of one page; 0 means 120 s

	Searchable time.Duration // a searchable PDF of all pages, or a PDF of pages of several documents; 0 means 300 s
}

func (d Deadlines) forTask(t task) time.Duration {
	switch t.Task {
	case taskImage, taskSizes, taskMarks, taskWords:
		return d.Image
	case taskText:
		return d.Text
	case taskOCR:
		return d.OCR
	case taskSearchable, taskAssemble:
		return d.Searchable
	}
	return d.Inspect
}

const (
	defaultWorkers      = 2
	defaultMemoryLimit  = 512 << 20
	defaultDeadline     = 20 * time.Second
	defaultTextDeadline = 60 * time.Second
	defaultOCRDeadline  = 120 * time.Second
	defaultFileDeadline = 300 * time.Second
	defaultQueue        = 4096
	defaultIdleTime     = 2 * time.Minute
	defaultHelloTimeout = 15 * time.Second
)

// withDefaults returns a copy of the options in which zero fields have their defaults.
func (o Options) withDefaults() (Options, error) {
	if o.Command == nil {
		command, err := ownExecutable()
		if err != nil {
			return o, fmt.Errorf("find deedkeep executable: %w", err)
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
	// Compiling the engines takes about 170 MiB, which may be more than the documents get.
	o.setupMemory = positiveOr(o.setupMemory, max(o.MemoryLimit, defaultMemoryLimit))
	o.Deadlines = Deadlines{
		Inspect: positiveOr(o.Deadlines.Inspect, positiveOr(o.Deadline, defaultDeadline)),
		Image:   positiveOr(o.Deadlines.Image, defaultDeadline),
		Text:    positiveOr(o.Deadlines.Text, defaultTextDeadline),
		OCR:     positiveOr(o.Deadlines.OCR, defaultOCRDeadline),

		Searchable: positiveOr(o.Deadlines.Searchable, defaultFileDeadline),
	}
	if err := o.OCR.check(); err != nil {
		return o, err
	}
	if o.OCR.Dir != "" {
		dir, err := filepath.Abs(o.OCR.Dir)
		if err != nil {
			return o, err
		}
		o.OCR.Dir = dir
	}
	o.Name = cmp.Or(o.Name, "render")
	o.IdleTime = positiveOr(o.IdleTime, defaultIdleTime)
	o.QueueSize = positiveOr(o.QueueSize, defaultQueue)
	o.helloTimeout = positiveOr(o.helloTimeout, defaultHelloTimeout)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
