package app

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	changelogVersion = regexp.MustCompile(`^## \[([0-9]+\.[0-9]+\.[0-9]+)\] - 20[0-9]{2}-[01][0-9]-[0-3][0-9]$`)
	changelogKinds   = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
)

// checkChangelog returns a sentence for each line that violates the format of Keep a Changelog, and
// one if there is no section for the newest tag. tag is "" before the first release.
func checkChangelog(text, tag string) (problems []string) {
	var sections []string
	for n, line := range strings.Split(text, "\n") {
		if kind, is := strings.CutPrefix(line, "### "); is && !slices.Contains(changelogKinds, kind) {
			problems = append(problems, fmt.Sprintf("line %d: %q is not one of %s", n+1, kind, strings.Join(changelogKinds, ", ")))
		}
		if !strings.HasPrefix(line, "## ") {
			continue
		}
		version := changelogVersion.FindStringSubmatch(line)
		switch {
		case len(sections) == 0 && line != "## [Unreleased]":
			problems = append(problems, fmt.Sprintf("line %d: got %q, want ## [Unreleased] first", n+1, line))
		case len(sections) > 0 && version == nil:
			problems = append(problems, fmt.Sprintf("line %d: got %q, want one like ## [1.4.0] - 2026-11-22", n+1, line))
		}
		if version == nil {
			version = []string{"", ""}
		}
		sections = append(sections, version[1])
	}
	if len(sections) == 0 {
		problems = append(problems, "it has no section")
	}
	if tag != "" && !slices.Contains(sections, strings.TrimPrefix(tag, "v")) {
		problems = append(problems, "the newest tag "+tag+" has no section")
	}
	return problems
}

func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("../.github/CHANGELOG.md")
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	// git describe fails if there is no tag yet. If there is no repository, TestTree fails.
	tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*").Output()
	if err != nil {
		tag = nil
	}
	for _, sentence := range checkChangelog(string(text), strings.TrimSpace(string(tag))) {
		t.Errorf(".github/CHANGELOG.md: %s", sentence)
	}
}

func TestCheckChangelog(t *testing.T) {
	const good = "# Changelog\n\n## [Unreleased]\n\n## [1.4.0] - 2026-11-22\n\n### Added\n\n- A thing.\n"
	for _, row := range []struct{ name, text, tag, want string }{
		{"good", good, "v1.4.0", ""},
		{"no tag yet", "## [Unreleased]\n", "", ""},
		{"a tag without a section", good, "v1.5.0", "the newest tag v1.5.0 has no section"},
		{"nothing unreleased", "## [1.4.0] - 2026-11-22\n", "v1.4.0", "want ## [Unreleased] first"},
		{"no date", "## [Unreleased]\n## [1.4.0]\n", "", "want one like"},
		{"unknown kind", good + "### Improved\n", "", `"Improved" is not one of Added`},
		{"empty", "", "", "no section"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := strings.Join(checkChangelog(row.text, row.tag), "; ")
			if row.want == "" && got != "" || !strings.Contains(got, row.want) {
				t.Errorf("checkChangelog() = %q, want %q", got, row.want)
			}
		})
	}
}
