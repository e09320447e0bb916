package instrumentform

import (
	"context"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
)

// Note is a note about a page of an instrument, for the template "instrument-notes".
type Note struct {
	ID        uint64
	Text      string
	Who       string
	At        time.Time
	Where     string // document and page
	Path      string // address of the viewer with the note, or of the notes of the document
	InViewer  bool   // the note is about an area of the document that the viewer shows
	Highlight bool
}

// Notes returns the notes about the pages of an instrument; see vault.Notes.OfInstrument. shown is the document that the
// viewer shows, or 0. An instrument that doesn't exist has none.
func Notes(ctx context.Context, si *page.Site, instrument, shown uint64) (rows []Note, err error) {
	if instrument == 0 {
		return nil, nil
	}
	list, files, err := si.App.Notes.OfInstrument(ctx, instrument)
	if errs.KindOf(err) == errs.NotFound || err == nil && len(list) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, n := range list {
		_, file, _ := page.SplitRecordName(n.Record) // the record of a stored note is valid
		row := Note{ID: n.ID, Text: n.Excerpt(), Who: page.ActorText(n.By), At: n.CreatedAt, Highlight: n.Area != nil}
		if n.Page != 0 {
			row.Where = "page " + strconv.Itoa(n.Page)
		}
		if file != shown {
			row.Where = files[file].Filename + map[bool]string{true: ", "}[row.Where != ""] + row.Where
		}
		if row.Path = page.DocumentPath(file) + "/notes#note-" + strconv.FormatUint(n.ID, 10); n.Area != nil {
			row.Path, row.InViewer = page.NotePath(file, n), file == shown
		}
		rows = append(rows, row)
	}
	return rows, nil
}
