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
	// uploadMergeWindow is the maximum time between two uploads that are shown in one line.
	uploadMergeWindow = 10 * time.Minute
)

// historyLine is a line of a record's history.
type historyLine struct {
	Who, What string
	Changes   []page.ChangeLine
	Names     []string // names of the affected documents or instruments
	More      int      // number of those that are not in Names
	At        time.Time
	event     model.Event
}

// abstractHistory serves the complete history of an abstract, one page at a time. For a script, it
// serves the recent history that is part of the abstract's page.
func (p *Pages) abstractHistory(r *page.Request) error {
	filed, template, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	view := p.newAbstractView(filed.Abstract, template)
	if r.IsPart() {
		if view.Documents, err = p.listDocuments(r, filed); err != nil {
			return err
		}
		if view.History, err = p.recentHistory(r, filed, template, view.Documents); err != nil {
			return err
		}
		return p.RenderPart(r, http.StatusOK, "abstract.html", "history", view)
	}
	q := vault.HistoryQuery{Views: r.URL.Query().Get("views") == "1", Limit: historyPerPage}
	q.Before, _ = strconv.ParseUint(r.URL.Query().Get("before"), 10, 63) // 0 starts at the newest entry
	h, err := p.Vault.Abstracts.History(r.Context(), r.Actor, filed.Abstract.ID, q)
	if err != nil {
		return err
	}
	if view.History, err = p.historyLines(r.Context(), h, template.Fields); err != nil {
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
	return p.RenderPage(r, http.StatusOK, "abstracthistory.html", page.Page{
		Heading: "History of " + view.Heading, Section: "abstracts", Styles: []string{"record.css"}, Data: struct {
			abstractView
			Next  string
			Views bool
		}{view, next, q.Views},
	})
}

// recentHistory returns the newest history entries of the abstract, of the documents on the shown
// page, and of the most recently added documents.
func (p *Pages) recentHistory(r *page.Request, filed vault.AbstractWithFiles, template model.Template, l documentList) ([]historyLine, error) {
	documents := l.rowIDs()
	if n := len(filed.Abstract.Files); l.Last() < n {
		documents = append(documents, filed.Abstract.Files[max(l.Last(), n-historyPerPage):]...)
	}
	h, err := p.Vault.Abstracts.History(r.Context(), r.Actor, filed.Abstract.ID,
		vault.HistoryQuery{Documents: documents, Limit: historyPerPage})
	if err != nil {
		return nil, err
	}
	lines, err := p.historyLines(r.Context(), h, template.Fields)
	return lines[:min(len(lines), recentHistoryLines)], err
}

// historyLines formats the events. Documents that were uploaded together share a line. Of a changed
// instrument, only the name is shown.
func (p *Pages) historyLines(ctx context.Context, h vault.History, defs []model.Field) (lines []historyLine, err error) {
	names, err := p.Vault.Names(ctx, page.ReferencedRecords(h.Events))
	if err != nil {
		return nil, err
	}
	for _, e := range h.Events {
		what := page.EventTextOf(e.Kind).Brief
		if what == "" {
			continue
		}
		line := historyLine{Who: page.ActorText(e.Actor), What: what, At: e.At, event: e}
		if strings.HasPrefix(e.Record, "file:") {
			line.Names = []string{cmp.Or(h.Names[e.Record], "a document")}
		}
		if strings.HasPrefix(e.Record, "instrument:") {
			line.Names = []string{cmp.Or(h.Names[e.Record], "an instrument")}
		} else if strings.HasSuffix(e.Kind, ".changed") {
			line.describeChanges(e, defs, names)
		}
		if n := len(lines); n > 0 && lines[n-1].merge(line) {
			continue
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// describeChanges sets what a changed event did to its record. A document was moved, renamed, or both.
func (l *historyLine) describeChanges(e model.Event, defs []model.Field, names map[string]vault.RecordName) {
	document := l.Names
	l.Names = nil
	var from, to string // where a moved document was, and where it is
	for _, c := range e.Changes {
		switch change := page.DescribeChange(c, defs, names); c.Field {
		case "files": // a changed document sequence has no values to show
		case "abstract_id", "folder_id":
			from, to = cmp.Or(from, change.From), cmp.Or(to, change.To)
		case "filename":
			change.Label = "a document"
			l.Changes = append(l.Changes, change)
		default:
			l.Changes = append(l.Changes, change)
		}
	}
	if from+to != "" {
		if len(l.Changes) > 0 {
			l.What = "renamed and moved"
		} else {
			l.What = "moved"
		}
		const noFolder = "Vault (no folder)"
		l.Changes = append(l.Changes, page.ChangeLine{Label: strings.Join(document, ""), From: cmp.Or(from, noFolder), To: cmp.Or(to, noFolder)})
	}
	if len(l.Changes) == 0 && e.Kind == "abstract.changed" {
		l.What = "reordered the documents"
	}
}

// merge adds the event of an earlier line to l and reports true if both describe the same action on
// different documents. Otherwise it reports false.
func (l *historyLine) merge(earlier historyLine) bool {
	if l.event.Kind != earlier.event.Kind || l.Who != earlier.Who || len(l.Names) == 0 || len(earlier.Names) == 0 || l.At.Sub(earlier.At) > uploadMergeWindow {
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
