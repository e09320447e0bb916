package cmd

import (
	"regexp"
	"strings"
	"testing"
)

// codeBlock is a fenced code block of a guide.
type codeBlock struct{ language, text string }

// codeBlocks returns the fenced code blocks in a guide.
func codeBlocks(text string) (list []codeBlock) {
	inBlock := false
	for line := range strings.Lines(text) {
		fenceMark, ok := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case ok && inBlock:
			inBlock = false
		case ok:
			inBlock, list = true, append(list, codeBlock{language: fenceMark})
		case inBlock:
			list[len(list)-1].text += line
		}
	}
	return list
}

// These patterns match syntax and commands that Windows PowerShell lacks or interprets differently.
var (
	unixOnlyPattern   = regexp.MustCompile(`(?m)<<'END'|=\$\(|^(sed|printf|chmod|chown|cp|mv|mkdir|curl|systemctl|useradd|install|rm) `)
	notInPowerShell51 = regexp.MustCompile(`&&|\|\||(?m)(^|\| *)(curl|wget|cat|cp|mv|rm|ls|echo|sleep|sed|grep|export) `)
	hereStringStart   = regexp.MustCompile(`(?m)@['"]$`)
	hereStringEnd     = regexp.MustCompile(`(?m)^['"]@`)
)

// If a block in a guide works only in a Unix shell, the next block is for Windows PowerShell 5.1.
// That block doesn't contain commands with a different meaning in PowerShell.
// guides_contract_test.go parses these blocks.
func TestGuidesForPowerShell(t *testing.T) {
	for _, name := range topicNames() {
		text, err := helpTopic(name)
		if err != nil {
			t.Fatalf("read guide: %v", err)
		}
		list := codeBlocks(text)
		for i, block := range list {
			switch {
			case strings.HasPrefix(block.language, "sh") && name != "api": // its requests are the same with curl.exe
				unixOnly := unixOnlyPattern.FindString(block.text)
				translated := i+1 < len(list) && list[i+1].language == "powershell"
				if unixOnly != "" && !translated {
					t.Errorf("%s: %q is for a Unix shell, and no block for PowerShell follows:\n%s", name, unixOnly, block.text)
				}
			case block.language == "powershell":
				if bad := notInPowerShell51.FindString(block.text); bad != "" {
					t.Errorf("%s: %q does not exist in PowerShell 5.1, or means something else:\n%s", name, bad, block.text)
				}
				starts, ends := len(hereStringStart.FindAllString(block.text, -1)), len(hereStringEnd.FindAllString(block.text, -1))
				if starts != ends {
					t.Errorf("%s: got %d starts and %d ends of here-strings, want the same number\n%s", name, starts, ends, block.text)
				}
			}
		}
	}
}

// The patterns match syntax and commands that don't work in PowerShell.
func TestPowerShellPatterns(t *testing.T) {
	for _, row := range []struct {
		pattern *regexp.Regexp
		text    string
		want    bool
	}{
		{unixOnlyPattern, "cat > config.yaml <<'END'\n", true},
		{unixOnlyPattern, "KEY=$(deedkeep keys create x)\n", true},
		{unixOnlyPattern, "deedkeep verify\nchmod 600 x\n", true},
		{unixOnlyPattern, "deedkeep status\n", false},
		{notInPowerShell51, "curl -sf http://127.0.0.1\n", true},
		{notInPowerShell51, "deedkeep verify && deedkeep serve\n", true},
		{notInPowerShell51, "Get-Content x | grep y\n", true},
		{notInPowerShell51, "curl.exe -sS $V1\nGet-Content x | deedkeep backup drill --ask\n", false},
	} {
		t.Run(row.text, func(t *testing.T) {
			if got := row.pattern.MatchString(row.text); got != row.want {
				t.Errorf("%s matches %q: got %v, want %v", row.pattern, row.text, got, row.want)
			}
		})
	}
}
