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

// monitor records what a page must not do: errors on the console, exceptions, violations
// of its Content-Security-Policy, dialogs, and requests to another origin.
type monitor struct {
	sync.Mutex
	origin   string
	problems []string
	expected []string // texts of problems that must occur
	allowed  []string // texts of problems that may occur
	received float64  // bytes over the network
}

// handle records the problem, if any, that an event of the browser reports.
func (m *monitor) handle(event any) {
	m.Lock()
	defer m.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			m.addProblem("console: %s", strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		m.addProblem("exception: %s", text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			m.addProblem("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if policy := e.Issue.Details.ContentSecurityPolicyIssueDetails; policy != nil {
			m.addProblem("policy: %s %s %s", policy.ContentSecurityPolicyViolationType, policy.ViolatedDirective, policy.BlockedURL)
		}
	case *pageproto.EventJavascriptDialogOpening:
		m.addProblem("dialog: %s %s", e.Type, e.Message)
	case *inspector.EventTargetCrashed:
		m.addProblem("page crashed")
	case *network.EventRequestWillBeSent:
		if !m.isOwnURL(e.Request.URL) || strings.HasSuffix(e.Request.URL, "/canary") {
			m.addProblem("request to another origin: %s", e.Request.URL)
		}
	case *network.EventLoadingFinished:
		m.received += e.EncodedDataLength
	}
}

// isOwnURL reports whether a URL is one of the server, or one that causes no request over
// the network.
func (m *monitor) isOwnURL(url string) bool {
	for _, prefix := range []string{m.origin + "/", "data:", "blob:" + m.origin + "/", "about:", "chrome-extension://", "chrome://"} {
		if strings.HasPrefix(url, prefix) {
			return true
		}
	}
	return false
}

// addProblem records a problem. The caller must hold the lock.
func (m *monitor) addProblem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

// expect permits problems that contain the text, and requires at least one of them.
func (m *monitor) expect(text string) {
	m.Lock()
	defer m.Unlock()
	m.expected = append(m.expected, text)
}

// allow permits problems that contain one of the texts.
func (m *monitor) allow(texts ...string) {
	m.Lock()
	defer m.Unlock()
	m.allowed = append(m.allowed, texts...)
}

// problemText returns the problems so far, one per line.
func (m *monitor) problemText() string {
	m.Lock()
	defer m.Unlock()
	return strings.Join(m.problems, "\n")
}

// check calls fail for each problem that was neither expected nor allowed, and for each
// expected problem that did not occur.
func (m *monitor) check(fail func(...any)) {
	m.Lock()
	defer m.Unlock()
	occurred := map[string]bool{}
	for _, problem := range m.problems {
		permitted := slices.ContainsFunc(m.allowed, func(text string) bool { return strings.Contains(problem, text) })
		for _, text := range m.expected {
			if strings.Contains(problem, text) {
				occurred[text], permitted = true, true
			}
		}
		if !permitted {
			fail(problem)
		}
	}
	for _, text := range m.expected {
		if !occurred[text] {
			fail("expected problem did not occur: " + text)
		}
	}
}

// bytesLoaded returns the number of bytes received over the network during act.
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

// reset discards the problems so far, and those that are expected.
func (m *monitor) reset() {
	m.Lock()
	defer m.Unlock()
	m.problems, m.expected = nil, nil
}
