package records

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// statusConflict reports whether another user changed the status after the form was rendered, and
// the form would change it again.
func statusConflict(r *http.Request, is string) bool {
	was, submitted := r.PostForm["was"]
	return submitted && was[len(was)-1] != is && r.PostForm.Get("status") != is
}

// statusConflictText says who changed the status in the meantime, and when.
func (p *Pages) statusConflictText(ctx context.Context, record, is string) (string, error) {
	text := "The status is “" + page.FormatStatus(is) + "” meanwhile"
	log, err := p.Vault.Events.List(ctx, vault.Query{Filters: []vault.Filter{{Column: vault.ColumnRecord, Value: record}}, Descending: true, Limit: 20})
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(log.Items, func(e model.Event) bool {
		return slices.ContainsFunc(e.Changes, func(c model.Change) bool { return c.Field == "status" })
	})
	if at >= 0 {
		e := log.Items[at]
		text += " (" + page.ActorInSentence(e.Actor) + ", " + page.ClockTime(e.At.In(p.Zone)) + ")"
	}
	return text + ". Nothing was changed: choose again if it should be another.", nil
}

// matchSeenVersion makes a change fail if the record changed after it was read. It applies only if
// the form contains the status that it was rendered with.
func matchSeenVersion(r *http.Request, version uint64) vault.Match {
	if _, submitted := r.PostForm["was"]; !submitted {
		return vault.Match{}
	}
	return vault.Match{Given: true, Versions: []uint64{version}}
}

// statusChange is the result of submitting a status form.
type statusChange struct {
	Was   string // status before the change
	Clash string // why the status was not changed
}

// undoStatus returns the status that Undo restores. It returns "" if there is nothing to undo, or
// if the previous status is no longer in the list.
func (t statusChange) undoStatus(now string, statuses []string) string {
	if t.Clash != "" || t.Was == now || !slices.Contains(statuses, t.Was) {
		return ""
	}
	return t.Was
}

// undoAddress returns the address that the Undo button posts to. If the status has changed again by
// then, the button changes nothing.
func (t statusChange) undoAddress(path, now string, statuses []string) string {
	back := t.undoStatus(now, statuses)
	if back == "" {
		return ""
	}
	return page.UndoAddress(path+"/status", url.Values{"was": {now}, "status": {back}})
}

// changeAbstractStatus sets the submitted status. If another user changed the status in the
// meantime, it reports the conflict in change.Clash.
func (p *Pages) changeAbstractStatus(r *http.Request, visitor page.Visitor) (filed vault.AbstractWithFiles, change statusChange, err error) {
	status := model.Some(model.StringInput(r.PostForm.Get("status")))
	for tries := 1; ; tries++ {
		if filed, _, err = p.readAbstract(r); err != nil {
			return filed, change, err
		}
		a := filed.Abstract
		change.Was = a.Status
		if statusConflict(r, a.Status) {
			change.Clash, err = p.statusConflictText(r.Context(), "abstract:"+strconv.FormatUint(a.ID, 10), a.Status)
			return filed, change, err
		}
		filed, err = p.Vault.Abstracts.Patch(r.Context(), visitor.Actor, a.ID, model.AbstractPatch{Status: status}, matchSeenVersion(r, a.Version))
		if errs.KindOf(err) != errs.PreconditionFailed || tries == maxRetries {
			return filed, change, err
		}
	}
}

// changeOrderStatus is like changeAbstractStatus, but for orders.
func (p *Pages) changeOrderStatus(r *http.Request, visitor page.Visitor) (o model.Order, change statusChange, err error) {
	id, err := p.OrderID(r)
	if err != nil {
		return o, change, err
	}
	status := model.Some(model.StringInput(r.PostForm.Get("status")))
	for tries := 1; ; tries++ {
		if o, err = p.Vault.Orders.Get(r.Context(), id); err != nil {
			return o, change, err
		}
		change.Was = o.Status
		if statusConflict(r, o.Status) {
			change.Clash, err = p.statusConflictText(r.Context(), "order:"+strconv.FormatUint(id, 10), o.Status)
			return o, change, err
		}
		o, err = p.Vault.Orders.Patch(r.Context(), visitor.Actor, id, model.OrderPatch{Status: status}, matchSeenVersion(r, o.Version))
		if errs.KindOf(err) != errs.PreconditionFailed || tries == maxRetries {
			return o, change, err
		}
	}
}
