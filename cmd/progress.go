package cmd

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"deedkeep/app/apitypes"
)

// longer than this something takes before its progress is shown.
const (
	progressDelay        = time.Second
	progressLineInterval = 10 * time.Second
)

// showProgress shows how far something long is: a bar with rate and time left on a terminal, a
// line every ten seconds elsewhere, nothing within the first second. finish takes the
// bar away and may be called more than once; report is for one goroutine at a time.
func (s *shell) showProgress(what string) (report func(apitypes.Progress), finish func()) {
	file, _ := s.messages.(*os.File)
	if file != nil && isTerminal(file) {
		return s.showTerminalProgress(what)
	}
	said := time.Now().Add(progressDelay - progressLineInterval)
	var from progressRate
	return func(p apitypes.Progress) {
		from.start(p)
		if time.Since(said) < progressLineInterval {
			return
		}
		said = time.Now()
		if text := progressLine(p, from); what == "" {
			s.messagef("%s", text)
		} else {
			s.messagef("%s: %s", what, text)
		}
	}, func() {}
}

// progress is a bar without a name that goes away when all is done.
func (s *shell) progress() func(apitypes.Progress) {
	report, _ := s.showProgress("")
	return report
}

// progressRate is what had been done when the first was told of it: what came before, such as a
// look at all records, or a work of which some was done another time, says nothing about
// the time left.
type progressRate struct {
	at   time.Time // zero until then
	done int64
}

func (f *progressRate) start(p apitypes.Progress) {
	if f.at.IsZero() {
		f.at, f.done = time.Now(), p.Done
	}
}

// remaining is how long the rest takes; false while it is too early to say.
func (f progressRate) remaining(p apitypes.Progress) (time.Duration, bool) {
	took := time.Since(f.at)
	if f.at.IsZero() || took < progressDelay || p.Done <= f.done || p.Total <= p.Done {
		return 0, false
	}
	return time.Duration(float64(took) / float64(p.Done-f.done) * float64(p.Total-p.Done)), true
}

// progressLine is a line of progress.
func progressLine(p apitypes.Progress, from progressRate) string {
	amount := func(n int64) string {
		if p.Unit == "bytes" {
			return apitypes.HumanSize(n)
		}
		return fmt.Sprint(n)
	}
	text := amount(p.Done)
	if p.Total > 0 {
		text += " of " + amount(p.Total)
	}
	if p.Unit != "bytes" {
		text += " " + p.Unit
	}
	if left, known := from.remaining(p); known {
		text += ", " + left.Round(time.Second).String() + " left"
	}
	return text
}

func (s *shell) showTerminalProgress(what string) (report func(apitypes.Progress), finish func()) {
	begun := time.Now()
	var bar *progressbar.ProgressBar
	return func(p apitypes.Progress) {
			if bar == nil {
				if time.Since(begun) < progressDelay {
					return
				}
				bar = progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(s.messages), progressbar.OptionSetDescription(what),
					progressbar.OptionShowBytes(p.Unit == "bytes"), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
					progressbar.OptionSetItsString(p.Unit), progressbar.OptionThrottle(100*time.Millisecond),
					progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(24))
			}
			bar.ChangeMax64(max(p.Total, 1))
			_ = bar.Set64(min(p.Done, max(p.Total, 1))) // there is nobody else to tell
		}, sync.OnceFunc(func() {
			if bar != nil {
				_ = bar.Clear() // as above
			}
		})
}
