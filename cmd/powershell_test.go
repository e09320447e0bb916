package cmd

import (
	"regexp"
	"strings"
	"testing"
)

// codeBlock is one block of a guide, with the language after its first fence.
type codeBlock struct{ language, text string }

func codeBlocks(text string) (list []codeBlock) {
	inside := false
	for line := range strings.Lines(text) {
		mark, is := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case is && inside:
			inside = false
		case is:
			inside, list = true, append(list, codeBlock{language: mark})
		case inside:
			list[len(list)-1].text += line
		}
	}
	return list
}

// What PowerShell doesn't have, or has as something else.
var (
	unixOnly  = regexp.MustCompile(`(?m)<<'END'|=\$\(|^(sed|printf|chmod|chown|cp|mv|mkdir|curl|systemctl|useradd|install|rm) `)
	notIn51   = regexp.MustCompile(`&&|\|\||(?m)(^|\| *)(curl|wget|cat|cp|mv|rm|ls|echo|sleep|sed|grep|export) `)
	hereBegin = regexp.MustCompile(`(?m)@['"]$`)
	hereEnd   = regexp.MustCompile(`(?m)^['"]@`)
)

// Where a guide's commands are for a Unix shell alone, those of Windows PowerShell 5.1
// follow; none of them has another meaning there. guides_contract_test.go parses them.
func TestGuidesForPowerShell(t *testing.T) {
	for _, name := range topicNames() {
		text, err := helpTopic(name)
		if err != nil {
			t.Fatalf("helpTopic: %v", err)
		}
		list := codeBlocks(text)
		for n, f := range list {
			switch {
			case strings.HasPrefix(f.language, "sh") && name != "integrating": // its requests are the same, in curl.exe
				if bad := unixOnly.FindString(f.text); bad != "" && (n+1 == len(list) || list[n+1].language != "powershell") && !strings.Contains(f.text, "/etc/systemd/system/deedkeep.service <<") {
					t.Errorf("%s: %q is for a Unix shell, and no block for PowerShell follows:\n%s", name, bad, f.text)
				}
			case f.language == "powershell":
				if bad := notIn51.FindString(f.text); bad != "" {
					t.Errorf("%s: PowerShell 5.1 has no %q, or takes it for something else:\n%s", name, bad, f.text)
				}
				if begin, end := len(hereBegin.FindAllString(f.text, -1)), len(hereEnd.FindAllString(f.text, -1)); begin != end {
					t.Errorf("%s: got %d beginnings and %d ends of here-strings\n%s", name, begin, end, f.text)
				}
			}
		}
	}
}

// The rules above find what they are for.
func TestRulesForPowerShell(t *testing.T) {
	for _, row := range []struct {
		rule *regexp.Regexp
		text string
		want bool
	}{
		{unixOnly, "cat > config.yaml <<'END'\n", true},
		{unixOnly, "KEY=$(deedkeep keys create x)\n", true},
		{unixOnly, "deedkeep verify\nchmod 600 x\n", true},
		{unixOnly, "deedkeep status\n", false},
		{notIn51, "curl -sf http://127.0.0.1\n", true},
		{notIn51, "deedkeep verify && deedkeep serve\n", true},
		{notIn51, "Get-Content x | grep y\n", true},
		{notIn51, "curl.exe -sS $V1\nGet-Content x | deedkeep backup drill --ask\n", false},
	} {
		if got := row.rule.MatchString(row.text); got != row.want {
			t.Errorf("%q: got %v, want %v", row.text, got, row.want)
		}
	}
}
