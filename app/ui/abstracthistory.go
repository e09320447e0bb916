package ui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

const (
	historyBrief = 8
	historyAPage = 50
	// filedTogether is how long a run of documents may take that is told as one.
	filedTogether = 10 * time.Minute
)

// historyLine is one thing that was done, in words.
type historyLine struct {
	Who, What string
	Changes   []changeLine
	Names     []string // of the documents that it is about
	More      int      // of them, not named
	At        time.Time
	event     model.Event
}

// historySheet is the page of a history.
type historySheet struct {
	Path, Heading string
	Lines         []historyLine
	Next          string
}

// abstractHistory shows all that was done, a page at a time; to a part of the abstract's
// own page, the newest of it.
func (p *pages) abstractHistory(w http.ResponseWriter, r *http.Request, who visitor) error {
	filed, template, err := p.abstractRead(r)
	if err != nil {
		return err
	}
	sheet := p.abstractSheet(filed.Abstract, template)
	if isPart(r) {
		if sheet.Documents, err = p.documentList(r, filed); err != nil {
			return err
		}
		if sheet.History, err = p.shortHistory(r.Context(), who, filed, template, sheet.Documents); err != nil {
			return err
		}
		return p.part(w, r, who, http.StatusOK, "abstract.html", "history", sheet)
	}
	before, _ := strconv.ParseUint(r.URL.Query().Get("before"), 10, 63) // anything else: the newest
	h, err := p.Vault.Abstracts.History(r.Context(), who.Actor, filed.Abstract.ID, before, nil, historyAPage)
	if err != nil {
		return err
	}
	shown := historySheet{Path: sheet.Path, Heading: sheet.Heading, Lines: linesOf(h, template.Fields)}
	if h.Before != 0 {
		shown.Next = address(sheet.Path+"/history", url.Values{"before": {strconv.FormatUint(h.Before, 10)}})
	}
	return p.show(w, r, who, http.StatusOK, "abstracthistory.html", page{Heading: "History of " + sheet.Heading, Section: "abstracts", Data: shown, Styles: []string{"record.css"}})
}

// shortHistory is the newest of it: of the documents that are shown, and of those that
// came last.
func (p *pages) shortHistory(ctx context.Context, who visitor, filed vault.Filed, template model.Template, l documentList) ([]historyLine, error) {
	documents := make([]uint64, 0, len(l.Rows)+historyAPage)
	for _, d := range l.Rows {
		documents = append(documents, d.ID)
	}
	if n := len(filed.Abstract.Files); l.Last() < n {
		documents = append(documents, filed.Abstract.Files[max(l.Last(), n-historyAPage):]...)
	}
	h, err := p.Vault.Abstracts.History(ctx, who.Actor, filed.Abstract.ID, 0, documents, historyAPage)
	if err != nil {
		return nil, err
	}
	lines := linesOf(h, template.Fields)
	return lines[:min(len(lines), historyBrief)], nil
}

// linesOf tells events in words, documents that came together as one.
func linesOf(h vault.History, defs []model.Field) []historyLine {
	var lines []historyLine
	for _, e := range h.Events {
		what := wordOf(e.Kind).brief
		if what == "" {
			continue
		}
		line := historyLine{Who: actorWords(e.Actor), What: what, At: e.At, event: e}
		if strings.HasPrefix(e.Record, "file:") {
			line.Names = []string{cmp.Or(h.Names[e.Record], "a document")}
		}
		if strings.HasSuffix(e.Kind, ".changed") {
			line.Names = nil
			for _, c := range e.Changes {
				if c.Field != "files" { // their order has no values to show
					line.Changes = append(line.Changes, changeWords(c, defs, nil))
				}
			}
			if len(line.Changes) == 0 && e.Kind == "abstract.changed" {
				line.What = "put the documents into another order"
			}
		}
		if n := len(lines); n > 0 && lines[n-1].joins(line) {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// joins takes an earlier line into this one where both tell of the same done to several
// documents.
func (l *historyLine) joins(earlier historyLine) bool {
	if l.event.Kind != earlier.event.Kind || l.Who != earlier.Who || len(l.Names) == 0 || len(earlier.Names) == 0 || l.At.Sub(earlier.At) > filedTogether {
		return false
	}
	switch {
	case slices.Contains(l.Names, earlier.Names[0]):
	case len(l.Names) < 3:
		l.Names = append(l.Names, earlier.Names...)
	default:
		l.More++
	}
	return true
}

// byWhom is actorWords within a sentence.
func byWhom(a model.Actor) string {
	words := actorWords(a)
	if a.Name == "" && words != "" {
		return strings.ToLower(words[:1]) + words[1:]
	}
	return words
}
