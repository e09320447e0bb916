package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/audit"
	"deedkeep/app/model"
	"deedkeep/app/txn"
	"deedkeep/app/ui/page"
)

// csvBatchBytes is an upper estimate of the size of one batch of entries.
const csvBatchBytes = 1 << 20

// activityCSV exports the filtered audit log, oldest entry first, in the format of "deedkeep events
// export" with two more columns: the name of the record and the local time. If an error occurs in
// the middle, the connection is aborted, so that the client doesn't take the file for complete.
func (p *Pages) activityCSV(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	problems := map[string]string{}
	q, _, err := p.eventQuery(r.Context(), visitor, page.ListParams(r, activityFilters...), problems)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		return page.NewHTTPError(http.StatusUnprocessableEntity, "This cannot be exported so", problem)
	}
	now := p.LocalNow()
	if q.CreatedTo.IsZero() || q.CreatedTo.After(now) {
		q.CreatedTo = now // new entries must not keep the export running
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
		p.SetWriteDeadline(w, csvBatchBytes) // each batch has a deadline, the complete export has none
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

// writeEvents writes a batch of entries. The names of its records are read together.
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

// abortResponse aborts the connection, so that the client notices that the response is incomplete.
func (p *Pages) abortResponse(r *http.Request, err error) error {
	if r.Context().Err() == nil {
		p.Log.ErrorContext(r.Context(), "activity", "error", err)
	}
	panic(http.ErrAbortHandler)
}

// auditVerification is the progress or the result of a verification of the audit log.
type auditVerification struct {
	txn.Progress[audit.LogReport]
	Known bool // one is running or has finished
}

func (p *Pages) auditVerification() auditVerification {
	at := p.Vault.Events.VerifyProgress()
	return auditVerification{at, !at.Begun.IsZero()}
}

// auditVerificationPart renders the verification for a script, which polls while it is running.
func (p *Pages) auditVerificationPart(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if !page.IsPartRequest(r) {
		page.Redirect(w, r, "/admin/activity")
		return nil
	}
	return p.RenderPart(w, r, visitor, http.StatusOK, "activity.html", "log-check", p.auditVerification())
}

// verifyAuditLog starts a verification of the audit log.
func (p *Pages) verifyAuditLog(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if err := p.Vault.Events.StartVerify(r.Context(), visitor.Actor); err != nil {
		return err
	}
	if page.IsPartRequest(r) {
		return p.RenderPart(w, r, visitor, http.StatusOK, "activity.html", "log-check", p.auditVerification())
	}
	return p.RedirectWithNotice(w, r, "/admin/activity", "The log is being verified.")
}
