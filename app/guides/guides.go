// Package guides contains the guides for the people who use deedkeep and run its server. Each guide
// is a Markdown file. The package returns its text for terminals, its HTML for pages, and searches
// all guides.
//
// The guides link to each other by file name, so they can also be read in the repository.
package guides

import (
	"embed"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed *.md screenshots/*.png
var files embed.FS

// Audience is a group of guides.
type Audience string

// The audiences, in the sequence of List.
const (
	Staff          Audience = "For everyone"
	Owner          Audience = "For the owner"
	Administrators Audience = "For administrators"
	Developers     Audience = "For developers"
)

// Guide is a guide without its text.
type Guide struct {
	Topic    string // name in commands and addresses, and of its file
	Title    string // first heading of its file
	Summary  string // what the guide covers
	Audience Audience
}

// Path returns the address of the guide's page.
func (g Guide) Path() string { return "/help/" + g.Topic }

// list contains the guides in the sequence in which people need them.
var list = []Guide{
	{"working", "Working with deedkeep", "Signing in, orders, documents, reading, trash, and printing", Staff},
	{"titlework", "Title work", "One file from the order to the certificate: runsheet, releases, names run, bring-down", Staff},
	{"search", "Search guide", "What you can type and what it finds", Staff},
	{"glossary", "Glossary", "The words of the trade, and those of deedkeep", Staff},
	{"owner", "Guide for owners", "NPI, who can read what, ALTA Best Practices pillar 3", Owner},
	{"leaving", "Leave deedkeep", "Export records, documents, and the audit log", Owner},
	{"install", "Install deedkeep", "Sizing, first start, importing documents, service, HTTPS, colleagues", Administrators},
	{"example", "Example firm", "A firm with invented records to try deedkeep with, and how to start with your own", Administrators},
	{"customize", "Customize deedkeep", "Templates, document types, party labels, county patterns", Administrators},
	{"security", "Security", "Certificates, user accounts and roles, API keys, audit log", Administrators},
	{"proxy", "Reverse proxy", "nginx, Caddy, or IIS in front of the server", Administrators},
	{"backups", "Backups", "Scheduling, restore tests, encryption, restoring", Administrators},
	{"monitoring", "Monitoring", "Health checks, metrics, and alert rules", Administrators},
	{"troubleshooting", "Troubleshooting", "Symptoms, causes, and commands", Administrators},
	{"upgrade", "Upgrade deedkeep", "New versions, rollback, moving to another computer", Administrators},
	{"performance", "Performance", "Benchmark results and how to reproduce them", Administrators},
	{"api", "API guide", "Requests, uploads, retries, pagination, search, errors", Developers},
}

// oldTopics maps earlier names of guides to the current ones.
var oldTopics = map[string]string{"installing": "install", "integrating": "api", "searching": "search", "upgrading": "upgrade"}

// List returns all guides, grouped by audience.
func List() []Guide { return slices.Clone(list) }

// Find returns the guide with the given topic. It also accepts the topic's earlier name.
func Find(topic string) (Guide, bool) {
	if current, ok := oldTopics[topic]; ok {
		topic = current
	}
	i := slices.IndexFunc(list, func(g Guide) bool { return g.Topic == topic })
	if i < 0 {
		return Guide{}, false
	}
	return list[i], true
}

// Markdown returns the text of the guide's file.
func (g Guide) Markdown() string {
	text, err := files.ReadFile(g.Topic + ".md")
	if err != nil {
		panic(err) // not reached: a test reads every guide
	}
	return string(text)
}

// Screenshot returns a PNG file that a guide shows, or fs.ErrNotExist.
func Screenshot(name string) ([]byte, error) {
	if path.Base(name) != name || path.Ext(name) != ".png" {
		return nil, fs.ErrNotExist
	}
	return files.ReadFile(path.Join("screenshots", name))
}

var (
	imageLine = regexp.MustCompile(`(?m)^!\[[^\]]*\]\([^)]*\)\n\n?`)
	guideLink = regexp.MustCompile(`\[([^\[\]]+)\]\(([a-z]+)\.md(?:#[^)]*)?\)`)
)

// terminalWidth is the maximum length of a line for a terminal, without code and tables.
const terminalWidth = 90

// Terminal returns the guide's text for a terminal: without screenshots, and with the command after the
// text of a link. Lines that become too long are wrapped.
func (g Guide) Terminal() string {
	text := guideLink.ReplaceAllString(imageLine.ReplaceAllString(g.Markdown(), ""), `$1 ("deedkeep help $2")`)
	lines := strings.Split(text, "\n")
	fenced := false
	for n := 0; n < len(lines); n++ {
		line := lines[n]
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "|") || utf8.RuneCountInString(line) <= terminalWidth {
			continue
		}
		end := len(string([]rune(line)[:terminalWidth+1]))
		end = strings.LastIndexByte(line[:end], ' ')
		indent := len(line) - len(strings.TrimLeft(line, " -0123456789."))
		if end <= indent {
			continue // one long word
		}
		rest := strings.Repeat(" ", indent) + line[end+1:]
		lines[n] = line[:end]
		if next := n + 1; next < len(lines) && continues(lines[next]) {
			lines[next] = rest + " " + strings.TrimLeft(lines[next], " ")
		} else {
			lines = slices.Insert(lines, next, rest)
		}
	}
	return strings.Join(lines, "\n")
}

// newBlock matches the start of a line that doesn't continue a paragraph.
var newBlock = regexp.MustCompile(`^\s*(?:$|[-|#]|\d+\.|` + "```)")

// continues reports whether a line belongs to the paragraph of the line before it.
func continues(line string) bool { return !newBlock.MatchString(line) }
