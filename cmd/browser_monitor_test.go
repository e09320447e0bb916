//go:build browser

package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	pageproto "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// monitor sees what a page should never do: errors on the console, exceptions, breaches
// of its own policy, dialogs, and requests to anybody but the house.
type monitor struct {
	sync.Mutex
	origin   string
	problems []string
	expected []string
	allowed  []string
	received float64 // bytes over the network
}

func (w *monitor) handle(event any) {
	w.Lock()
	defer w.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			w.addProblem("console: %s", strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		what := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			what += " " + e.ExceptionDetails.Exception.Description
		}
		w.addProblem("exception: %s", what)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			w.addProblem("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if policy := e.Issue.Details.ContentSecurityPolicyIssueDetails; policy != nil {
			w.addProblem("policy: %s %s %s", policy.ContentSecurityPolicyViolationType, policy.ViolatedDirective, policy.BlockedURL)
		}
	case *pageproto.EventJavascriptDialogOpening:
		w.addProblem("dialog: %s %s", e.Type, e.Message)
	case *inspector.EventTargetCrashed:
		w.addProblem("the page crashed")
	case *network.EventRequestWillBeSent:
		if !w.isOwnURL(e.Request.URL) || strings.HasSuffix(e.Request.URL, "/canary") {
			w.addProblem("asked elsewhere: %s", e.Request.URL)
		}
	case *network.EventLoadingFinished:
		w.received += e.EncodedDataLength
	}
}

// isOwnURL says whether an address is the house's, or one that leaves the machine's
// memory never.
func (w *monitor) isOwnURL(address string) bool {
	for _, begin := range []string{w.origin + "/", "data:", "blob:" + w.origin + "/", "about:", "chrome-extension://", "chrome://"} {
		if strings.HasPrefix(address, begin) {
			return true
		}
	}
	return false
}

func (w *monitor) addProblem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// expect lets problems pass that contain the text; at least one must come.
func (w *monitor) expect(text string) {
	w.Lock()
	defer w.Unlock()
	w.expected = append(w.expected, text)
}

// allow lets problems pass that contain one of the texts; none need come.
func (w *monitor) allow(texts ...string) {
	w.Lock()
	defer w.Unlock()
	w.allowed = append(w.allowed, texts...)
}

// problemText are the problems so far, in lines.
func (w *monitor) problemText() string {
	w.Lock()
	defer w.Unlock()
	return strings.Join(w.problems, "\n")
}

// check fails for each problem that was not expected, and for each expected
// one that did not come.
func (w *monitor) check(fail func(...any)) {
	w.Lock()
	defer w.Unlock()
	came := map[string]bool{}
	for _, problem := range w.problems {
		known := slices.ContainsFunc(w.allowed, func(text string) bool { return strings.Contains(problem, text) })
		for _, text := range w.expected {
			if strings.Contains(problem, text) {
				came[text], known = true, true
			}
		}
		if !known {
			fail(problem)
		}
	}
	for _, text := range w.expected {
		if !came[text] {
			fail("never came: " + text)
		}
	}
}

// bytesLoaded counts what comes over the network while something is done.
func (b *tab) bytesLoaded(act func()) float64 {
	b.Lock()
	b.received = 0
	b.Unlock()
	act()
	b.waitFor(`performance.getEntriesByType("resource").every(e => e.responseEnd > 0)`)
	b.Lock()
	defer b.Unlock()
	return b.received
}

// reset lets everything pass that came so far.
func (w *monitor) reset() {
	w.Lock()
	defer w.Unlock()
	w.problems, w.expected = nil, nil
}
