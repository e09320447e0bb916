package cmd

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"deedkeep/app/apitypes"
)

// Progress is shown only for work that takes longer than progressDelay.
const (
	progressDelay        = time.Second
	progressLineInterval = 10 * time.Second
)

// showProgress returns a function to report the progress of long work: as a bar with
// rate and remaining time on a terminal, otherwise as a line every ten seconds, and not
// at all in the first second. finish clears the bar and may be called more than once.
// report is not safe for concurrent use.
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

// progress shows progress without a label, on a bar that is cleared at the end.
func (s *shell) progress() func(apitypes.Progress) {
	report, _ := s.showProgress("")
	return report
}

// progressRate estimates the remaining time from the first report on. Work before it,
// such as a scan of all records or an earlier, interrupted run, doesn't count for the
// rate.
type progressRate struct {
	at   time.Time // of the first report; zero before it
	done int64
}

func (r *progressRate) start(p apitypes.Progress) {
	if r.at.IsZero() {
		r.at, r.done = time.Now(), p.Done
	}
}

// remaining returns how long the rest of the work will take, and false if it is too
// early to tell.
func (r progressRate) remaining(p apitypes.Progress) (time.Duration, bool) {
	elapsed := time.Since(r.at)
	if r.at.IsZero() || elapsed < progressDelay || p.Done <= r.done || p.Total <= p.Done {
		return 0, false
	}
	return time.Duration(float64(elapsed) / float64(p.Done-r.done) * float64(p.Total-p.Done)), true
}

// progressLine formats progress as text, such as "3 of 12 documents, 9s left".
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
			_ = bar.Set64(min(p.Done, max(p.Total, 1))) // a failure to draw the bar is harmless
		}, sync.OnceFunc(func() {
			if bar != nil {
				_ = bar.Clear() // a failure to draw the bar is harmless
			}
		})
}
