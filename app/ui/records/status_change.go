package records

import (
	"cmp"
	"context"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// statusConflict reports whether another user changed the status after the form was rendered, and
// the form would change it again.
func statusConflict(r *page.Request, is string) bool {
	was, submitted := r.PostForm["was"]
	return submitted && was[len(was)-1] != is && r.PostForm.Get("status") != is
}

// statusConflictText says who changed the status in the meantime, and when.
func (p *Pages) statusConflictText(r *page.Request, recordType, is string) (string, error) {
	log, err := p.LatestEvents(r.Context(), recordType, r.PathID)
	if err != nil {
		return "", err
	}
	text := "The status changed to “" + page.FormatStatus(is) + "”."
	if at := page.LastChange(log, "status"); at >= 0 {
		e := log[at]
		at := page.ClockTime(e.At.In(p.Zone()))
		text = page.ActorText(e.Actor) + " changed the status to “" + page.FormatStatus(is) + "” on " + at + "."
	}
	return text + " Your change wasn't saved. Select a status again if it should be different.", nil
}

// matchSeenVersion makes a change fail if the record changed after it was read. It applies only if
// the form contains the status that it was rendered with.
func matchSeenVersion(r *page.Request, version uint64) vault.Match {
	if _, submitted := r.PostForm["was"]; !submitted {
		return vault.Match{}
	}
	return vault.MatchVersion(version)
}

// statusChange is the result of submitting a status form.
type statusChange struct {
	Clash string // why the status was not changed
	Undo  string // address that undoes the change, or "" if the status stayed
}

// notice says what the status is now.
func (s statusChange) notice(now string) string {
	return cmp.Or(s.Clash, "Status set to “"+page.FormatStatus(now)+"”.")
}

// showStatus sets what a part of a record's page shows after its status was changed.
func (p *Pages) showStatus(r *page.Request, v *recordView, change statusChange, now string) {
	if v.Clash = change.Clash; change.Undo != "" {
		v.StatusSaved = p.NewNotice(r, change.notice(now), change.Undo, v.Path)
	}
}

// changeStatus sets the submitted status of the requested record. If another user changed the status
// in the meantime, it reports the conflict in change.Clash.
func changeStatus[T any](p *Pages, r *page.Request, recordType string, get func(context.Context, uint64) (T, error),
	statusOf func(T) (status string, version uint64), patch func(model.Inputs, vault.Match) (T, error),
) (record T, change statusChange, err error) {
	var was uint64
	status := model.Inputs{"status": model.StringInput(r.PostForm.Get("status"))}
	err = vault.RetryEdit(func() (err error) {
		if record, err = get(r.Context(), r.PathID); err != nil {
			return err
		}
		is, version := statusOf(record)
		was = version
		if statusConflict(r, is) {
			change.Clash, err = p.statusConflictText(r, recordType, is)
			return err
		}
		record, err = patch(status, matchSeenVersion(r, version))
		return err
	})
	if err == nil {
		_, version := statusOf(record)
		change.Undo = p.EditUndo(r, vault.Edit{Type: recordType, ID: r.PathID, Version: version}, was)
	}
	return record, change, err
}
