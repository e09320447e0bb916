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

// csvBatchBytes is the estimated maximum size of a batch of entries.
const csvBatchBytes = 1 << 20

// activityCSV exports the filtered audit log, oldest entries first. The format is that of "deedkeep
// events export" with two additional columns: the name of the record and the local time. If an
// error occurs during the export, the connection is aborted, so that the client doesn't mistake the
// file for complete.
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
		q.CreatedTo = now // otherwise, a steady flow of new entries could keep the export running
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
		p.SetWriteDeadline(w, csvBatchBytes) // there is a deadline for each batch, but not for the complete export
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

// writeEvents writes a batch of entries. It reads the names of all their records at once.
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

// auditVerification is the progress or result of verifying the audit log.
type auditVerification struct {
	txn.Progress[audit.LogReport]
	Known bool // a verification is running or has finished
}

func (p *Pages) auditVerification() auditVerification {
	at := p.Vault.Events.VerifyProgress()
	return auditVerification{at, !at.Begun.IsZero()}
}

// auditVerificationPart renders the progress of the verification. A script requests it repeatedly
// while the verification is running.
func (p *Pages) auditVerificationPart(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if !page.IsPartRequest(r) {
		page.Redirect(w, r, "/admin/activity")
		return nil
	}
	return p.RenderPart(w, r, visitor, http.StatusOK, "activity.html", "log-check", p.auditVerification())
}

// verifyAuditLog starts verifying the audit log.
func (p *Pages) verifyAuditLog(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if err := p.Vault.Events.StartVerify(r.Context(), visitor.Actor); err != nil {
		return err
	}
	if page.IsPartRequest(r) {
		return p.RenderPart(w, r, visitor, http.StatusOK, "activity.html", "log-check", p.auditVerification())
	}
	return p.RedirectWithNotice(w, r, "/admin/activity", "The log is being verified.")
}
