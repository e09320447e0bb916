package page

import (
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"reflect"
	"sync"
)

// Page is what a handler shows.
type Page struct {
	Heading string   // of the browser's tab, and the page's own
	Section string   // the place in the navigation: desk, abstracts, orders, vault, trash, admin, me
	Data    any      // what the page's templates work with
	Scripts []string // assets besides those of every page
	Styles  []string
}

// pageData is what the layout works with.
type pageData struct {
	Page
	Me       Visitor
	Path     string    // the address without its query
	Here     string    // the address, to come back to
	Query    string    // what stands in the box for finding
	Notice   string    // what the last action came to
	Undo     undoForm  // takes that back
	Warnings []Warning // what administrators must see to
}

// templates holds the parsed pages by file name. A page is parsed when it is first shown: most
// processes show few pages, and parsing all takes longer than the rest of a server's start.
type templates struct {
	files  fs.FS
	common *template.Template // the layout and the parts, which each page's set is a clone of

	mu   sync.Mutex
	sets map[string]*template.Template // the pages shown so far
}

// newTemplates parses layout.html and every part_*.html.
func newTemplates(files fs.FS, functions template.FuncMap) (*templates, error) {
	common, err := template.New("layout.html").Funcs(functions).ParseFS(files, "layout.html", "part_*.html")
	if err != nil {
		return nil, err
	}
	return &templates{files: files, common: common, sets: make(map[string]*template.Template)}, nil
}

// page returns the set of a page's file: the layout, the parts, and the page.
func (t *templates) page(name string) (*template.Template, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if set := t.sets[name]; set != nil {
		return set, nil
	}
	own, err := t.common.Clone()
	if err != nil {
		return nil, err
	}
	set, err := own.ParseFS(t.files, name)
	if err != nil {
		return nil, err
	}
	if set.Lookup("main") == nil {
		return nil, fmt.Errorf(`%s defines no "main"`, name)
	}
	t.sets[name] = set
	return set, nil
}

// templateFuncs are what templates may call besides those of html/template.
func (p *Site) templateFuncs() template.FuncMap {
	return template.FuncMap{
		"asset":        p.Assets.URL,
		"abstractPath": p.AbstractPath,
		"orderPath":    p.OrderPath,
		"documentPath": DocumentPath,
		"folderPath":   FolderPath,
		"icon":         p.icon,
		"under":        IsUnderPath,
		"humane":       FormatStatus,
		"date":         FormatDate,
		"when":         p.formatTime,
		"day":          p.formatDay,
		"tone":         statusTone,
		"size":         FormatSize,
		"count":        FormatCount[int],
		"plural":       Plural,
		"dict":         dict,
		"last":         isLast,
		"countAny":     formatCountAny,
		"pluralAny":    PluralAny,
		"kindLabel":    fieldTypeLabel,
		"roleName":     RoleName,
		"roleText":     roleText,
		"int":          func(n uint64) int { return int(min(n, math.MaxInt)) }, // #nosec G115 -- bounded
		"late":         p.dueLabel,
		"hitPath":      p.HitPath,
		"byName":       matchLabel,
	}
}

// dict makes a map of names and values that follow each other, for a part.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: a name without a value")
	}
	made := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		made[name] = pairs[i+1]
	}
	return made, nil
}

// icon gives a small drawing that stands beside words or has a label around it.
func (p *Site) icon(name string) (template.HTML, error) {
	drawing, ok := p.icons[name]
	if !ok {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return template.HTML(drawing), nil // #nosec G203 -- drawn in this house
}

// isLast reports whether a place is the last one of a list.
func isLast(at int, list any) bool { return at == reflect.ValueOf(list).Len()-1 }

// formatCountAny is count for whole numbers of any type.
func formatCountAny(n any) string {
	v := reflect.ValueOf(n)
	switch {
	case v.CanInt():
		return FormatCount(v.Int())
	case v.CanUint():
		return FormatCount(v.Uint())
	}
	return ""
}

// PluralAny is plural for whole numbers of any type.
func PluralAny(n any, one, many string) string {
	if text := formatCountAny(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}
