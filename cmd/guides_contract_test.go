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

// The blocks for PowerShell are such, by a parser: go test -tags contract ./cmd. They are
// not run; Windows PowerShell runs on Windows alone.
func TestGuidesParseAsPowerShell(t *testing.T) {
	if _, err := os.Stat("../.ci/tools/node_modules/web-tree-sitter"); err != nil {
		t.Fatalf(`run "npm ci" in .ci/tools: %v`, err)
	}
	scripts := []string{"Get-Item (", "@'\nnever closed\n"} // which are none
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
		t.Fatalf("encode JSON: %v", err)
	}
	// Without the flag, node spends minutes on compiling the parser better before it ends.
	parser := exec.CommandContext(t.Context(), "node", "--liftoff-only", "../.ci/tools/powershell.mjs")
	parser.Stdin, parser.Stderr = bytes.NewReader(in), os.Stderr
	out, err := parser.Output()
	if err != nil {
		t.Fatalf("run parser: %v", err)
	}
	var results []struct{ Problems, Commands []string }
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(scripts) || len(scripts) < 12 {
		t.Fatalf("%v: got %d results for %d scripts", err, len(results), len(scripts))
	}
	known := []string{
		"Add-Content", "Clear-Content", "Copy-Item", "Disable-ScheduledTask", "Enable-ScheduledTask", "Get-Content", "Get-Credential", "Get-Date",
		"Import-Module", "Invoke-RestMethod", "Move-Item", "New-Item", "New-LocalUser", "New-ScheduledTaskAction", "New-ScheduledTaskSettingsSet",
		"New-ScheduledTaskTrigger", "New-TimeSpan", "Register-ScheduledTask", "Select-String", "Set-Content", "Set-WebConfigurationProperty",
		"Start-ScheduledTask", "Stop-Process", "Stop-ScheduledTask", "curl.exe", "deedkeep", "deedkeep-old", "icacls",
	}
	for n, got := range results {
		if wrong := n < 2; wrong != (len(got.Problems) > 0) {
			t.Errorf("got the problems %q in\n%s", got.Problems, scripts[n])
		}
		for _, command := range got.Commands {
			if n >= 2 && !slices.Contains(known, command) {
				t.Errorf("got the command %q, want one of Windows PowerShell 5.1 or ours in\n%s", command, scripts[n])
			}
		}
	}
}
