//go:build contract

package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// The PowerShell blocks in the guides can be parsed and use only known commands. The test
// doesn't run them, because that would require Windows. Run it with: go test -tags contract
// ./cmd
func TestGuidesParseAsPowerShell(t *testing.T) {
	if _, err := os.Stat("../.ci/tools/node_modules/web-tree-sitter"); err != nil {
		t.Fatalf(`find web-tree-sitter (run "npm ci" in .ci/tools): %v`, err)
	}
	scripts := []string{"Get-Item (", "@'\nnever closed\n"} // invalid scripts, to test the parser
	for _, name := range topicNames() {
		text, err := helpTopic(name)
		if err != nil {
			t.Fatalf("read help topic: %v", err)
		}
		for _, f := range codeBlocks(text) {
			if f.language == "powershell" {
				scripts = append(scripts, f.text)
			}
		}
	}
	in, err := json.Marshal(scripts)
	if err != nil {
		t.Fatalf("encode scripts: %v", err)
	}
	// Without --liftoff-only, Node.js optimizes the compiled parser for minutes before it
	// exits.
	parser := exec.CommandContext(t.Context(), "node", "--liftoff-only", "../.ci/tools/powershell.mjs")
	parser.Stdin, parser.Stderr = bytes.NewReader(in), os.Stderr
	out, err := parser.Output()
	if err != nil {
		t.Fatalf("run parser: %v", err)
	}
	var results []struct{ Problems, Commands []string }
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(scripts) || len(scripts) < 12 {
		t.Fatalf("decode results: got %d results for %d scripts, %v, want one for each of at least 12", len(results), len(scripts), err)
	}
	known := []string{
		"Add-Content", "ConvertFrom-Json", "Copy-Item", "Get-Content", "Import-Module", "Invoke-RestMethod", "Move-Item", "New-Item",
		"New-NetFirewallRule", "Select-String", "Set-Content", "Set-WebConfigurationProperty", "curl.exe", "deedkeep", "deedkeep-old",
		"icacls", "setx",
	}
	for n, got := range results {
		if invalid := n < 2; invalid != (len(got.Problems) > 0) {
			t.Errorf("got problems %q, want problems: %v, in\n%s", got.Problems, invalid, scripts[n])
		}
		for _, command := range got.Commands {
			if n >= 2 && !slices.Contains(known, command) {
				t.Errorf("got command %q, want one of Windows PowerShell 5.1 or deedkeep in\n%s", command, scripts[n])
			}
		}
	}
}
