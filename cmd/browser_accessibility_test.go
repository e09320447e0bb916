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
func (b *tab) violations() []violation {
	b.t.Helper()
	script, err := axeScript()
	if err != nil {
		b.t.Fatalf("axe-core is missing: run \"go generate ./...\": %v", err)
	}
	// The Content-Security-Policy of the page doesn't apply to scripts injected through the
	// DevTools protocol.
	if !eval[bool](b, "!!window.axe") {
		eval[bool](b, string(script)+"; true")
	}
	return eval[[]violation](b, `axe.run(document, {resultTypes: ["violations"], rules: {"target-size": {enabled: true}}})
		.then(r => r.violations.map(v =>
			({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({Target: n.target, FailureSummary: n.failureSummary}))})))`)
}

// checkAccessible reports a test error for each accessibility violation on the page, except
// violations of the ignored rules.
func (b *tab) checkAccessible(t *testing.T, page string, ignored ...string) {
	t.Helper()
	for _, v := range b.violations() {
		if !slices.Contains(ignored, v.ID) {
			t.Errorf("%s: %s", page, v)
		}
	}
}
