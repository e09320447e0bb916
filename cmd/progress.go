package cmd

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"deedkeep/app/apitypes"
)

// Progress is displayed only for work that takes longer than progressDelay.
const (
	progressDelay        = time.Second
	progressLineInterval = 10 * time.Second
)

// showProgress returns a function that displays the progress of a long operation. On a
// terminal, it displays a bar with the rate and the remaining time. Otherwise, it prints a
// line every ten seconds. It displays nothing in the first second. finish clears the bar
// and may be called more than once. report is not safe for concurrent use.
func (s *shell) showProgress(label string) (report func(apitypes.Progress), finish func()) {
	file, _ := s.messages.(*os.File)
	if file != nil && isTerminal(file) {
		return s.showTerminalProgress(label)
	}
	lastLine := time.Now().Add(progressDelay - progressLineInterval)
	var rate progressRate
	return func(p apitypes.Progress) {
		rate.start(p)
		if time.Since(lastLine) < progressLineInterval {
			return
		}
		lastLine = time.Now()
		if text := progressLine(p, rate); label == "" {
			s.messagef("%s", text)
		} else {
			s.messagef("%s: %s", label, text)
		}
	}, func() {}
}

// withProgress displays the progress of work (see showProgress).
func withProgress[T any](s *shell, label string, work func(report func(apitypes.Progress)) (T, error)) (T, error) {
	report, finish := s.showProgress(label)
	defer finish()
	return work(report)
}

// progressRate estimates the remaining time, starting with the first report. Work before
// that doesn't count, for example a scan of all records or an earlier run that was
// interrupted.
type progressRate struct {
	at   time.Time // time of the first report; zero before it
	done int64
}

func (r *progressRate) start(p apitypes.Progress) {
	if r.at.IsZero() {
		r.at, r.done = time.Now(), p.Done
	}
}

// remaining returns the estimated time until the work is done. It returns false if it is
// too early for an estimate.
func (r progressRate) remaining(p apitypes.Progress) (time.Duration, bool) {
	elapsed := time.Since(r.at)
	if r.at.IsZero() || elapsed < progressDelay || p.Done <= r.done || p.Total <= p.Done {
		return 0, false
	}
	return time.Duration(float64(elapsed) / float64(p.Done-r.done) * float64(p.Total-p.Done)), true
}

// progressLine formats progress as text, for example "3 of 12 documents, 9s left".
func progressLine(p apitypes.Progress, rate progressRate) string {
	format := func(n int64) string {
		if p.Unit == "bytes" {
			return apitypes.HumanSize(n)
		}
		return fmt.Sprint(n)
	}
	text := format(p.Done)
	if p.Total > 0 {
		text += " of " + format(p.Total)
	}
	if p.Unit != "bytes" {
		text += " " + p.Unit
	}
	if left, ok := rate.remaining(p); ok {
		text += ", " + left.Round(time.Second).String() + " left"
	}
	return text
}

func (s *shell) showTerminalProgress(label string) (report func(apitypes.Progress), finish func()) {
	started := time.Now()
	var bar *progressbar.ProgressBar
	return func(p apitypes.Progress) {
			if bar == nil {
				if time.Since(started) < progressDelay {
					return
				}
				bar = progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(s.messages), progressbar.OptionSetDescription(label),
					progressbar.OptionShowBytes(p.Unit == "bytes"), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
					progressbar.OptionSetItsString(p.Unit), progressbar.OptionThrottle(100*time.Millisecond),
					progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(24))
			}
			bar.ChangeMax64(max(p.Total, 1))
			_ = bar.Set64(min(p.Done, max(p.Total, 1))) // failing to draw the bar is harmless
		}, sync.OnceFunc(func() {
			if bar != nil {
				_ = bar.Clear() // failing to draw the bar is harmless
			}
		})
}
