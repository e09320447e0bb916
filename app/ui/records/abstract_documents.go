package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// documentList is one page of an abstract's document list.
type documentList struct {
	Path       string // address of the abstract
	Rows       []page.DocumentRow
	Total      int
	First      int // position of the first document on this page, from 1
	Page       int
	Processing int    // number of documents on this page that are being processed
	Sum        string // digest of the document IDs on this page
	Waiting    string // comma-separated IDs of the documents being processed
	Prev, Next string
	Sorted     *page.Notice // that the documents were reordered; nil if they weren't
}

// Last returns the position of the last document on this page.
func (l documentList) Last() int { return l.First + len(l.Rows) - 1 }

// Pages reports whether there is more than one page.
func (l documentList) Pages() bool { return l.Prev != "" || l.Next != "" }

// State returns the address that a script polls for changes since this list was rendered.
func (l documentList) State() string {
	values := url.Values{"page": {strconv.Itoa(l.Page)}, "rows": {strconv.Itoa(len(l.Rows))}, "sum": {l.Sum}, "waiting": {l.Waiting}}
	return page.WithQuery(l.Path+"/documents", values)
}

// Address returns the address of this page of the list.
func (l documentList) Address() string { return l.pageAddress(l.Page) }

// listDocuments returns the requested page of the document list. If that page doesn't exist, it
// returns the last page. For a form, it returns the page that the form was sent from.
func (p *Pages) listDocuments(r *page.Request, record vault.AbstractWithFiles) (documentList, error) {
	query := r.URL.Query()
	if from, err := url.Parse(p.CurrentAddress(r)); err == nil && r.IsPart() && !query.Has("page") {
		query = from.Query()
	}
	l := documentList{Path: p.AbstractPath(record.Abstract.ID), Total: len(record.Files), Page: 1}
	if n, err := strconv.Atoi(query.Get("page")); err == nil && n > 1 {
		l.Page = min(n, max(1, (l.Total+page.DocumentsPerPage-1)/page.DocumentsPerPage))
	}
	l.First = (l.Page-1)*page.DocumentsPerPage + 1
	var err error
	files := record.Files[l.First-1 : min(l.Total, l.First-1+page.DocumentsPerPage)]
	if l.Rows, err = p.documentRows(r.Context(), files, l.pageAddress(l.Page), query.Get("rename")); err != nil {
		return l, err
	}
	instruments, err := p.instrumentsByDocument(r.Context(), record.Abstract.ID)
	if err != nil {
		return l, err
	}
	var waiting []string
	for i := range l.Rows {
		row := &l.Rows[i]
		row.Number, row.Total, row.Instruments = l.First+i, l.Total, instruments[row.ID]
		if row.Processing {
			waiting = append(waiting, strconv.FormatUint(row.ID, 10))
		}
	}
	l.Processing, l.Waiting, l.Sum = len(waiting), strings.Join(waiting, ","), rowsDigest(l.rowIDs())
	if l.Page > 1 {
		l.Prev = l.pageAddress(l.Page-1) + "#documents"
	}
	if l.Last() < l.Total {
		l.Next = l.pageAddress(l.Page+1) + "#documents"
	}
	return l, nil
}

// instrumentsByDocument returns the instruments in the documents of an abstract.
func (p *Pages) instrumentsByDocument(ctx context.Context, abstract uint64) (map[uint64][]page.InstrumentLine, error) {
	sheet, err := p.App.Instruments.Runsheet(ctx, abstract)
	return page.DocumentInstruments(sheet.Instruments), err
}

// rowIDs returns the IDs of the documents on this page.
func (l documentList) rowIDs() []uint64 {
	ids := make([]uint64, 0, len(l.Rows))
	for _, d := range l.Rows {
		ids = append(ids, d.ID)
	}
	return ids
}

// pageAddress returns the address of page n of the document list.
func (l documentList) pageAddress(n int) string {
	values := url.Values{}
	if n > 1 {
		values.Set("page", strconv.Itoa(n))
	}
	return page.WithQuery(l.Path, values)
}

func rowsDigest(numbers []uint64) string {
	sum := sha256.Sum256(fmt.Append(nil, numbers))
	return hex.EncodeToString(sum[:8])
}

// documentUpdates renders what changed since the list was rendered: new rows and rows whose
// processing has finished. If other rows changed, it renders the complete list. It doesn't send
// unchanged rows, so browsers don't reload their thumbnails.
func (p *Pages) documentUpdates(r *page.Request) error {
	record, _, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	if !r.IsPart() {
		return r.Redirect(p.AbstractPath(record.Abstract.ID))
	}
	l, err := p.listDocuments(r, record)
	if err != nil {
		return err
	}
	return p.RenderPart(r, http.StatusOK, "abstract.html", "documents-changes", l.changesSince(r.URL.Query()))
}

// documentChanges contains the changes to a document list.
type documentChanges struct {
	documentList
	Row      *page.DocumentRow  // the only row, if the request is for a single row
	All      bool               // other rows changed: replace the complete list
	Finished []page.DocumentRow // rows whose processing has finished
	Came     []page.DocumentRow
}

// changesSince returns the changes since the list was in the given state, as encoded by State.
func (l documentList) changesSince(state url.Values) documentChanges {
	c := documentChanges{documentList: l}
	count, _ := strconv.Atoi(state.Get("rows")) // 0 if the value is invalid
	numbers := l.rowIDs()
	if count < 0 || count > len(numbers) || rowsDigest(numbers[:count]) != state.Get("sum") {
		c.All = true
		return c
	}
	c.Came = l.Rows[count:]
	wasProcessing := strings.Split(state.Get("waiting"), ",")
	for _, d := range l.Rows {
		if !d.Processing && slices.Contains(wasProcessing, strconv.FormatUint(d.ID, 10)) {
			c.Finished = append(c.Finished, d)
		}
	}
	return c
}
