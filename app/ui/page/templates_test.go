package page

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"deedkeep/web"
)

// Pages are parsed only when they are first shown. This test parses all of them.
func TestAllPagesParse(t *testing.T) {
	assets, err := web.OpenAssets()
	if err != nil {
		t.Fatalf("open the assets: %v", err)
	}
	set, err := newTemplates(web.Pages(), (&Site{Assets: assets}).templateFuncs())
	if err != nil {
		t.Fatalf("parse the layout and the parts: %v", err)
	}
	names, err := fs.Glob(web.Pages(), "*.html")
	if err != nil || len(names) < 40 {
		t.Fatalf("list the pages: got %d, %v, want at least 40", len(names), err)
	}
	for _, name := range names {
		if name == "layout.html" || strings.HasPrefix(name, "part-") {
			continue
		}
		if _, err := set.page(name); err != nil {
			t.Errorf("parse %s: %v", name, err)
		}
	}
}

func TestInvalidPages(t *testing.T) {
	set, err := newTemplates(fstest.MapFS{
		"layout.html":  {Data: []byte(`{{block "body" .}}{{end}}`)},
		"part-a.html":  {Data: []byte(`{{define "a"}}{{end}}`)},
		"good.html":    {Data: []byte(`{{define "main"}}{{template "a"}}{{end}}`)},
		"nomain.html":  {Data: []byte(`{{define "other"}}{{end}}`)},
		"invalid.html": {Data: []byte(`{{define "main"}}`)},
	}, nil)
	if err != nil {
		t.Fatalf("parse the layout and the parts: %v", err)
	}
	for name, want := range map[string]string{
		"good.html": "", "nomain.html": `doesn't define "main"`, "invalid.html": "unexpected EOF", "missing.html": "matches no files",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := set.page(name)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("page(%q) = %v, want an error with %q", name, err, want)
			}
		})
	}
}
