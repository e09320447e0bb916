package ui

import (
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

// csvStretch is more bytes than the entries of one reading have as a rule.
const csvStretch = 1 << 20

// activityCSV streams what the filters of the page leave, the oldest entry first, in
// the form of "deedkeep events export". One that was cut off is seen as such: the
// connection ends without the end of the answer.
func (p *pages) activityCSV(w http.ResponseWriter, r *http.Request, _ visitor) error {
	problems := map[string]string{}
	q := p.eventQuery(kept(r, activityFilters...), problems)
	for _, problem := range problems {
		return &formError{http.StatusUnprocessableEntity, "This cannot be exported so", problem}
	}
	now := p.now()
	if q.To.IsZero() || q.To.After(now) {
		q.To = now // it has an end, however much is going on
	}
	q.Limit = 500
	list, err := p.Vault.Events.List(r.Context(), q)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="deedkeep-activity-%s.csv"`, now.Format(time.DateOnly)))
	h.Set("Content-Security-Policy", elsePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	table := wire.NewEventTable(w)
	for {
		p.pace(w, csvStretch) // the whole may take an hour, no part of it may
		for _, e := range list.Items {
			if err := table.Write(p.Event(e)); err != nil {
				return p.cut(r, err)
			}
		}
		if q.Position = list.Next; q.Position == nil {
			break
		}
		if list, err = p.Vault.Events.List(r.Context(), q); err != nil {
			return p.cut(r, err)
		}
	}
	if err := table.Flush(); err != nil {
		return p.cut(r, err)
	}
	return nil
}

// cut ends an answer that has begun, so that nobody takes it for whole.
func (p *pages) cut(r *http.Request, err error) error {
	if r.Context().Err() == nil {
		p.Log.ErrorContext(r.Context(), "activity", "error", err)
	}
	panic(http.ErrAbortHandler)
}

// logCheck is how far a verification of the log has come, and what the last one found.
type logCheck struct {
	vault.Progress[vault.LogReport]
	Known bool // there was one, or one goes on
}

func (p *pages) logCheck() logCheck {
	at := p.Vault.Events.Verified()
	return logCheck{at, !at.Begun.IsZero()}
}

// activityCheck is the part of the page about the verification, for a script that asks
// again while it goes on.
func (p *pages) activityCheck(w http.ResponseWriter, r *http.Request, who visitor) error {
	if !isPart(r) {
		redirect(w, r, "/admin/activity")
		return nil
	}
	return p.part(w, r, who, http.StatusOK, "activity.html", "log-check", p.logCheck())
}

// verifyActivity begins a verification of the log.
func (p *pages) verifyActivity(w http.ResponseWriter, r *http.Request, who visitor) error {
	if err := p.Vault.Events.BeginVerify(r.Context(), who.Actor); err != nil {
		return err
	}
	if isPart(r) {
		return p.part(w, r, who, http.StatusOK, "activity.html", "log-check", p.logCheck())
	}
	return p.see(w, r, "/admin/activity", "The log is being verified.")
}
