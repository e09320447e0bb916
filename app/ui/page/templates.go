package page

import (
	"fmt"
	"html/template"
	"io/fs"
	"sync"

	"deedkeep/app/config"
	"deedkeep/app/model"
)

// Page is the content that a handler passes to RenderPage.
type Page struct {
	Heading   string   // title of the page and of the browser tab
	Section   string   // selected navigation entry: desk, abstracts, orders, vault, trash, admin, help, me
	Data      any      // data for the page's template
	Libraries []string // third-party scripts that the scripts of this page need
	Scripts   []string // additional modules for this page
	Styles    []string
	Notice    string   // what this request did; "" for what the previous one did
	UndoTo    string   // address of the undo form for that, as for RedirectWithUndo
	Follows   []string // records and types of records whose changes the page shows when others make them (live.js)
	Side      bool     // the page may be one of two that are side by side
	HasSides  bool     // the page has other pages of this server in frames
}

// pageData is the data for the layout.
type pageData struct {
	Page
	Me        Visitor
	Framed    bool      // the page is in a frame of another one, which has the header
	LastEvent uint64    // newest audit log entry that the page can show
	Path      string    // current address without its query
	Here      string    // current address, for returning to it
	Query     string    // text in the search box
	Undo      UndoForm  // undo form for what Notice says
	Warnings  []Warning // shown to administrators
	Firm      config.Firm
	Logo      string // address of the firm's logo, or ""
	Example   bool   // whether the records are those of an example firm
}

// templates contains the parsed pages by file name. A page is parsed when it is first shown. Most
// processes show only a few pages, and parsing all of them would take longer than the rest of the
// server's startup.
type templates struct {
	files  fs.FS
	common *template.Template // the layout and the shared parts; cloned for each page

	mu   sync.Mutex
	sets map[string]*template.Template // pages parsed so far
}

// newTemplates parses layout.html and all part-*.html files.
func newTemplates(files fs.FS, functions template.FuncMap) (*templates, error) {
	common, err := template.New("layout.html").Funcs(functions).ParseFS(files, "layout.html", "part-*.html")
	if err != nil {
		return nil, err
	}
	return &templates{files: files, common: common, sets: make(map[string]*template.Template)}, nil
}

// page returns the template set of the named page: the layout, the shared parts, and the page
// itself.
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
		return nil, fmt.Errorf(`%s doesn't define "main"`, name)
	}
	t.sets[name] = set
	return set, nil
}

// templateFuncs returns the functions that templates can call.
func (si *Site) templateFuncs() template.FuncMap {
	return template.FuncMap{
		"asset":          si.Assets.URL,
		"abstractPath":   si.AbstractPath,
		"orderPath":      si.OrderPath,
		"documentPath":   DocumentPath,
		"folderPath":     FolderPath,
		"icon":           si.icon,
		"under":          IsUnderPath,
		"failure":        failureText,
		"statusLabel":    FormatStatus,
		"date":           FormatDate,
		"when":           si.formatTime,
		"day":            si.formatDay,
		"statusTone":     statusTone,
		"size":           FormatSize,
		"count":          FormatCount,
		"money":          func(amount string) string { return FormatValues(model.Money, []string{amount}) },
		"plural":         Plural,
		"dict":           dict,
		"fieldTypeLabel": fieldTypeLabel,
		"roleName":       RoleName,
		"roleText":       roleText,
		"dueLabel":       si.dueLabel,
		"hitPath":        si.HitPath,
		"matchLabel":     matchLabel,
		"ocrOff":         si.OCRIsOff,
	}
}

// OCRIsOff reports whether scanned pages are never read, so that no text promises it.
func (si *Site) OCRIsOff() bool { return !si.App.OCR.Enabled() }

// dict returns a map of alternating keys and values, for passing several values to a template.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: key without a value")
	}
	values := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: key %v is not a string", pairs[i])
		}
		values[name] = pairs[i+1]
	}
	return values, nil
}

// icon returns the markup of an icon. The icon has no text alternative, so it needs text or a label
// next to it.
func (si *Site) icon(name string) (template.HTML, error) {
	markup, ok := si.icons[name]
	if !ok {
		return "", fmt.Errorf("unknown icon %q", name)
	}
	return template.HTML(markup), nil // #nosec G203 -- embedded files, not user input
}
