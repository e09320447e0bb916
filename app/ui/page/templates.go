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
	Heading string   // title of the browser tab and of the page
	Section string   // current entry of the navigation: desk, abstracts, orders, vault, trash, admin, me
	Data    any      // data of the page's templates
	Scripts []string // in addition to those of every page
	Styles  []string
}

// pageData is the data of the layout.
type pageData struct {
	Page
	Me       Visitor
	Path     string    // address without its query
	Here     string    // address, to return to
	Query    string    // content of the search box
	Notice   string    // result of the last action
	Undo     undoForm  // reverts that action
	Warnings []Warning // shown to administrators
}

// templates holds the parsed pages by file name. A page is parsed when it is first shown: most
// processes show few pages, and parsing all takes longer than the rest of a server's start.
type templates struct {
	files  fs.FS
	common *template.Template // the layout and the shared parts, cloned for each page

	mu   sync.Mutex
	sets map[string]*template.Template // pages parsed so far
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

// templateFuncs returns the functions of the templates.
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

// dict returns a map of alternating names and values, as data of a template.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: a name without a value")
	}
	values := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		values[name] = pairs[i+1]
	}
	return values, nil
}

// icon returns an icon. It needs text or a label beside it.
func (p *Site) icon(name string) (template.HTML, error) {
	markup, ok := p.icons[name]
	if !ok {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return template.HTML(markup), nil // #nosec G203 -- embedded files, not user input
}

// isLast reports whether at is the last index of the list.
func isLast(at int, list any) bool { return at == reflect.ValueOf(list).Len()-1 }

// formatCountAny is FormatCount for integers of any type.
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

// PluralAny is Plural for integers of any type.
func PluralAny(n any, one, many string) string {
	if text := formatCountAny(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}
