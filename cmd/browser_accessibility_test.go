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

// axeScript is what looks for barriers in a page: npm's axe-core, as it was locked.
var axeScript = sync.OnceValues(func() ([]byte, error) { return os.ReadFile("../web/node_modules/axe-core/axe.min.js") })

// violation is a violation that axe found, and where.
type violation struct {
	ID, Help string
	Nodes    []struct {
		Target         []any
		FailureSummary string
	}
}

func (v violation) String() string {
	var where []string
	for _, n := range v.Nodes {
		where = append(where, fmt.Sprintf("    %v: %s", n.Target, strings.Join(strings.Fields(n.FailureSummary), " ")))
	}
	return fmt.Sprintf("%s: %s\n%s", v.ID, v.Help, strings.Join(where, "\n"))
}

// violations has every rule of axe that is on by default looked at, best practices too, and
// how large what is clicked is (WCAG 2.2, 2.5.8).
func (b *tab) violations() []violation {
	b.t.Helper()
	script, err := axeScript()
	if err != nil {
		b.t.Fatalf("axe-core is missing: run \"go generate ./...\": %v", err)
	}
	// What the debugger evaluates is not subject to the page's policy.
	if !eval[bool](b, "!!window.axe") {
		eval[bool](b, string(script)+"; true")
	}
	return eval[[]violation](b, `axe.run(document, {resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then(r => r.violations.map(v =>
		({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({Target: n.target, FailureSummary: n.failureSummary}))})))`)
}

// checkAccessible fails for each barrier in the page but those of the rules that are named.
func (b *tab) checkAccessible(t *testing.T, page string, but ...string) {
	t.Helper()
	for _, v := range b.violations() {
		if !slices.Contains(but, v.ID) {
			t.Errorf("%s: %s", page, v)
		}
	}
}
