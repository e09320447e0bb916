//go:build browser

package cmd_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// axeScript returns the source of axe-core, which checks a page for accessibility
// violations.
var axeScript = sync.OnceValues(func() ([]byte, error) { return os.ReadFile("../web/node_modules/axe-core/axe.min.js") })

// violation is a violation of an axe-core rule and the elements that violate it.
type violation struct {
	ID, Help string
	Nodes    []struct {
		Target         []any
		FailureSummary string
	}
}

func (v violation) String() string {
	var nodes []string
	for _, n := range v.Nodes {
		nodes = append(nodes, fmt.Sprintf("    %v: %s", n.Target, strings.Join(strings.Fields(n.FailureSummary), " ")))
	}
	return fmt.Sprintf("%s: %s\n%s", v.ID, v.Help, strings.Join(nodes, "\n"))
}

// violations checks the page with all axe-core rules that are enabled by default, including
// best practices, and with the rule for the minimum target size (WCAG 2.2, 2.5.8).
func (ta *tab) violations() []violation { return ta.runAxe(`rules: {"target-size": {enabled: true}}`) }

// colorViolations checks only the colors. It is for a page that was checked in the other theme,
// which differs in nothing else.
func (ta *tab) colorViolations() []violation {
	return ta.runAxe(`runOnly: ["color-contrast", "link-in-text-block"]`)
}

// runAxe runs axe-core with the given options, in JavaScript.
func (ta *tab) runAxe(options string) []violation {
	ta.t.Helper()
	script, err := axeScript()
	if err != nil {
		ta.t.Fatalf("axe-core is missing: run \"go generate ./...\": %v", err)
	}
	// The Content-Security-Policy of the page doesn't apply to scripts injected through the
	// DevTools protocol.
	if !eval[bool](ta, "!!window.axe") {
		eval[bool](ta, string(script)+"; true")
	}
	return eval[[]violation](ta, `axe.run(document, {resultTypes: ["violations"], `+options+`})
		.then(r => r.violations.map(v =>
			({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({Target: n.target, FailureSummary: n.failureSummary}))})))`)
}

// checkAccessible reports a test error for each accessibility violation on the page, except
// violations of the ignored rules.
func (ta *tab) checkAccessible(t *testing.T, page string, ignored ...string) {
	t.Helper()
	reportViolations(t, page, ta.violations(), ignored...)
}

// checkColors is like checkAccessible for a page whose theme was changed.
func (ta *tab) checkColors(t *testing.T, page string) {
	t.Helper()
	reportViolations(t, page, ta.colorViolations())
}

func reportViolations(t *testing.T, page string, list []violation, ignored ...string) {
	t.Helper()
	for _, v := range list {
		if !slices.Contains(ignored, v.ID) {
			t.Errorf("%s: %s", page, v)
		}
	}
}
