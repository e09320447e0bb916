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

// monitor records problems with a page: console errors, exceptions, violations of its
// Content-Security-Policy, dialogs, and requests to other origins.
type monitor struct {
	sync.Mutex
	origin   string
	problems []string
	expected []string // texts of problems that must occur
	allowed  []string // texts of problems that may occur
	received float64  // bytes received over the network
}

// handle records the problem reported by a browser event, if any.
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
		m.addProblem("dialog: %s %s at %s", e.Type, e.Message, strings.ReplaceAll(e.URL, "/", " ")) // not a text that tests allow
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

// isOwnURL reports whether a URL belongs to the server's origin or doesn't cause a network
// request.
func (m *monitor) isOwnURL(url string) bool {
	for _, prefix := range []string{m.origin + "/", "data:", "blob:" + m.origin + "/", "about:", "chrome-extension://", "chrome://"} {
		if strings.HasPrefix(url, prefix) {
			return true
		}
	}
	return false
}

// addProblem records a problem. The caller must hold m's lock.
func (m *monitor) addProblem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

// expect allows problems that contain text. At least one such problem must occur.
func (m *monitor) expect(text string) {
	m.Lock()
	defer m.Unlock()
	m.expected = append(m.expected, text)
}

// allow allows problems that contain any of the texts.
func (m *monitor) allow(texts ...string) {
	m.Lock()
	defer m.Unlock()
	m.allowed = append(m.allowed, texts...)
}

// problemText returns the problems recorded so far, one per line.
func (m *monitor) problemText() string {
	m.Lock()
	defer m.Unlock()
	return strings.Join(m.problems, "\n")
}

// check calls fail for each problem that was neither expected nor allowed, and for each
// expected problem that didn't occur.
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

// bytesLoaded calls act and returns the number of bytes received over the network until all
// resources of the page are loaded.
func (ta *tab) bytesLoaded(act func()) float64 {
	ta.Lock()
	ta.received = 0
	ta.Unlock()
	act()
	ta.waitFor(`performance.getEntriesByType("resource").every(e => e.responseEnd > 0)`)
	ta.Lock()
	defer ta.Unlock()
	return ta.received
}

// reset discards the problems recorded so far and the expected problems.
func (m *monitor) reset() {
	m.Lock()
	defer m.Unlock()
	m.problems, m.expected = nil, nil
}
