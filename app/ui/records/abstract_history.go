package records

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
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

const (
	recentHistoryLines = 8
	historyPerPage     = 50
	historyNames       = 3 // names that a line shows at first
	// uploadMergeWindow is the maximum time between two uploads that are shown in one line.
	uploadMergeWindow = 10 * time.Minute
)

// historyLine is a line of a record's history.
type historyLine struct {
	Who, What string
	Changes   []string // in words
	Moved     string   // where a document moved from and to; "" if that is among several changes
	Names     []string // names of the affected documents or instruments; see First
	At        time.Time
	event     model.Event
	records   []string // references of Names
}

// abstractHistory serves the complete history of an abstract, one page at a time. For a script, it
// serves the recent history that is part of the abstract's page.
func (p *Pages) abstractHistory(r *page.Request) error {
	record, template, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	view, err := p.newAbstractView(r.Context(), record.Abstract, template)
	if err != nil {
		return err
	}
	if r.IsPart() {
		if view.Documents, err = p.listDocuments(r, record); err != nil {
			return err
		}
		if view.History, err = p.recentHistory(r, record, template, view.Documents); err != nil {
			return err
		}
		return p.RenderPart(r, http.StatusOK, "abstract.html", "history", view)
	}
	q := vault.HistoryQuery{Views: r.URL.Query().Get("views") == "1", Limit: historyPerPage}
	q.Before, _ = strconv.ParseUint(r.URL.Query().Get("before"), 10, 63) // 0 starts at the newest entry
	h, err := p.App.Abstracts.History(r.Context(), r.Actor, record.Abstract.ID, q)
	if err != nil {
		return err
	}
	if view.History, err = p.historyLines(r.Context(), h.Events, template.Fields); err != nil {
		return err
	}
	next := ""
	if h.Before != 0 {
		values := url.Values{"before": {strconv.FormatUint(h.Before, 10)}}
		if q.Views {
			values.Set("views", "1")
		}
		next = page.WithQuery(view.Path+"/history", values)
	}
	return p.RenderPage(r, http.StatusOK, "abstract-history.html", page.Page{
		Heading: "History of " + view.Heading, Section: "abstracts", Styles: []string{"record.css"}, Data: struct {
			abstractView
			Next  string
			Views bool
		}{view, next, q.Views},
	})
}

// recentHistory returns the newest history entries of the abstract, of the documents on the shown
// page, and of the most recently added documents.
func (p *Pages) recentHistory(r *page.Request, record vault.AbstractWithFiles, template model.Template, l documentList) ([]historyLine, error) {
	documents := l.rowIDs()
	if n := len(record.Abstract.Files); l.Last() < n {
		documents = append(documents, record.Abstract.Files[max(l.Last(), n-historyPerPage):]...)
	}
	h, err := p.App.Abstracts.History(r.Context(), r.Actor, record.Abstract.ID,
		vault.HistoryQuery{Documents: documents, Limit: historyPerPage})
	if err != nil {
		return nil, err
	}
	lines, err := p.historyLines(r.Context(), h.Events, template.Fields)
	return lines[:min(len(lines), recentHistoryLines)], err
}

// historyLines formats the events. Documents that were uploaded together share a line.
func (p *Pages) historyLines(ctx context.Context, events []model.Event, defs []model.Field) (lines []historyLine, err error) {
	names, err := p.App.Names(ctx, page.UnnamedRecords(events))
	if err != nil {
		return nil, err
	}
	staff, err := p.work.Staff(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		what := page.EventTextOf(e).Brief
		if what == "" {
			continue
		}
		line := historyLine{Who: staff.ActorName(e.Actor), What: what, Changes: page.ChangeTexts(e, defs, names), At: e.At, event: e,
			records: []string{e.Record}}
		recordType, _, _ := strings.Cut(e.Record, ":")
		switch recordType {
		case "file", "instrument":
			line.Names = []string{cmp.Or(page.EventRecordName(e, e.Record, names), page.WithArticle(page.RecordLabel(recordType)))}
		}
		line.describeMove()
		if e.Detail["undo"] != "" {
			line.What = "used Undo and " + line.What
		}
		if n := len(lines); n > 0 && lines[n-1].merge(line) {
			continue
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// describeMove makes the text of a move the predicate of the line.
func (l *historyLine) describeMove() {
	const verb = "moved "
	for n, text := range l.Changes {
		if place, moved := strings.CutPrefix(text, verb); moved {
			l.What = strings.TrimSuffix(verb, " ")
			if len(l.Changes) == 1 {
				l.Moved, l.Changes = place, nil
			} else if n > 0 {
				l.What = "renamed and moved"
			}
		}
	}
}

// merge adds the event of an earlier line to l and reports true if both describe the same action on
// different documents. Otherwise it reports false.
func (l *historyLine) merge(earlier historyLine) bool {
	if l.event.Kind != earlier.event.Kind || l.What != earlier.What || l.Who != earlier.Who || len(l.Names) == 0 || len(earlier.Names) == 0 ||
		len(l.Changes)+len(earlier.Changes) > 0 || l.Moved != earlier.Moved || l.At.Sub(earlier.At) > uploadMergeWindow {
		return false
	}
	if !slices.Contains(l.records, earlier.event.Record) { // several records can have the same name
		l.Names, l.records = append(l.Names, earlier.Names...), append(l.records, earlier.event.Record)
	}
	return true
}

// First returns the names that the line shows. All of them follow on demand if there are more.
func (l historyLine) First() []string { return l.Names[:min(len(l.Names), historyNames)] }

// More returns the number of names that aren't in First.
func (l historyLine) More() int { return len(l.Names) - len(l.First()) }
