package ui

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// statusClash reports whether a status is no more what somebody saw who sets another.
func statusClash(r *http.Request, is string) bool {
	was, told := r.PostForm["was"]
	return told && was[len(was)-1] != is && r.PostForm.Get("status") != is
}

// statusBy says what a status was made meanwhile, by whom and when.
func (p *pages) statusBy(ctx context.Context, record, is string) (string, error) {
	said := "The status is “" + humane(is) + "” meanwhile"
	log, err := p.Vault.Events.List(ctx, vault.Query{Filters: []vault.Filter{{Column: vault.ColumnRecord, Value: record}}, Descending: true, Limit: 20})
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(log.Items, func(e model.Event) bool {
		return slices.ContainsFunc(e.Changes, func(c model.Change) bool { return c.Field == "status" })
	})
	if at >= 0 {
		e := log.Items[at]
		said += " (" + byWhom(e.Actor) + ", " + clockTime(e.At.In(p.Zone)) + ")"
	}
	return said + ". Nothing was changed: choose again if it should be another.", nil
}

// expects holds a change to the version that was looked at, where a form says what it
// saw.
func expects(r *http.Request, version uint64) vault.Match {
	if _, told := r.PostForm["was"]; !told {
		return vault.Match{}
	}
	return vault.Match{Given: true, Versions: []uint64{version}}
}

// turned is what a form that sets a status came to.
type turned struct {
	Was   string // the status before
	Clash string // why nothing was changed
}

// back is the status that an Undo sets, "" where there is nothing to undo: a status
// that the list has lost is not set again.
func (t turned) back(now string, statuses []string) string {
	if t.Clash != "" || t.Was == now || !slices.Contains(statuses, t.Was) {
		return ""
	}
	return t.Was
}

// undo is the form that sets the status before, unless another is set by then.
func (t turned) undo(path, now string, statuses []string) string {
	back := t.back(now, statuses)
	if back == "" {
		return ""
	}
	return undoOf(path+"/status", url.Values{"was": {now}, "status": {back}})
}

// turnAbstract sets the status that a form asks for, or says why it did not: somebody
// else has set it since the form was shown.
func (p *pages) turnAbstract(r *http.Request, who visitor) (filed vault.Filed, turn turned, err error) {
	status := model.Some(model.StringInput(r.PostForm.Get("status")))
	for tries := 1; ; tries++ {
		if filed, _, err = p.abstractRead(r); err != nil {
			return filed, turn, err
		}
		a := filed.Abstract
		turn.Was = a.Status
		if statusClash(r, a.Status) {
			turn.Clash, err = p.statusBy(r.Context(), "abstract:"+strconv.FormatUint(a.ID, 10), a.Status)
			return filed, turn, err
		}
		filed, err = p.Vault.Abstracts.Patch(r.Context(), who.Actor, a.ID, model.AbstractPatch{Status: status}, expects(r, a.Version))
		if errs.KindOf(err) != errs.PreconditionFailed || tries == mostTries {
			return filed, turn, err
		}
	}
}

// turnOrder is turnAbstract for orders.
func (p *pages) turnOrder(r *http.Request, who visitor) (o model.Order, turn turned, err error) {
	id, err := p.orderID(r)
	if err != nil {
		return o, turn, err
	}
	status := model.Some(model.StringInput(r.PostForm.Get("status")))
	for tries := 1; ; tries++ {
		if o, err = p.Vault.Orders.Get(r.Context(), id); err != nil {
			return o, turn, err
		}
		turn.Was = o.Status
		if statusClash(r, o.Status) {
			turn.Clash, err = p.statusBy(r.Context(), "order:"+strconv.FormatUint(id, 10), o.Status)
			return o, turn, err
		}
		o, err = p.Vault.Orders.Patch(r.Context(), who.Actor, id, model.OrderPatch{Status: status}, expects(r, o.Version))
		if errs.KindOf(err) != errs.PreconditionFailed || tries == mostTries {
			return o, turn, err
		}
	}
}
