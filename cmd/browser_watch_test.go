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

// watch sees what a page should never do: errors on the console, exceptions, breaches
// of its own policy, dialogs, and requests to anybody but the house.
type watch struct {
	sync.Mutex
	origin   string
	problems []string
	expected []string
	allowed  []string
	received float64 // bytes over the network
}

func (w *watch) event(event any) {
	w.Lock()
	defer w.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			w.problem("console: %s", strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		what := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			what += " " + e.ExceptionDetails.Exception.Description
		}
		w.problem("exception: %s", what)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			w.problem("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if policy := e.Issue.Details.ContentSecurityPolicyIssueDetails; policy != nil {
			w.problem("policy: %s %s %s", policy.ContentSecurityPolicyViolationType, policy.ViolatedDirective, policy.BlockedURL)
		}
	case *pageproto.EventJavascriptDialogOpening:
		w.problem("dialog: %s %s", e.Type, e.Message)
	case *inspector.EventTargetCrashed:
		w.problem("the page crashed")
	case *network.EventRequestWillBeSent:
		if !w.ours(e.Request.URL) || strings.HasSuffix(e.Request.URL, "/canary") {
			w.problem("asked elsewhere: %s", e.Request.URL)
		}
	case *network.EventLoadingFinished:
		w.received += e.EncodedDataLength
	}
}

// ours says whether an address is the house's, or one that leaves the machine's
// memory never.
func (w *watch) ours(address string) bool {
	for _, begin := range []string{w.origin + "/", "data:", "blob:" + w.origin + "/", "about:", "chrome-extension://", "chrome://"} {
		if strings.HasPrefix(address, begin) {
			return true
		}
	}
	return false
}

func (w *watch) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// expect lets problems pass that contain the text; at least one must come.
func (w *watch) expect(text string) {
	w.Lock()
	defer w.Unlock()
	w.expected = append(w.expected, text)
}

// tolerate lets problems pass that contain one of the texts; none need come.
func (w *watch) tolerate(texts ...string) {
	w.Lock()
	defer w.Unlock()
	w.allowed = append(w.allowed, texts...)
}

// said are the problems so far, in lines.
func (w *watch) said() string {
	w.Lock()
	defer w.Unlock()
	return strings.Join(w.problems, "\n")
}

// judge fails for each problem that was not expected, and for each expected
// one that did not come.
func (w *watch) judge(fail func(...any)) {
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

// loads counts what comes over the network while something is done.
func (b *tab) loads(act func()) float64 {
	b.Lock()
	b.received = 0
	b.Unlock()
	act()
	b.until(`performance.getEntriesByType("resource").every(e => e.responseEnd > 0)`)
	b.Lock()
	defer b.Unlock()
	return b.received
}

// forget lets everything pass that came so far.
func (w *watch) forget() {
	w.Lock()
	defer w.Unlock()
	w.problems, w.expected = nil, nil
}
