package guides

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Every Markdown file is a guide with the listed title, and every screenshot is used.
func TestFilesAreGuides(t *testing.T) {
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) != len(List()) {
		t.Errorf("got %d files for %d guides, %v", len(names), len(List()), err)
	}
	var all strings.Builder
	for _, g := range List() {
		markdown := g.Markdown()
		all.WriteString(markdown)
		if !strings.HasPrefix(markdown, "# "+g.Title+"\n\n") {
			t.Errorf("%s.md doesn't start with its title %q", g.Topic, g.Title)
		}
		if found, ok := Find(g.Topic); !ok || found != g {
			t.Errorf("Find(%q) = %v, %v, want the guide", g.Topic, found, ok)
		}
	}
	shown := regexp.MustCompile(`!\[[^\]]+\]\(screenshots/([^)]+)\)`).FindAllStringSubmatch(all.String(), -1)
	entries, err := os.ReadDir("screenshots")
	if err != nil || len(entries) != len(shown) || len(shown) == 0 {
		t.Errorf("got %d screenshots, %v, and %d images in guides, want the same number", len(entries), err, len(shown))
	}
	for _, m := range shown {
		if _, err := Screenshot(m[1]); err != nil {
			t.Errorf("Screenshot(%q): %v", m[1], err)
		}
	}
	for _, name := range []string{"none.png", "../install.md", "", "."} {
		if _, err := Screenshot(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Screenshot(%q) = %v, want fs.ErrNotExist", name, err)
		}
	}
}

// Links between guides lead to guides and headings that exist.
func TestLinksLeadToHeadings(t *testing.T) {
	anchors := map[string]bool{}
	for _, g := range List() {
		anchors[g.Path()] = true
		for _, h := range g.Render().Headings {
			if h.ID == "" || h.Text == "" || anchors[g.Path()+"#"+h.ID] {
				t.Errorf("%s: heading %+v, want an ID of its own", g.Topic, h)
			}
			anchors[g.Path()+"#"+h.ID] = true
		}
	}
	for _, g := range List() {
		for _, m := range regexp.MustCompile(`<h3 id="([^"]+)"`).FindAllStringSubmatch(string(g.Render().Body), -1) {
			anchors[g.Path()+"#"+m[1]] = true
		}
	}
	for _, g := range List() {
		body := string(g.Render().Body)
		if len(g.Render().Headings) < 3 || strings.Contains(body, "<h1") || strings.Contains(body, "<!--") {
			t.Errorf("%s: want at least 3 headings below the title, and no raw HTML", g.Topic)
		}
		for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			if !anchors[m[1]] {
				t.Errorf("%s links to %s, which doesn't exist", g.Topic, m[1])
			}
		}
	}
}

func TestTerminal(t *testing.T) {
	for _, g := range List() {
		shown := g.Terminal()
		if strings.Contains(shown, "](") || strings.Contains(shown, "![") {
			t.Errorf("%s: the text for terminals contains links or images", g.Topic)
		}
	}
	install, _ := Find("install")
	shown := strings.Join(strings.Fields(install.Terminal()), " ")
	if !strings.Contains(shown, `Your own certificate ("deedkeep help security")`) {
		t.Error("install: links to guides aren't their text and a command")
	}
}

// The text for terminals has every word of every guide, in sequence, also that of links. Only images are left out.
func TestTerminalIsComplete(t *testing.T) {
	const maxGap = 100 // bytes between two words: markup, or the command after a link
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()
	for _, g := range List() {
		source := []byte(g.Markdown())
		document := markdown.Parse(text.NewReader(source))
		rest := g.Terminal()
		isMarkup := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		for _, word := range strings.FieldsFunc(plainText(document, source), isMarkup) {
			i := strings.Index(rest[:min(len(rest), maxGap+len(word))], word)
			if i < 0 {
				t.Fatalf("%s: %q is missing before %.200q", g.Topic, word, rest)
			}
			rest = rest[i+len(word):]
		}
	}
}

func TestSearch(t *testing.T) {
	tests := []struct{ query, path string }{
		{"restore a backup", "/help/backups"},
		{"verification code", "/help/working#sign-in"},
		{"PROMETHEUS", "/help/monitoring"},
		{"keyboard", "/help/working#read-with-the-keyboard"},
		{"nginx", "/help/proxy#nginx"},
		{"X-Error-Code", "/help/api#errors"},
		{"self_signed", "/help/install#6-set-up-https"},
		{"gap in the chain", "/help/titlework#gaps-in-the-chain-of-title"},
		{"Starter", "/help/glossary#title-work"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			hits := Search(tt.query)
			found := false
			for _, hit := range hits {
				found = found || strings.HasPrefix(hit.Path, tt.path)
				marked := 0
				for _, part := range hit.Snippet {
					if part.Marked {
						marked++
					}
				}
				inTitle := strings.Contains(strings.ToLower(hit.Guide.Title+" "+hit.Heading), strings.Fields(strings.ToLower(tt.query))[0])
				if marked == 0 && !inTitle {
					t.Errorf("%s: no word is marked in %v", hit.Path, hit.Snippet)
				}
			}
			if !found || len(hits) > maxHits {
				t.Errorf("Search(%q) = %d hits without %s", tt.query, len(hits), tt.path)
			}
		})
	}
	for _, query := range []string{"", "  ", "quillfeather-nowhere", "backup quillfeather-nowhere"} {
		if hits := Search(query); len(hits) > 0 {
			t.Errorf("Search(%q) = %v, want none", query, hits)
		}
	}
}

// Snippets are cut between words and characters, whatever the text is.
func FuzzSnippet(f *testing.F) {
	f.Add("The server reads every document.", "every")
	f.Add(strings.Repeat("ä ", 300)+"İ x", "x")
	f.Fuzz(func(t *testing.T, text, word string) {
		text = strings.ToValidUTF8(text, "")
		for _, part := range snippet(text, strings.Fields(strings.ToLower(word))) {
			if part.Text != strings.ToValidUTF8(part.Text, "") {
				t.Errorf("snippet(%q, %q) has invalid UTF-8: %q", text, word, part.Text)
			}
		}
	})
}
