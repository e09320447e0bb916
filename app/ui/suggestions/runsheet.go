package suggestions

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// runsheetPage is the template data of the page on which a runsheet file is uploaded and reviewed.
type runsheetPage struct {
	Path, Abstract string // address and heading of the abstract
	Reviewed       bool   // a file was read
	Rows           []reviewRow
	Rejected       []rejectedRow
	Chosen         int // number of selected rows
	Packed         string
	Once           string
	Problem        string
}

// reviewRow is an instrument that a row of the file describes.
type reviewRow struct {
	vault.Suggestion
	Chosen   bool
	Relation []string // "releases row 3"
}

// rejectedRow is a row of the file that isn't valid, with the reasons.
type rejectedRow struct {
	Row      int
	Problems []string
}

func (p *Pages) uploadPage(r *page.Request) error {
	return p.showRunsheet(r, http.StatusOK, runsheetPage{})
}

func (p *Pages) showRunsheet(r *page.Request, status int, view runsheetPage) error {
	filed, err := p.Vault.Abstracts.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	headings, err := p.Vault.Abstracts.Headings(r.Context(), filed.Abstract)
	if err != nil {
		return err
	}
	view.Path, view.Abstract, view.Once = p.AbstractPath(r.PathID), headings[0], rand.Text()
	return p.RenderPage(r, status, "runsheetupload.html", page.Page{
		Heading: "Import runsheet", Section: "abstracts", Data: view, Scripts: []string{"choose.js"}, Styles: []string{"record.css"},
	})
}

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
	list, rejected, err := p.Vault.Instruments.ReadRunsheet(r.Context(), r.Actor, r.PathID, raw)
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		return p.showRunsheet(r, http.StatusUnprocessableEntity, runsheetPage{Problem: page.ErrorSentence(err)})
	}
	if err != nil {
		return err
	}
	view, err := p.newReview(r, list, nil)
	for _, row := range rejected {
		view.Rejected = append(view.Rejected, rejectedRow{row.Row, page.ProblemTexts(row.Fields)})
	}
	if err != nil {
		return err
	}
	return p.showRunsheet(r, http.StatusOK, view)
}

// newReview returns the page for reviewing suggestions. The rows in chosen are selected; if chosen
// is nil, all that aren't recorded yet.
func (p *Pages) newReview(r *page.Request, list []vault.Suggestion, chosen map[int]bool) (view runsheetPage, err error) {
	view.Reviewed = true
	for _, g := range list {
		row := reviewRow{Suggestion: g, Chosen: g.Existing == 0}
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
	view.Packed, err = p.pack(r, list)
	return view, err
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
	list, err := p.unpack(r, r.PostForm.Get("packed"))
	if err != nil {
		return page.NewHTTPError(http.StatusBadRequest, "Form incomplete", "The form was incomplete. Go back and upload the file again.")
	}
	chosen := map[int]bool{}
	for _, text := range r.PostForm["row"] {
		if n, err := strconv.Atoi(text); err == nil {
			chosen[n] = true
		}
	}
	var inputs []vault.NewInstrument
	for _, g := range list {
		if chosen[g.Row] {
			input := g.Input()
			input.Relations = slices.DeleteFunc(input.Relations, func(relation vault.RowRelation) bool { return !chosen[relation.Row] })
			inputs = append(inputs, input)
		}
	}
	if len(inputs) == 0 {
		return p.reviewAgain(r, list, chosen, "No rows are selected. Select the instruments to add.")
	}
	once := page.FormIdempotency(r, "", func([]vault.InstrumentView) string { return p.RunsheetPath(r.PathID) })
	views, err := p.Vault.Instruments.CreateMany(r.Context(), r.Actor, r.PathID, inputs, once)
	if errors.Is(err, vault.ErrAlreadyProcessed) {
		return p.RedirectWithNotice(r, p.RunsheetPath(r.PathID), "These instruments were already added.")
	}
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		return p.reviewAgain(r, list, chosen, "No instruments were added. "+rowProblem(problem.Fields))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, p.RunsheetPath(r.PathID), page.Plural(len(views), "instrument added.", "instruments added."))
}

// reviewAgain shows the suggestions again with a problem.
func (p *Pages) reviewAgain(r *page.Request, list []vault.Suggestion, chosen map[int]bool, problem string) error {
	view, err := p.newReview(r, list, chosen)
	if err != nil {
		return err
	}
	view.Problem = problem
	return p.showRunsheet(r, http.StatusUnprocessableEntity, view)
}

// rowProblem returns the first problem of a row, such as "Row 12: The dated field …".
func rowProblem(fields errs.Fields) string {
	if len(fields) == 0 {
		return ""
	}
	parts := strings.SplitN(fields[0].Field, ".", 3)
	sentence := fields[0].Problems[0].Sentence()
	if len(parts) < 3 {
		return sentence
	}
	return fmt.Sprintf("Row %s: %s", parts[1], sentence)
}

// filenameSuggestions serves the notice of the page of an abstract about the instruments that the
// names of its documents describe. Scripts reload it after uploads.
func (p *Pages) filenameSuggestions(r *page.Request) error {
	if !r.IsPart() {
		return r.Redirect(p.AbstractPath(r.PathID))
	}
	if _, err := p.Vault.Abstracts.Get(r.Context(), r.PathID); err != nil {
		return err
	}
	return p.RenderPart(r, http.StatusOK, "abstract.html", "suggestions-changes", p.Suggestions(r.Context(), r.PathID))
}

// acceptFilenames adds the instruments that the names of the documents describe.
func (p *Pages) acceptFilenames(r *page.Request) error {
	wanted := func(g vault.Suggestion) bool {
		return slices.Contains(r.PostForm["file"], strconv.FormatUint(g.Files[0].ID, 10))
	}
	created, linked, err := p.Vault.Instruments.AcceptFilenames(r.Context(), r.Actor, r.PathID, wanted)
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		return p.RedirectWithNotice(r, p.RunsheetPath(r.PathID), "No instruments were added. "+rowProblem(problem.Fields))
	}
	if err != nil {
		return err
	}
	var notice []string
	if created > 0 || linked == 0 {
		notice = append(notice, page.Plural(created, "instrument added.", "instruments added."))
	}
	if linked > 0 {
		notice = append(notice, page.Plural(linked, "instrument was already in the runsheet. Its document is now linked.",
			"instruments were already in the runsheet. Their documents are now linked."))
	}
	return p.RedirectWithNotice(r, p.RunsheetPath(r.PathID), strings.Join(notice, " "))
}
