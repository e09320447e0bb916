package ui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/body"
	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// documentsAPage is how many documents of an abstract are shown at a time.
const documentsAPage = 100

// documentList is a page of the documents of an abstract.
type documentList struct {
	Path       string // of the abstract
	Rows       []documentRow
	Total      int
	First      int // the place of the first row, from 1
	Page       int
	Processing int    // of the rows
	Sum        string // of which rows these are, in their order
	Waiting    string // the numbers of those that are processed, with commas
	Prev, Next string
}

// Last is the place of the last row.
func (l documentList) Last() int { return l.First + len(l.Rows) - 1 }

// Pages reports whether there is more than one.
func (l documentList) Pages() bool { return l.Prev != "" || l.Next != "" }

// State is the address that tells what has changed since.
func (l documentList) State() string {
	return address(l.Path+"/documents", url.Values{"page": {strconv.Itoa(l.Page)}, "rows": {strconv.Itoa(len(l.Rows))}, "sum": {l.Sum}, "waiting": {l.Waiting}})
}

// documentRow is one document among them.
type documentRow struct {
	title.File
	Abstract string // the path of it
	Path     string // of the page that shows the document
	Place    int    // from 1
	Total    int    // of them all
	By       string // who filed it; "" where the log does not tell
	Name     string // in the form that renames it
	Renaming bool
	Problem  string
	Gone     bool // it was just moved to the trash
	Focus    bool
}

// Kind is what people call its type.
func (d documentRow) Kind() string {
	switch d.Type() {
	case "jpg", "jpeg":
		return "JPEG"
	case "tif", "tiff":
		return "TIFF"
	case "doc", "docx":
		return "Word"
	case "xls", "xlsx":
		return "Excel"
	case "txt":
		return "Text"
	}
	return strings.ToUpper(d.Type())
}

// Pictured reports a kind of which there is a picture.
func (d documentRow) Pictured() bool {
	return d.MIME == "application/pdf" || strings.HasPrefix(d.MIME, "image/")
}

// PageCount is how many pages it has; 0 where it has none.
func (d documentRow) PageCount() int {
	if d.Pages == nil {
		return 0
	}
	return *d.Pages
}

func (p *pages) documentRow(of title.Abstract, f title.File, place int) documentRow {
	in := url.Values{"in": {"abstract:" + p.abstracts.Encode(of.ID)}}
	return documentRow{File: f, Abstract: p.abstractPath(of.ID), Path: address(documentPath(f.ID), in), Place: place, Total: len(of.Files), Name: f.Filename}
}

// documentList gives the page of the documents that the address asks for, or the last.
func (p *pages) documentList(r *http.Request, filed vault.Filed) (documentList, error) {
	asked := r.URL.Query()
	l := documentList{Path: p.abstractPath(filed.Abstract.ID), Total: len(filed.Files), Page: 1}
	if n, err := strconv.Atoi(asked.Get("page")); err == nil && n > 1 {
		l.Page = min(n, max(1, (l.Total+documentsAPage-1)/documentsAPage))
	}
	l.First = (l.Page-1)*documentsAPage + 1
	files := filed.Files[l.First-1 : min(l.Total, l.First-1+documentsAPage)]
	renaming := asked.Get("rename")
	numbers, waiting := make([]uint64, 0, len(files)), []string{}
	for i, f := range files {
		row := p.documentRow(filed.Abstract, f, l.First+i)
		row.Renaming = renaming != "" && renaming == strconv.FormatUint(f.ID, 10)
		l.Rows, numbers = append(l.Rows, row), append(numbers, f.ID)
		if f.Processing {
			waiting = append(waiting, strconv.FormatUint(f.ID, 10))
		}
	}
	l.Processing, l.Waiting, l.Sum = len(waiting), strings.Join(waiting, ","), sumOf(numbers)
	page := func(n int) string { return address(l.Path, url.Values{"page": {strconv.Itoa(n)}}) + "#documents" }
	if l.Page > 1 {
		l.Prev = page(l.Page - 1)
	}
	if l.Last() < l.Total {
		l.Next = page(l.Page + 1)
	}
	return l, p.filers(r.Context(), l.Rows, numbers)
}

// filers says in each row who filed the document.
func (p *pages) filers(ctx context.Context, rows []documentRow, numbers []uint64) error {
	who, err := p.Vault.Files.Filers(ctx, numbers)
	for i := range rows {
		if by, there := who[rows[i].ID]; there {
			rows[i].By = byWhom(by)
		}
	}
	return err
}

func sumOf(numbers []uint64) string {
	sum := sha256.Sum256(fmt.Append(nil, numbers))
	return hex.EncodeToString(sum[:8])
}

// documentsState tells a page what has changed of its documents since it was made:
// those whose processing has ended, those that came, or all where they are others.
// What stays is not sent, so that no picture is loaded again.
func (p *pages) documentsState(w http.ResponseWriter, r *http.Request, who visitor) error {
	filed, _, err := p.abstractRead(r)
	if err != nil {
		return err
	}
	if !isPart(r) {
		redirect(w, r, p.abstractPath(filed.Abstract.ID))
		return nil
	}
	return p.sendDocuments(w, r, who, filed, nil)
}

// documentChanges is what a page has to change, of which list.
type documentChanges struct {
	documentList
	Row      *documentRow  // in the place of what was asked for
	All      bool          // the list is another
	Finished []documentRow // their processing has ended
	Came     []documentRow
}

// sendDocuments sends what has changed. A row, where there is one, answers the request
// itself.
func (p *pages) sendDocuments(w http.ResponseWriter, r *http.Request, who visitor, filed vault.Filed, row *documentRow) error {
	l, err := p.documentList(r, filed)
	if err != nil {
		return err
	}
	c := documentChanges{documentList: l, Row: row}
	asked := r.URL.Query()
	if row == nil {
		shown, _ := strconv.Atoi(asked.Get("rows"))
		numbers := make([]uint64, 0, len(l.Rows))
		for _, d := range l.Rows {
			numbers = append(numbers, d.ID)
		}
		if shown < 0 || shown > len(numbers) || sumOf(numbers[:shown]) != asked.Get("sum") {
			c.All = true
		} else {
			c.Came = l.Rows[shown:]
		}
		waited := strings.Split(asked.Get("waiting"), ",")
		for _, d := range l.Rows {
			if !c.All && !d.Processing && slices.Contains(waited, strconv.FormatUint(d.ID, 10)) {
				c.Finished = append(c.Finished, d)
			}
		}
	}
	return p.part(w, r, who, http.StatusOK, "abstract.html", "documents-changes", c)
}

// listOf is the page of documents without who filed them.
func (p *pages) listOf(r *http.Request, filed vault.Filed) documentList {
	l, err := p.documentList(r, filed)
	if err != nil {
		p.Log.DebugContext(r.Context(), "filers", "error", err)
	}
	return l
}

// abstractFile reads the document of the address, which must be one of the abstract's.
func (p *pages) abstractFile(r *http.Request) (filed vault.Filed, row documentRow, err error) {
	if filed, _, err = p.abstractRead(r); err != nil {
		return filed, row, err
	}
	n, err := number(r)
	if err != nil {
		return filed, row, err
	}
	at := slices.Index(filed.Abstract.Files, n)
	if at < 0 {
		return filed, row, absentPath(r)
	}
	rows := []documentRow{p.documentRow(filed.Abstract, filed.Files[at], at+1)}
	err = p.filers(r.Context(), rows, []uint64{n})
	return filed, rows[0], err
}

// abstractDocument shows one row, perhaps with the form that renames it.
func (p *pages) abstractDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	filed, row, err := p.abstractFile(r)
	if err != nil {
		return err
	}
	row.Renaming = who.MayWrite() && r.URL.Query().Get("rename") != ""
	row.Focus = !row.Renaming
	if !isPart(r) {
		redirect(w, r, fmt.Sprintf("%s#document-%d", p.abstractPath(filed.Abstract.ID), row.ID))
		return nil
	}
	return p.part(w, r, who, http.StatusOK, "abstract.html", "document", row)
}

// renameOfAbstract gives a document another name; the extension, which says what it
// is, need not be typed.
func (p *pages) renameOfAbstract(w http.ResponseWriter, r *http.Request, who visitor) error {
	filed, row, err := p.abstractFile(r)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(r.PostForm.Get("name"))
	if name != "" {
		if name = body.Filename(name); !strings.HasSuffix(strings.ToLower(name), "."+row.Type()) {
			name += "." + row.Type()
		}
	}
	patch := title.FilePatch{Filename: title.Send(title.Given(name))}
	row.File, err = p.Vault.Files.Patch(r.Context(), who.Actor, row.ID, patch, vault.Match{})
	if named, ok := errors.AsType[*title.Error](err); ok && named.Kind == title.Invalid {
		row.File = filed.Files[row.Place-1]
		row.Renaming, row.Name, row.Problem = true, r.PostForm.Get("name"), plainly(named.Message)
		if isPart(r) {
			return p.part(w, r, who, http.StatusUnprocessableEntity, "abstract.html", "document", row)
		}
	}
	if err != nil {
		return err
	}
	row.Focus = true
	if to, err := strconv.Atoi(r.PostForm.Get("to")); err == nil && to != row.Place {
		r.PostForm.Set("move", strconv.FormatUint(row.ID, 10))
		return p.abstractOrder(w, r, who)
	}
	if !isPart(r) {
		return p.see(w, r, fmt.Sprintf("%s#document-%d", back(r, p.abstractPath(filed.Abstract.ID)), row.ID), "It is called “"+row.Filename+"” now.")
	}
	w.Header().Set("HX-Trigger", changedEvent)
	return p.part(w, r, who, http.StatusOK, "abstract.html", "document", row)
}

// detachDocument moves a document of the abstract to the trash.
func (p *pages) detachDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	filed, row, err := p.abstractFile(r)
	if err != nil {
		return err
	}
	id := filed.Abstract.ID
	if err := p.Vault.Abstracts.Detach(r.Context(), who.Actor, id, row.ID, vault.Match{}); err != nil {
		return err
	}
	if !isPart(r) {
		undo := fmt.Sprintf("%s/documents/%d/restore", p.abstractPath(id), row.ID)
		return p.seeUndo(w, r, back(r, p.abstractPath(id)), "“"+row.Filename+"” is in the trash.", undo)
	}
	row.Gone, row.Focus = true, true
	return p.rowAndState(w, r, who, id, &row)
}

// returnDocument takes it out of the trash, to its place.
func (p *pages) returnDocument(w http.ResponseWriter, r *http.Request, who visitor) error {
	filed, _, err := p.abstractRead(r)
	if err != nil {
		return err
	}
	n, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Restore(r.Context(), who.Actor, n, vault.Keep[title.File]{})
	if err != nil {
		return err
	}
	id := filed.Abstract.ID
	if !isPart(r) {
		return p.see(w, r, fmt.Sprintf("%s#document-%d", p.abstractPath(id), n), "“"+file.Filename+"” is back.")
	}
	row := p.documentRow(filed.Abstract, file, 0)
	row.Focus = true
	return p.rowAndState(w, r, who, id, &row)
}

// retryOfAbstract has a document processed again.
func (p *pages) retryOfAbstract(w http.ResponseWriter, r *http.Request, who visitor) error {
	filed, row, err := p.abstractFile(r)
	if err != nil {
		return err
	}
	if _, err := p.Vault.Files.Retry(r.Context(), who.Actor, row.ID); err != nil {
		return err
	}
	if !isPart(r) {
		return p.see(w, r, fmt.Sprintf("%s#document-%d", back(r, p.abstractPath(filed.Abstract.ID)), row.ID), "It is processed again.")
	}
	if row.File, err = p.Vault.Files.Get(r.Context(), row.ID); err != nil {
		return err
	}
	return p.rowAndState(w, r, who, filed.Abstract.ID, &row)
}

// rowAndState sends a row, and the state of the list it stands in.
func (p *pages) rowAndState(w http.ResponseWriter, r *http.Request, who visitor, id uint64, row *documentRow) error {
	filed, err := p.Vault.Abstracts.Get(r.Context(), id)
	if err != nil {
		return err
	}
	rows := []documentRow{*row}
	if err := p.filers(r.Context(), rows, []uint64{row.ID}); err != nil {
		return err
	}
	w.Header().Set("HX-Trigger", changedEvent)
	return p.sendDocuments(w, r, who, filed, &rows[0])
}
