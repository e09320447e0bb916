package web

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// Every icon must be well-formed SVG without a title. It must not contain styles, scripts, or
// addresses, which the Content-Security-Policy of pages blocks.
func TestIcons(t *testing.T) {
	t.Parallel()
	icons, err := Icons()
	if err != nil {
		t.Fatalf("Icons: %v", err)
	}
	files, err := fs.Glob(drawings, "static/icons/*.svg")
	if err != nil || len(files) != len(icons) || len(icons) < 40 {
		t.Fatalf("Icons returned %d icons of %d files, %v, want at least 40 and one per file", len(icons), len(files), err)
	}
	for name, markup := range icons {
		t.Run(name, func(t *testing.T) {
			if !strings.HasPrefix(markup, `<svg class="icon" `) || len(markup) > 600 {
				t.Errorf("markup has %d bytes, want at most 600 and the class icon: %s", len(markup), markup)
			}
			shapes, in := 0, xml.NewDecoder(strings.NewReader(markup))
			for {
				token, err := in.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("parse the markup: %v", err)
				}
				start, ok := token.(xml.StartElement)
				if !ok || start.Name.Local == "svg" {
					continue
				}
				if start.Name.Local != "path" && start.Name.Local != "circle" && start.Name.Local != "ellipse" {
					t.Errorf("unexpected element <%s>", start.Name.Local)
				}
				shapes++
				for _, attribute := range start.Attr {
					if attribute.Name.Local == "style" || strings.Contains(attribute.Value, ":") {
						t.Errorf("unexpected attribute %s=%q", attribute.Name.Local, attribute.Value)
					}
				}
			}
			if shapes == 0 {
				t.Error("the icon has no shape")
			}
		})
	}
}
