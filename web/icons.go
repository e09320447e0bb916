package web

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed icons/*.svg
var drawings embed.FS

// Icons are the small drawings that stand beside words, by name, as markup for a page:
// 20 by 20, in strokes of the color of the text around them, without a name of
// their own for those who listen; whoever shows one alone labels what is around it.
func Icons() (map[string]string, error) {
	names, err := fs.Glob(drawings, "icons/*.svg")
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
			return nil, fmt.Errorf("%s is no drawing", name)
		}
		// The style has the strokes' width: a page with fifty rows says it once.
		icons[strings.TrimSuffix(path.Base(name), ".svg")] = `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">` + strokes + `</svg>`
	}
	return icons, nil
}
