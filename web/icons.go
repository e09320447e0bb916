package web

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed static/icons/*.svg
var drawings embed.FS

// Icons returns the HTML markup of all icons by name. Icons are 20 by 20 pixels and have the color
// of the surrounding text. They have no accessible name: an icon without text next to it needs a
// label on its parent element.
func Icons() (map[string]string, error) {
	names, err := fs.Glob(drawings, "static/icons/*.svg")
	if err != nil {
		return nil, err
	}
	icons := map[string]string{}
	for _, name := range names {
		file, err := fs.ReadFile(drawings, name)
		if err != nil {
			return nil, err
		}
		_, rest, opened := strings.Cut(string(file), ">")
		strokes, _, closed := strings.Cut(rest, "</svg>")
		if !opened || !closed {
			return nil, fmt.Errorf("%s is not a valid icon", name)
		}
		// The stroke width is set in the style sheet to keep the markup short.
		id := strings.TrimSuffix(path.Base(name), ".svg")
		icons[id] = `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">` + strokes + `</svg>`
	}
	return icons, nil
}
