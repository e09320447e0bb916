package records

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

const (
	// pickPlace is the value of the form field "to" that opens the page on which the user finds the
	// place.
	pickPlace = "pick"
	// maxOthers is the maximum number of other documents of the same abstract that the page offers to
	// move, too.
	maxOthers = 200
	// maxTargets is the maximum number of abstracts and of folders that the page shows.
	maxTargets = 10
)

// moveView is the template data of the page on which the user finds the place for documents.
type moveView struct {
	Documents   []movedDocument // selected ones first
	Selected    int
	Instruments []movedInstrument
	Text        string
	Abstracts   []moveTarget
	Folders     []moveTarget
	Back        string
}

// movedDocument is a document that can be moved. Kept is the end of the retention period that it keeps,
// or zero if it keeps none.
type movedDocument struct {
	model.File
	Selected bool
	Kept     time.Time
}

// movedInstrument is an instrument that can move together with the selected documents.
type movedInstrument struct {
	vault.MovableInstrument
	Name     string
	Selected bool
}

// moveTarget is a place that documents can be moved to.
type moveTarget struct {
	search.Hit
	Value, Path string
}

// formatIDs encodes IDs as ascending ranges, such as "3-7,12".
func formatIDs(ids []uint64) string {
	var b strings.Builder
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	for i := 0; i < len(sorted); {
		last := i
		for last+1 < len(sorted) && sorted[last+1] == sorted[last]+1 {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, sorted[i])
		if last > i {
			fmt.Fprintf(&b, "-%d", sorted[last])
		}
		i = last + 1
	}
	return b.String()
}

// parseIDs decodes ranges of IDs. ok is false if they are invalid or too many.
func parseIDs(text string) (ids []uint64, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.ParseUint(first, 10, 63)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseUint(last, 10, 63)
		}
		if err != nil || from == 0 || to < from || to-from >= maxSelected || len(ids) > maxSelected {
			return nil, false
		}
		for id := from; id <= to; id++ {
			ids = append(ids, id)
		}
	}
	return ids, true
}

// parsePlaceField parses a place in a form: a page.Place or the ID of a folder.
func (p *Pages) parsePlaceField(text string) (page.Place, bool) {
	if id, err := strconv.ParseUint(text, 10, 63); err == nil {
		return page.Place{Folder: id}, true
	}
	return p.ParsePlace(text)
}

// movePage serves the page on which the user finds the place for documents.
func (p *Pages) movePage(r *page.Request) error {
	if err := page.CheckAccess(r.Visitor, page.MayWrite); err != nil {
		return err
	}
	query := r.URL.Query()
	ids, ok := parseIDs(query.Get("files"))
	for _, text := range query["file"] {
		id, err := strconv.ParseUint(text, 10, 63)
		ok = ok && err == nil
		ids = append(ids, id)
	}
	if r.PathID != 0 && !query.Has("asked") {
		ids = append(ids, r.PathID)
	}
	if !ok || len(ids) > maxSelected {
		return errs.InvalidField("file", "Select at most %s documents at a time.", page.FormatCount(maxSelected))
	}
	if len(ids) == 0 && r.PathID == 0 && !query.Has("asked") {
		return p.RedirectWithFailure(r, "/vault", "No documents were selected.")
	}
	view, at, err := p.newMoveView(r, ids)
	if err != nil {
		return err
	}
	if err := p.findTargets(r, &view, at); err != nil {
		return err
	}
	if r.IsPart() {
		block := "move-targets"
		if r.Header.Get("HX-Target") == "move-instruments" {
			block = "move-instruments"
		}
		return p.RenderPart(r, http.StatusOK, "document-move.html", block, view)
	}
	return p.RenderPage(r, http.StatusOK, "document-move.html", page.Page{
		Heading: "Move documents", Section: map[bool]string{true: "abstracts", false: "vault"}[at.Abstract != 0],
		Data: view, Styles: []string{"record.css"},
	})
}

// newMoveView returns the documents and instruments that can be moved, and where the first selected
// document is.
func (p *Pages) newMoveView(r *page.Request, ids []uint64) (view moveView, at page.Place, err error) {
	query := r.URL.Query()
	var shown uint64 // any of the documents
	for _, id := range slices.Concat(ids, []uint64{r.PathID}) {
		file, err := p.App.Files.Get(r.Context(), id)
		if errs.KindOf(err) == errs.NotFound {
			continue
		}
		if err != nil {
			return view, at, err
		}
		if shown == 0 {
			shown, at = file.ID, page.DocumentPlace(file)
		}
		if slices.Contains(ids, id) && !slices.ContainsFunc(view.Documents, func(d movedDocument) bool { return d.ID == id }) {
			view.Documents = append(view.Documents, movedDocument{File: file, Selected: true})
		}
	}
	if shown == 0 {
		return view, at, page.NotFound(r)
	}
	view.Selected = len(view.Documents)
	if at.Abstract != 0 {
		record, err := p.App.Abstracts.Get(r.Context(), at.Abstract)
		if err != nil {
			return view, at, err
		}
		for _, file := range record.Files {
			if !slices.Contains(ids, file.ID) && len(view.Documents)-view.Selected < maxOthers {
				view.Documents = append(view.Documents, movedDocument{File: file})
			}
		}
	}
	if err := p.setKept(r.Context(), view.Documents); err != nil {
		return view, at, err
	}
	view.Text = strings.TrimSpace(query.Get("q"))
	view.Back = p.PlacePath(at)
	if back := query.Get("back"); back != "" {
		view.Back = page.LocalAddress(back)
	}
	instruments, err := p.App.Files.MovableInstruments(r.Context(), ids)
	for _, i := range instruments {
		selected, id := i.OnlyInSelected, strconv.FormatUint(i.ID, 10)
		if slices.Contains(query["listed"], id) {
			selected = slices.Contains(query["instrument"], id)
		}
		view.Instruments = append(view.Instruments, movedInstrument{i, i.Heading(i.Type), selected})
	}
	return view, at, err
}

// setKept sets the end of the retention period of each document that keeps one.
func (p *Pages) setKept(ctx context.Context, documents []movedDocument) error {
	var files []model.File
	for _, d := range documents {
		files = append(files, d.File)
	}
	ends, err := p.App.Files.RetainedUntil(ctx, files)
	for n, until := range ends {
		if p.Now().Before(until) {
			documents[n].Kept = until
		}
	}
	return err
}

// retentionNotice says until when moved documents are kept, or "" if none keeps a retention period.
func (p *Pages) retentionNotice(moved int, retained []model.File) string {
	if len(retained) == 0 {
		return ""
	}
	first := slices.MinFunc(retained, func(a, b model.File) int { return a.RetainedUntil.Compare(b.RetainedUntil) }).RetainedUntil
	which := page.FormatCount(len(retained)) + " of them"
	switch {
	case moved == 1:
		which = "it"
	case len(retained) == moved:
		which = "them"
	}
	return fmt.Sprintf(" The retention setting keeps %s at least until %s.", which, first.In(p.Zone()).Format("Jan 2, 2006"))
}

// findTargets adds the abstracts and folders that match the text. Without a text, it adds the
// abstracts that were changed last.
func (p *Pages) findTargets(r *page.Request, view *moveView, at page.Place) error {
	find := func() ([]search.Hit, error) { return p.recentAbstracts(r, maxTargets) }
	if view.Text != "" {
		find = func() ([]search.Hit, error) {
			return titlework.FindRecords(p.Site, r, "abstract", view.Text, maxTargets)
		}
	}
	hits, err := find()
	if err != nil {
		return err
	}
	for _, hit := range hits {
		if hit.ID != at.Abstract {
			view.Abstracts = append(view.Abstracts, moveTarget{hit, p.FormatPlace(page.Place{Abstract: hit.ID}), p.AbstractPath(hit.ID)})
		}
	}
	folders, err := p.App.Folders.List(r.Context())
	if err != nil {
		return err
	}
	folders = append([]model.Folder{{Name: "Vault (no folder)"}}, folders...)
	for _, folder := range folders {
		place := page.Place{Folder: folder.ID}
		if place != at && len(view.Folders) < maxTargets && strings.Contains(model.Fold(folder.Name), model.Fold(view.Text)) {
			view.Folders = append(view.Folders, moveTarget{search.Hit{Heading: folder.Name}, p.FormatPlace(place), p.PlacePath(place)})
		}
	}
	return nil
}

// recentAbstracts returns the abstracts that were changed last.
func (p *Pages) recentAbstracts(r *page.Request, limit int) (hits []search.Hit, err error) {
	latest, err := p.App.Abstracts.List(r.Context(), vault.Query{Limit: limit, Sort: model.SortUpdated, Descending: true})
	if err != nil {
		return nil, err
	}
	for _, a := range latest.Items {
		headings, err := p.App.Abstracts.Headings(r.Context(), a.Abstract)
		if err != nil {
			return nil, err
		}
		hits = append(hits, search.Hit{ID: a.Abstract.ID, Heading: headings[0], Subheading: a.Abstract.Subheading(), Status: a.Abstract.Status,
			Documents: len(a.Files), CreatedAt: a.Abstract.CreatedAt})
	}
	return hits, nil
}

// moveDocuments moves the selected documents, and instruments with them, to an abstract or a folder.
func (p *Pages) moveDocuments(r *page.Request) error {
	ids, err := selectedDocuments(r)
	if err != nil {
		return err
	}
	form := r.PostForm
	address := page.ReturnAddress(r, "/vault")
	switch {
	case len(ids) == 0:
		return p.RedirectWithFailure(r, address, "No documents were selected.")
	case form.Get("to") == "":
		return p.RedirectWithFailure(r, address, "Select a folder to move the documents to.")
	case form.Get("to") == pickPlace:
		return r.Redirect(page.WithQuery("/documents/move", url.Values{"files": {formatIDs(ids)}, "back": {address}}))
	}
	req, err := p.moveRequest(form, ids)
	if err != nil {
		return err
	}
	undo := ""
	if req.From == nil {
		if undo, err = p.moveUndoAddress(r.Context(), req); err != nil {
			return err
		}
	}
	result, err := p.App.Files.Move(r.Context(), r.Actor, req)
	if err != nil {
		return err
	}
	action := "moved"
	if req.From != nil {
		action = "moved back"
	} else if req.To.Abstract != 0 {
		_, heading, err := p.App.Abstracts.WithHeading(r.Context(), req.To.Abstract)
		if err != nil {
			return err
		}
		action = "moved to “" + heading + "”"
	}
	notice := bulkNotice(result.Moved, result.Skipped, action)
	if result.Instruments > 0 {
		notice += " " + page.Plural(result.Instruments, "instrument", "instruments") + " moved too."
	}
	notice += p.retentionNotice(result.Moved, result.Retained)
	return p.RedirectWithUndo(r, address, notice, undo)
}

// moveRequest returns the move that a form describes. A form that undoes a move also says where the
// documents are and their positions in the abstract, in the sequence of their IDs.
func (p *Pages) moveRequest(form url.Values, ids []uint64) (req vault.MoveRequest, err error) {
	invalid := errs.InvalidField("to", "Select an abstract or a folder from the list.")
	to, ok := p.parsePlaceField(form.Get("to"))
	if !ok {
		return req, invalid
	}
	req = vault.MoveRequest{Files: ids, To: vault.Destination(to)}
	if instruments, ok := parseIDs(strings.Join(form["instrument"], ",")); ok {
		req.Instruments = instruments
	}
	if !form.Has("from") {
		return req, nil
	}
	from, ok := p.parsePlaceField(form.Get("from"))
	if !ok {
		return req, invalid
	}
	req.From = (*vault.Destination)(&from)
	if positions, ok := parseIDs(form.Get("at")); ok && len(positions) == len(ids) {
		req.Positions = map[uint64]int{}
		for n, id := range slices.Sorted(slices.Values(ids)) {
			req.Positions[id] = int(positions[n]) - 1 // the list of an abstract is short
		}
	}
	return req, nil
}

// moveUndoAddress returns the undo address of a move. It returns "" if the documents are in several
// places; no page shows such a selection.
func (p *Pages) moveUndoAddress(ctx context.Context, req vault.MoveRequest) (undo string, err error) {
	var moved []uint64
	var from page.Place
	to := page.Place(req.To)
	for _, id := range req.Files {
		file, err := p.App.Files.Get(ctx, id)
		at := page.DocumentPlace(file)
		switch {
		case errs.KindOf(err) == errs.NotFound:
			continue
		case err != nil:
			return "", err
		case at == to:
			continue
		case len(moved) > 0 && at != from:
			return "", nil
		}
		from = at
		moved = append(moved, id)
	}
	if len(moved) == 0 {
		return "", nil
	}
	fields := url.Values{"files": {formatIDs(moved)}, "from": {p.FormatPlace(to)}, "to": {p.FormatPlace(from)}}
	if len(req.Instruments) > 0 {
		fields.Set("instrument", formatIDs(req.Instruments))
	}
	if from.Abstract != 0 {
		record, err := p.App.Abstracts.Get(ctx, from.Abstract)
		if err != nil {
			return "", err
		}
		fields.Set("at", positionsIn(record.Abstract.Files, moved))
	}
	return page.UndoAddress("/documents/move", fields), nil
}

// positionsIn returns the positions of documents in a list, from 1, in the sequence of their IDs.
// Consecutive positions are a range.
func positionsIn(list, ids []uint64) string {
	var parts []string
	first, last := 0, 0
	add := func() {
		switch first {
		case 0:
		case last:
			parts = append(parts, strconv.Itoa(first))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		n := slices.Index(list, id) + 1
		if first == 0 || n != last+1 {
			add()
			first = n
		}
		last = n
	}
	add()
	return strings.Join(parts, ",")
}
