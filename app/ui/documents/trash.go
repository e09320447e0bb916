package documents

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// trashPage is the template data of the trash page. The most recently deleted records come first.
type trashPage struct {
	Filters    []trashFilter
	Items      []trashRow
	Keep       string // how long the trash keeps records
	Retention  string // how long the trash keeps abstracts that are subject to retention; "" if not longer than other records
	Templates  bool   // some templates have their own retention period
	Here       string
	Problems   []string
	Prev, Next string
}

// trashFilter is a link that shows only records of one type.
type trashFilter struct {
	Label, Path string
	Chosen      bool
}

// trashRow is a record in the trash. Item is the record's name in the form.
type trashRow struct {
	vault.Trashed
	Item, Label, Who string
	AbstractPath     string // address of the abstract that the document belongs to; "" if the abstract has no page
}

// Purge returns the address of the page for permanently deleting the record.
func (r trashRow) Purge() string { return page.WithQuery(purgePath, url.Values{"item": {r.Item}}) }

// ByRetention reports whether the record is kept longer because of a retention period.
func (r trashRow) ByRetention() bool { return r.Until.Equal(r.Trashed.RetainedUntil) }

const trashPerPage = 50

// trashTypes are the record types in the filter of the trash.
var trashTypes = []string{"file", "abstract", "order", "instrument", "note"}

func (p *Pages) trashListPage(r *page.Request) error {
	return p.showTrash(r, http.StatusOK, nil)
}

func (p *Pages) showTrash(r *page.Request, status int, problems []string) error {
	params := page.ListParams(r, "type")
	q := vault.Query{Descending: true, Limit: trashPerPage}
	retention := p.App.Trash.Retention()
	view := trashPage{Keep: page.FormatDuration(p.App.Trash.Period()), Templates: len(retention.Templates) > 0, Problems: problems}
	if retention.Default > p.App.Trash.Period() {
		view.Retention = page.FormatDuration(retention.Default)
	}
	view.Filters = []trashFilter{{"All", "/trash", params.Get("type") == ""}}
	for _, recordType := range trashTypes {
		chosen := params.Get("type") == recordType
		if chosen {
			q.Filters = []vault.Filter{{Column: model.ColumnKind, Value: recordType}}
		}
		view.Filters = append(view.Filters, trashFilter{trashLabel(recordType) + "s", "/trash?type=" + recordType, chosen})
	}
	p.ApplyCursor(r, params, &q)
	list, err := p.App.Trash.List(r.Context(), q)
	if err != nil {
		return err
	}
	for _, item := range list.Items {
		row := trashRow{Trashed: item, Item: p.PublicRecordName(item.Type, item.ID), Label: trashLabel(item.Type),
			Who: page.ActorText(item.By)}
		if recordName := item.Abstract; recordName != nil && recordName.Live {
			row.AbstractPath = p.AbstractPath(recordName.ID)
		}
		view.Items = append(view.Items, row)
	}
	view.Here = r.URL.RequestURI()
	view.Prev, view.Next = p.PageLinks(r, params, list.Prev, list.Next)
	return p.RenderPage(r, status, "trash.html", page.Page{
		Heading: "Trash", Section: "trash", Data: view, Scripts: []string{"choose.js"},
	})
}

func trashLabel(recordType string) string { return page.UpperFirst(page.RecordLabel(recordType)) }

// maxRestorePerRequest is the maximum number of records that one request can restore. Each record is
// restored in its own transaction.
const maxRestorePerRequest = 200

// restoreTrash restores the selected records one by one. If one record can't be restored, the
// others still are. The form field "only" contains the record if the user clicked the button in its
// row.
func (p *Pages) restoreTrash(r *page.Request) error {
	items := r.PostForm["item"]
	if only := r.PostForm["only"]; len(only) > 0 {
		items = only
	}
	var problems []string
	restored := 0
	if len(items) > maxRestorePerRequest {
		return errs.InvalidField("item", "Select at most %s at a time.", page.FormatCount(maxRestorePerRequest))
	}
	for _, item := range items {
		heading, err := p.restoreRecord(r.Context(), r.Actor, p.ParseRecordName(item))
		switch errs.KindOf(err) {
		case errs.Invalid, errs.Conflict:
			problems = append(problems, strings.TrimSpace(heading+" can't be restored. "+page.ErrorSentence(err)))
		case errs.NotFound:
			problems = append(problems, "One item is no longer in the trash. Someone restored or deleted it, or the server deleted it permanently.")
		default:
			if err != nil {
				return err
			}
			restored++
		}
	}
	notice := page.Plural(restored, "item restored.", "items restored.")
	switch {
	case len(items) == 0:
		return p.showTrash(r, http.StatusUnprocessableEntity, []string{"Nothing is selected. Select the items to restore."})
	case len(problems) > 0 && restored > 0:
		return p.showTrash(r, http.StatusConflict, append(problems, notice))
	case len(problems) > 0:
		return p.showTrash(r, http.StatusConflict, problems)
	}
	return p.RedirectWithNotice(r, page.ReturnAddress(r, "/trash"), notice)
}

// restoreRecord restores the record with the given audit log name. heading is the record's name on
// pages.
func (p *Pages) restoreRecord(ctx context.Context, actor model.Actor, recordName string) (heading string, err error) {
	names, err := p.App.Names(ctx, []string{recordName})
	if err != nil {
		return "", err
	}
	heading = names[recordName].Text
	recordType, id, err := page.SplitRecordName(recordName)
	if err != nil {
		return heading, err
	}
	return heading, p.App.Trash.Restore(ctx, actor, recordType, id)
}
