package guides

import (
	"bytes"
	"html/template"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Heading is a section heading of a guide.
type Heading struct {
	ID   string // anchor on the guide's page
	Text string
}

// Page is a guide as HTML.
type Page struct {
	Guide
	Body     template.HTML // without the title
	Headings []Heading     // of the sections
}

// section is a part of a guide below one heading, as plain text.
type section struct {
	guide   Guide
	heading Heading // empty for the text before the first heading
	text    string
}

// rendered contains all guides as pages, and their sections for Search.
type rendered struct {
	pages    map[string]Page
	sections []section
}

var render = sync.OnceValue(renderAll)

// Render returns the guide as HTML. Its links lead to the pages of guides.
func (g Guide) Render() Page { return render().pages[g.Topic] }

func renderAll() rendered {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	all := rendered{pages: make(map[string]Page)}
	for _, g := range list {
		source := []byte(g.Markdown())
		document := markdown.Parser().Parse(text.NewReader(source))
		if title := document.FirstChild(); title != nil && title.Kind() == ast.KindHeading {
			document.RemoveChild(document, title) // the page has its own
		}
		page := Page{Guide: g}
		sections := splitSections(g, document, source)
		for _, s := range sections {
			if s.heading.ID != "" {
				page.Headings = append(page.Headings, s.heading)
			}
		}
		rewriteLinks(document)
		var b bytes.Buffer
		if err := markdown.Renderer().Render(&b, source, document); err != nil {
			panic(err) // not reached: a test renders every guide
		}
		page.Body = template.HTML(scrollable.Replace(b.String())) // #nosec G203 -- embedded files, not user input
		all.pages[g.Topic] = page
		all.sections = append(all.sections, sections...)
	}
	return all
}

// scrollable lets users of a keyboard scroll tables and code blocks that are wider than the window.
var scrollable = strings.NewReplacer(
	"<table>", `<div class="table-wrap" tabindex="0"><table class="list">`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`)

// rewriteLinks replaces links to files by addresses of pages.
func rewriteLinks(document ast.Node) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			topic, anchor, _ := strings.Cut(string(n.Destination), "#")
			if name, isGuide := strings.CutSuffix(topic, ".md"); isGuide {
				n.Destination = []byte("/help/" + name)
				if anchor != "" {
					n.Destination = append(n.Destination, "#"+anchor...)
				}
			}
		case *ast.Image:
			n.Destination = append([]byte("/help/"), n.Destination...)
			n.SetAttributeString("loading", "lazy")
		}
		return ast.WalkContinue, nil
	})
}

// splitSections returns the plain text of a guide by section.
func splitSections(g Guide, document ast.Node, source []byte) []section {
	list := []section{{guide: g}}
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			id, _ := h.AttributeString("id")
			anchor, _ := id.([]byte)
			list = append(list, section{guide: g, heading: Heading{ID: string(anchor), Text: plainText(h, source)}})
			continue
		}
		last := &list[len(list)-1]
		last.text = strings.TrimSpace(last.text + " " + plainText(n, source))
	}
	return list
}

// plainText returns the text of a node without markup, with single spaces.
func plainText(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Image:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(source))
				}
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
