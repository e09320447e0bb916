package ui

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"deedkeep/app/title"
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
	log, err := p.Vault.Events.List(ctx, vault.Query{Where: []vault.Where{{Column: vault.ColumnRecord, Value: record}}, Down: true, Limit: 20})
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(log.Items, func(e title.Event) bool {
		return slices.ContainsFunc(e.Changes, func(c title.Change) bool { return c.Field == "status" })
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

// turnAbstract sets the status that a form asks for, or says why it did not: somebody
// else has set it since the form was shown.
func (p *pages) turnAbstract(r *http.Request, who visitor) (filed vault.Filed, clash string, err error) {
	status := title.Send(title.Given(r.PostForm.Get("status")))
	for tries := 1; ; tries++ {
		if filed, _, err = p.abstractRead(r); err != nil {
			return filed, "", err
		}
		a := filed.Abstract
		if statusClash(r, a.Status) {
			clash, err = p.statusBy(r.Context(), "abstract:"+strconv.FormatUint(a.ID, 10), a.Status)
			return filed, clash, err
		}
		filed, err = p.Vault.Abstracts.Patch(r.Context(), who.Actor, a.ID, title.AbstractPatch{Status: status}, expects(r, a.Version))
		if title.KindOf(err) != title.Stale || tries == mostTries {
			return filed, "", err
		}
	}
}

// turnOrder is turnAbstract for orders.
func (p *pages) turnOrder(r *http.Request, who visitor) (o title.Order, clash string, err error) {
	id, err := p.orderID(r)
	if err != nil {
		return o, "", err
	}
	status := title.Send(title.Given(r.PostForm.Get("status")))
	for tries := 1; ; tries++ {
		if o, err = p.Vault.Orders.Get(r.Context(), id); err != nil {
			return o, "", err
		}
		if statusClash(r, o.Status) {
			clash, err = p.statusBy(r.Context(), "order:"+strconv.FormatUint(id, 10), o.Status)
			return o, clash, err
		}
		o, err = p.Vault.Orders.Patch(r.Context(), who.Actor, id, title.OrderPatch{Status: status}, expects(r, o.Version))
		if title.KindOf(err) != title.Stale || tries == mostTries {
			return o, "", err
		}
	}
}
