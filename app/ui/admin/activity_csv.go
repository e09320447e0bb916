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
)

// activityCSV exports the filtered audit log, oldest entries first. The format is that of "deedkeep
// events export" with two additional columns: the name of the record and the local time. If an
// error occurs during the export, the connection is aborted, so that the client doesn't mistake the
// file for complete.
func (p *Pages) activityCSV(r *page.Request) error {
	problems := map[string]string{}
	q, _, err := p.eventQuery(r, page.ListParams(r, activityFilters...), problems)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		return page.NewHTTPError(http.StatusUnprocessableEntity, "Check your input", problem)
	}
	now := p.LocalNow()
	if q.CreatedTo.IsZero() || q.CreatedTo.After(now) {
		q.CreatedTo = now // otherwise, a steady flow of new entries could keep the export running
	}
	q.Limit = 500
	list, err := p.App.Events.List(r.Context(), q)
	if err != nil {
		return err
	}
	r.SetDataHeaders("text/csv; charset=utf-8", page.DocumentPolicy, "no-store")
	r.W.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="deedkeep-activity-%s.csv"`, now.Format(time.DateOnly)))
	if r.Method == http.MethodHead {
		return nil
	}
	table := apitypes.NewEventTable(r.W, "record_name", "local_time")
	for {
		err := p.writeEvents(r.Context(), table, list.Items)
		switch q.Position = list.Next; {
		case err != nil:
		case q.Position != nil:
			list, err = p.App.Events.List(r.Context(), q)
		default:
			err = table.Flush()
		}
		if err != nil {
			p.AbortResponse(r, "audit log export", err)
		}
		if q.Position == nil {
			return nil
		}
	}
}

// writeEvents writes a batch of entries. It reads the names of all their records at once.
func (p *Pages) writeEvents(ctx context.Context, table *apitypes.EventTable, events []model.Event) error {
	var records []string
	for _, e := range events {
		records = append(records, e.Record)
	}
	names, err := p.App.Names(ctx, records)
	if err != nil {
		return err
	}
	for _, e := range events {
		name := cmp.Or(page.EventRecordName(e, e.Record, names), e.Detail["name"]+e.Detail["number"])
		if err := table.Write(p.Event(e), name, e.At.In(p.Zone()).Format(time.DateTime)); err != nil {
			return err
		}
	}
	return nil
}

// auditVerificationPart renders the progress of the verification. A script requests it repeatedly
// while the verification is running.
func (p *Pages) auditVerificationPart(r *page.Request) error {
	if !r.IsPart() {
		return r.Redirect("/admin/activity")
	}
	return p.RenderPart(r, http.StatusOK, "activity.html", "log-check", p.App.Events.VerifyProgress())
}

// verifyAuditLog starts verifying the audit log.
func (p *Pages) verifyAuditLog(r *page.Request) error {
	if err := p.App.Events.StartVerify(r.Context(), r.Actor); err != nil {
		return err
	}
	if r.IsPart() {
		return p.RenderPart(r, http.StatusOK, "activity.html", "log-check", p.App.Events.VerifyProgress())
	}
	return p.RedirectWithNotice(r, "/admin/activity", "Verification started.")
}
