package web

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// Every icon is well-formed, carries no style, script or address of its own (the
// policy of pages would refuse them), and no name.
func TestIcons(t *testing.T) {
	t.Parallel()
	icons, err := Icons()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(drawings, "icons/*.svg")
	if err != nil || len(files) != len(icons) || len(icons) < 40 {
		t.Fatalf("%d icons of %d files, %v", len(icons), len(files), err)
	}
	for name, markup := range icons {
		t.Run(name, func(t *testing.T) {
			if !strings.HasPrefix(markup, `<svg class="icon" `) || len(markup) > 600 {
				t.Errorf("%d bytes: %s", len(markup), markup)
			}
			shapes, in := 0, xml.NewDecoder(strings.NewReader(markup))
			for {
				token, err := in.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				start, ok := token.(xml.StartElement)
				if !ok || start.Name.Local == "svg" {
					continue
				}
				if start.Name.Local != "path" && start.Name.Local != "circle" && start.Name.Local != "ellipse" {
					t.Errorf("<%s>", start.Name.Local)
				}
				shapes++
				for _, attribute := range start.Attr {
					if attribute.Name.Local == "style" || strings.Contains(attribute.Value, ":") {
						t.Errorf("%s=%q", attribute.Name.Local, attribute.Value)
					}
				}
			}
			if shapes == 0 {
				t.Error("nothing is drawn")
			}
		})
	}
}
