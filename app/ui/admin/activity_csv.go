package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// csvBatchBytes is more bytes than the entries of one reading have as a rule.
const csvBatchBytes = 1 << 20

// activityCSV streams what the filters of the page leave, the oldest entry first, in
// the form of "deedkeep events export", and behind its columns what people call the
// record and the time of the office. One that was cut off is seen as such: the connection
// ends without the end of the answer.
func (p *Pages) activityCSV(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	problems := map[string]string{}
	q, _, err := p.eventQuery(r.Context(), who, page.ListParams(r, activityFilters...), problems)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		return page.NewHTTPError(http.StatusUnprocessableEntity, "This cannot be exported so", problem)
	}
	now := p.LocalNow()
	if q.CreatedTo.IsZero() || q.CreatedTo.After(now) {
		q.CreatedTo = now // it has an end, however much is going on
	}
	q.Limit = 500
	list, err := p.Vault.Events.List(r.Context(), q)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="deedkeep-activity-%s.csv"`, now.Format(time.DateOnly)))
	h.Set("Content-Security-Policy", page.DocumentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	table := apitypes.NewEventTable(w, "record_name", "local_time")
	for {
		p.SetWriteDeadline(w, csvBatchBytes) // the whole may take an hour, no part of it may
		if err := p.writeEvents(r.Context(), table, list.Items); err != nil {
			return p.abortResponse(r, err)
		}
		if q.Position = list.Next; q.Position == nil {
			break
		}
		if list, err = p.Vault.Events.List(r.Context(), q); err != nil {
			return p.abortResponse(r, err)
		}
	}
	if err := table.Flush(); err != nil {
		return p.abortResponse(r, err)
	}
	return nil
}

// writeEvents adds entries to a table; the names of their records are read at once.
func (p *Pages) writeEvents(ctx context.Context, table *apitypes.EventTable, events []model.Event) error {
	var records []string
	for _, e := range events {
		records = append(records, e.Record)
	}
	names, err := p.Vault.Names(ctx, records)
	if err != nil {
		return err
	}
	for _, e := range events {
		name := cmp.Or(names[e.Record].Text, e.Detail["name"]+e.Detail["number"])
		if err := table.Write(p.Event(e), name, e.At.In(p.Zone).Format(time.DateTime)); err != nil {
			return err
		}
	}
	return nil
}

// abortResponse ends an answer that has begun, so that nobody takes it for whole.
func (p *Pages) abortResponse(r *http.Request, err error) error {
	if r.Context().Err() == nil {
		p.Log.ErrorContext(r.Context(), "activity", "error", err)
	}
	panic(http.ErrAbortHandler)
}

// auditVerification is how far a verification of the log has come, and what the last one found.
type auditVerification struct {
	vault.Progress[vault.LogReport]
	Known bool // there was one, or one goes on
}

func (p *Pages) auditVerification() auditVerification {
	at := p.Vault.Events.Verified()
	return auditVerification{at, !at.Begun.IsZero()}
}

// auditVerificationPart is the part of the page about the verification, for a script that asks
// again while it goes on.
func (p *Pages) auditVerificationPart(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	if !page.IsPartRequest(r) {
		page.Redirect(w, r, "/admin/activity")
		return nil
	}
	return p.RenderPart(w, r, who, http.StatusOK, "activity.html", "log-check", p.auditVerification())
}

// verifyAuditLog begins a verification of the log.
func (p *Pages) verifyAuditLog(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	if err := p.Vault.Events.BeginVerify(r.Context(), who.Actor); err != nil {
		return err
	}
	if page.IsPartRequest(r) {
		return p.RenderPart(w, r, who, http.StatusOK, "activity.html", "log-check", p.auditVerification())
	}
	return p.RedirectWithNotice(w, r, "/admin/activity", "The log is being verified.")
}
