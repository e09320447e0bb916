package suggestions

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/tablerow"
	"deedkeep/app/vault"
)

// runsheetPage is the template data of the page on which a runsheet file is uploaded and reviewed, and of
// the page on which the suggestions from documents are reviewed.
type runsheetPage struct {
	Path, Abstract string // address and heading of the abstract
	Documents      bool   // the suggestions are from documents
	More           bool   // further documents are left out
	Reviewed       bool   // a file was read
	Columns        []runsheet.Column
	Rows           []reviewRow
	Rejected       []tablerow.Row
	NoInputs       int                 // rejected rows whose inputs follow later
	Types          model.DocumentTypes // offered for rejected rows
	Chosen         int                 // number of selected rows
	Swaps          []swap
	Added          bool // rows were added, and others stay to be corrected
	Notice, UndoTo string
	Packed         string
	Once           string
	Problem        string
}

// swap is a document type whose parties can be exchanged in all rows.
type swap struct {
	Type             string
	Rows             int
	Grantor, Grantee string // labels
	Chosen           bool
}

func (p *Pages) uploadPage(r *page.Request) error {
	return p.showRunsheet(r, http.StatusOK, runsheetPage{})
}

func (p *Pages) showRunsheet(r *page.Request, status int, view runsheetPage) error {
	_, abstract, err := p.App.Abstracts.WithHeading(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	view.Path, view.Abstract, view.Once = p.AbstractPath(r.PathID), abstract, rand.Text()
	heading := "Import runsheet"
	if view.Documents {
		heading = "Suggested instruments"
	}
	return p.RenderPage(r, status, "runsheet-upload.html", page.Page{
		Heading: heading, Section: "abstracts", Data: view,
		Scripts: []string{"choose.js"}, Styles: []string{"record.css", "runsheet.css"},
		Notice: view.Notice, UndoTo: view.UndoTo,
	})
}

// maxRows is the maximum number of rows on a page, because each can have a field of its form; see tablerow.LimitInputs.
const maxRows = 5000

const tooManyRows = "The file has more than 5,000 rows. Split it and import each part, or use the API."

// readRunsheet shows the instruments in an uploaded file. It stores nothing.
func (p *Pages) readRunsheet(r *page.Request) error {
	raw, done, err := p.readFile(r)
	defer done()
	if err != nil {
		return err
	}
	if len(raw) == 0 {
		return p.showRunsheet(r, http.StatusUnprocessableEntity, runsheetPage{Problem: "No file was selected. Select a CSV or Excel file."})
	}
	table, err := p.App.Instruments.ReadRunsheet(r.Context(), r.Actor, raw)
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		return p.showRunsheet(r, http.StatusUnprocessableEntity, runsheetPage{Problem: page.ErrorSentence(err)})
	}
	if err != nil {
		return err
	}
	if len(table.Rows) > maxRows {
		return p.showRunsheet(r, http.StatusUnprocessableEntity, runsheetPage{Problem: tooManyRows})
	}
	return p.review(r, packedReview{Table: table}, nil, nil, runsheetPage{})
}

// review shows the instruments in the cells of packed, and the rows that must be corrected. fields are those that a
// person chose, by column. The rows in left are not selected. view says what happened before.
func (p *Pages) review(r *page.Request, packed packedReview, fields map[int]string, left map[int]bool, view runsheetPage) error {
	checked, err := p.App.Instruments.CheckRunsheet(r.Context(), r.Actor, r.PathID, packed.Table,
		runsheet.Options{Columns: fields, SwappedTypes: packed.Swaps})
	if err != nil {
		return err
	}
	chosen := map[int]bool{}
	for _, g := range checked.Valid {
		chosen[g.Row] = !left[g.Row]
	}
	packed.Columns, packed.Left = checked.Columns, len(checked.Rejected)
	view.Added = len(packed.Done) > 0
	if err = p.addRows(r, &view, checked.Valid, packed, chosen); err == nil {
		err = p.addRejected(r, &view, packed.Table, checked)
	}
	if err != nil {
		return err
	}
	return p.showReview(r, view)
}

func (p *Pages) showReview(r *page.Request, view runsheetPage) error {
	if view.Problem != "" {
		return p.showRunsheet(r, http.StatusUnprocessableEntity, view)
	}
	return p.showRunsheet(r, http.StatusOK, view)
}

// addRejected adds the rows of a file that aren't valid to its review, with inputs for the wrong cells.
func (p *Pages) addRejected(r *page.Request, view *runsheetPage, table runsheet.Table, checked vault.CheckedRunsheet) error {
	types, err := p.App.Instruments.Types(r.Context())
	view.Types = types.Offered()
	cells, swapped := table.CellsByRow(), map[int]bool{}
	for _, e := range checked.Entries {
		swapped[e.Row] = e.Swapped
	}
	for _, wrong := range checked.Rejected {
		row := tablerow.New(table, wrong.Row, cells[wrong.Row], view.Columns)
		row.Reject(wrong.Fields, view.Columns, swapped[wrong.Row])
		view.Rejected = append(view.Rejected, row)
	}
	view.NoInputs = tablerow.LimitInputs(view.Rejected)
	return err
}

// chosenFields returns the fields that a form has for the columns of a file. changed is true if one is not
// the field that the page was made with.
func chosenFields(columns []runsheet.Column, form url.Values) (fields map[int]string, changed bool) {
	fields = map[int]string{}
	for _, c := range columns {
		fields[c.N] = cmp.Or(form.Get(fmt.Sprintf("field.%d", c.N)), c.Field)
		changed = changed || fields[c.N] != c.Field
	}
	return fields, changed
}

// addRows adds suggestions to a review. The rows in chosen are selected; if chosen is nil, all.
func (p *Pages) addRows(r *page.Request, view *runsheetPage, list []vault.Suggestion, packed packedReview, chosen map[int]bool) (
	err error) {
	view.Reviewed = true
	view.Columns = slices.DeleteFunc(slices.Clone(packed.Columns), func(c runsheet.Column) bool { return c.Blank })
	for _, g := range list {
		if len(view.Columns) > 0 {
			view.addSwap(g, packed.Swaps)
		}
		if slices.Contains(packed.Done, g.Row) {
			continue
		}
		row := reviewRow{Suggestion: g, Chosen: true, Repeats: page.RepeatText(g.Repeat), Choices: page.RowChoices(g, r.PostForm)}
		if chosen != nil {
			row.Chosen = chosen[g.Row]
		}
		if row.Chosen {
			view.Chosen++
		}
		for _, relation := range g.Relations {
			row.Relation = append(row.Relation, fmt.Sprintf("%s row %d", strings.ReplaceAll(relation.Kind, "_", " "), relation.Row))
		}
		view.Rows = append(view.Rows, row)
	}
	view.Packed, err = p.pack(r, list, packed)
	return err
}

// addSwap offers to exchange the parties of the type of a suggestion if they have labels of their own.
func (r *runsheetPage) addSwap(g vault.Suggestion, chosen []string) {
	grantor, grantee := g.Type.Parties()
	first, second := g.Type.SpecialLabels()
	if first+second == "" || len(g.Instrument.Grantors)+len(g.Instrument.Grantees) == 0 {
		return
	}
	at := slices.IndexFunc(r.Swaps, func(s swap) bool { return s.Type == g.Type.Name })
	if at < 0 {
		at = len(r.Swaps)
		r.Swaps = append(r.Swaps, swap{Type: g.Type.Name, Grantor: grantor.Label, Grantee: grantee.Label,
			Chosen: slices.Contains(chosen, g.Type.Name)})
	}
	r.Swaps[at].Rows++
}

// readFile reads the file of an upload form to memory, which is charged to the user until done is
// called.
func (p *Pages) readFile(r *page.Request) (raw []byte, done func(), err error) {
	done = func() {}
	mediaType, boundary, _, err := decode.Boundary(r.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		page.SkipForm(r)
		return nil, done, page.NewHTTPError(http.StatusUnsupportedMediaType, "Form not recognized", "Reload the page and select the file again.")
	}
	if err != nil {
		return nil, done, err
	}
	length := r.ContentLength
	if length < 0 || length > p.FormBytes {
		length = p.FormBytes
	}
	sent := httpx.NewBody(r.W, r.Request, httpx.Limits{Stall: p.Stall, MinRate: p.MinRate})
	r.Body, done = p.LimitBody(r.Context(), r.Record(), sent, length, func(time.Duration) {})
	var content bytes.Buffer
	limits := decode.MultipartLimits{Parts: p.Parts, Fields: p.FormBytes}
	err = httpx.ReadParts(r.W, r.Request, boundary, p.FormBytes, limits, func(part *decode.Part) error {
		if part.Name != "file" || !part.HasFilename || content.Len() > 0 {
			return nil
		}
		_, err := part.WriteTo(&content)
		return err
	})
	if err == nil {
		return content.Bytes(), done, nil
	}
	if !sent.Drain(1<<20, time.Second) {
		r.W.Header().Set("Connection", "close")
	}
	var tooLarge *http.MaxBytesError
	var malformed *decode.MalformedError
	switch {
	case errors.As(err, &tooLarge):
		err = page.NewHTTPError(http.StatusRequestEntityTooLarge, "File too large",
			fmt.Sprintf("The file is larger than %s. Split it and upload each part.", page.FormatSize(tooLarge.Limit)))
	case errors.As(err, &malformed), errors.Is(err, httpx.ErrIncomplete), errors.Is(err, io.ErrUnexpectedEOF):
		err = page.NewHTTPError(http.StatusBadRequest, "Upload incomplete", "The upload was incomplete. Go back and try again.")
	}
	return nil, done, err
}

// acceptRunsheet adds the selected instruments of a runsheet file.
func (p *Pages) acceptRunsheet(r *page.Request) error {
	return p.accept(r, "The form was incomplete. Go back and upload the file again.")
}

// acceptDocuments adds the selected instruments that documents describe.
func (p *Pages) acceptDocuments(r *page.Request) error {
	return p.accept(r, "The form was incomplete. Go back and review the suggestions again.")
}

// accept adds the selected instruments of a review. incomplete is the problem if the form doesn't have them.
func (p *Pages) accept(r *page.Request, incomplete string) error {
	list, packed, err := p.unpack(r, r.PostForm.Get("packed"))
	if err != nil {
		return page.NewHTTPError(http.StatusBadRequest, "Form incomplete", incomplete)
	}
	chosen, left := map[int]bool{}, map[int]bool{}
	for _, text := range r.PostForm["row"] {
		if n, err := strconv.Atoi(text); err == nil {
			chosen[n] = true
		}
	}
	for _, g := range list {
		left[g.Row] = !chosen[g.Row]
	}
	for _, row := range packed.Done {
		r.PostForm.Set(page.RowField(row), page.RowSkip) // other rows can relate to its instrument
	}
	fields, changed := chosenFields(packed.Columns, r.PostForm)
	changed = tablerow.Correct(packed.Table.Rows, r.PostForm) || changed || !slices.Equal(packed.Swaps, r.PostForm["swap"])
	packed.Swaps = r.PostForm["swap"]
	if changed || r.PostForm.Get("check") != "" {
		return p.review(r, packed, fields, left, runsheetPage{}) // nothing is added that the page didn't show
	}
	reviewAgain := func(problem string) error {
		if len(packed.Columns) > 0 {
			return p.review(r, packed, fields, left, runsheetPage{Problem: problem})
		}
		return p.reviewDocuments(r, list, chosen, problem)
	}
	to := p.AbstractPath(r.PathID)
	once := page.AddedIdempotency(r, to)
	inputs, stores := page.ChosenRows(list, r.PostForm, func(g vault.Suggestion) bool { return chosen[g.Row] })
	if stores == 0 {
		return reviewAgain("No rows are selected. Select the instruments to add.")
	}
	added, again, err := p.CreateInstruments(r, r.PathID, inputs, once)
	if errors.Is(err, vault.ErrRunsheetChanged) {
		if err := p.App.Instruments.RenewRepeats(r.Context(), r.PathID, list); err != nil {
			return err
		}
		return reviewAgain(page.ErrorSentence(err))
	}
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		return reviewAgain("No instruments were added. " + rowProblem(problem.Fields))
	}
	if err != nil {
		return err
	}
	notice, undo := page.AddedText(added, again), p.UndoAdded(r.PathID, 0, once, added)
	if packed.Left == 0 {
		return p.RedirectWithUndo(r, to, notice, undo)
	}
	for _, g := range list {
		packed.Done = append(packed.Done, g.Row)
	}
	return p.review(r, packed, fields, left, runsheetPage{Notice: notice, UndoTo: undo})
}

// reviewDocuments shows the suggestions from documents again with a problem.
func (p *Pages) reviewDocuments(r *page.Request, list []vault.Suggestion, chosen map[int]bool, problem string) error {
	view := runsheetPage{Documents: true, Problem: problem}
	if err := p.addRows(r, &view, list, packedReview{}, chosen); err != nil {
		return err
	}
	return p.showReview(r, view)
}

// undo reverses what accept stored.
func (p *Pages) undo(r *page.Request) error {
	var key [32]byte
	if n, err := hex.Decode(key[:], []byte(r.PostForm.Get("key"))); err != nil || n != len(key) {
		return page.NotFound(r)
	}
	undo, err := p.App.Instruments.StoredUndo(r.Context(), r.PathID, key)
	if errs.KindOf(err) == errs.Conflict {
		return p.RedirectWithFailure(r, p.AbstractPath(r.PathID), "These instruments can no longer be removed by Undo.")
	}
	if err != nil {
		return err
	}
	undone, kept, err := p.App.Instruments.Undo(r.Context(), r.Actor, undo)
	if err != nil {
		return err
	}
	notice := "Undone: " + page.Plural(undone, "instrument.", "instruments.")
	if kept > 0 {
		notice += " " + page.Plural(kept, "instrument was changed since then and was kept.",
			"instruments were changed since then and were kept.")
	}
	if file, err := strconv.ParseUint(r.PostForm.Get("file"), 10, 63); err == nil {
		return p.RedirectWithNotice(r, page.WithQueryValue(page.DocumentPath(file), "panel", "1"), notice)
	}
	return p.RedirectWithNotice(r, p.AbstractPath(r.PathID), notice)
}

// rowProblem returns the first problem of a row, such as "Row 12: The dated field …".
func rowProblem(fields errs.Fields) string {
	if len(fields) == 0 {
		return ""
	}
	parts := strings.SplitN(fields[0].Field, ".", 3)
	sentence := page.ProblemTexts(fields)[0]
	if len(parts) < 3 {
		return sentence
	}
	return fmt.Sprintf("Row %s: %s", parts[1], sentence)
}

// maxReviewed is the maximum number of documents whose text is read for a review.
const maxReviewed = 100

// documentSuggestions shows the instruments that the text and the names of documents describe. To
// scripts, which reload it after uploads, it serves the notice on the page of the abstract.
func (p *Pages) documentSuggestions(r *page.Request) error {
	if _, err := p.App.Abstracts.Get(r.Context(), r.PathID); err != nil {
		return err
	}
	if r.IsPart() {
		return p.RenderPart(r, http.StatusOK, "abstract.html", "suggestions-changes", p.Suggestions(r.Context(), r.PathID))
	}
	list, more, err := p.App.Instruments.SuggestFromDocuments(r.Context(), r.PathID, maxReviewed)
	if err != nil {
		return err
	}
	view := runsheetPage{Documents: true, More: more}
	if err := p.addRows(r, &view, list, packedReview{}, nil); err != nil {
		return err
	}
	return p.showRunsheet(r, http.StatusOK, view)
}
