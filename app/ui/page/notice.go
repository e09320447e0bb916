package page

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// noticeCookie carries a notice and the address of an Undo button to the next page. The cookie is
// encrypted, as cursors are, because that address must not be forged. Its content is the undo
// address, or seePrefix and that of a record, or failed, a line feed, and the notice.
const noticeCookie = "deedkeep_notice"

// noticeScope keeps cursors from being accepted as notices.
const noticeScope = "notice"

// noticeLifetime is how long the notice waits for the next page. Then it expires.
const noticeLifetime = time.Minute

// Notice is the result of an action, for the template "notice".
type Notice struct {
	Text string
	Undo UndoForm
	Back string // address of the page after Undo
}

// NewNotice returns a notice with an Undo button that posts to undo, or without one if undo is "".
func (si *Site) NewNotice(r *Request, text, undo, back string) *Notice {
	return &Notice{text, si.undoForm(r, undo), back}
}

// RedirectWithNotice redirects to a page, which then shows the notice.
func (si *Site) RedirectWithNotice(r *Request, to, notice string) error {
	return si.RedirectWithUndo(r, to, notice, "")
}

// RedirectWithFailure redirects to a page, which then shows the problem as a warning.
func (si *Site) RedirectWithFailure(r *Request, to, problem string) error {
	return si.RedirectWithUndo(r, to, problem, failureMark)
}

// RedirectWithUndo redirects to a page, which then shows the notice with an Undo button. undo is
// the address that the button posts to. It must match undoPattern.
func (si *Site) RedirectWithUndo(r *Request, to, notice, undo string) error {
	si.SetNotice(r, notice, undo)
	return r.Redirect(LocalAddress(to))
}

// Follow opens a page with a notice and an Undo button. A script gets the address in a header, because it can't read that
// of a redirect.
func (si *Site) Follow(r *Request, to, notice, undo string) error {
	if !r.IsPart() {
		return si.RedirectWithUndo(r, to, notice, undo)
	}
	si.SetNotice(r, notice, undo)
	h := r.W.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("HX-Redirect", LocalAddress(to))
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}

// SetNotice stores a notice that the next page shows, with an Undo button that posts to undo. It does nothing if the notice
// is "".
func (si *Site) SetNotice(r *Request, notice, undo string) {
	if notice == "" {
		return
	}
	if !r.mayOffer(undo) {
		undo = ""
	}
	value := si.App.Secrets.Cursors().Encode(noticeScope, []byte(undo+"\n"+Truncate(notice, 600)))
	si.SetCookie(r, noticeCookie, value, noticeLifetime, http.SameSiteStrictMode)
}

// consumeNotice returns the stored notice and its undo address, and deletes the cookie.
func (si *Site) consumeNotice(r *Request) (notice, undo string) {
	value := si.CookieValue(r, noticeCookie)
	if value == "" {
		return "", ""
	}
	si.SetCookie(r, noticeCookie, "", 0, http.SameSiteStrictMode)
	text, ok := si.App.Secrets.Cursors().Decode(noticeScope, value)
	if !ok {
		return "", "" // not from this service: other applications on the same host can set cookies, too
	}
	undo, notice, _ = strings.Cut(string(text), "\n")
	return notice, undo
}

// pickTheirs is the form value that selects the other user's value of a field.
const pickTheirs = "theirs"

// Merge compares a submitted value with the stored one by their fingerprints. kept reports that only another user
// changed the field, so that the stored value stays. If both users changed it, the input clashes, and shows theirs.
// stale says that the record was changed after the form was rendered, for a form without the fingerprint of the field.
func (i *Input) Merge(form url.Values, stored, mine, theirs string, stale bool) (changed, kept bool) {
	was := form.Get("was." + i.Name)
	if mine == stored || was == mine || form.Get("pick."+i.Name) == pickTheirs {
		return false, mine != stored && was == mine
	}
	if i.Clash = was != "" && was != stored || was == "" && stale; i.Clash {
		i.Theirs = Truncate(theirs, 300)
	}
	return !i.Clash, false
}

// DescribeConflict sets who changed an input in conflict, and when. log has the newest entries first, and fields are
// the names of the input in them.
func (i *Input) DescribeConflict(log []model.Event, zone *time.Location, fields ...string) {
	if i.Clash {
		i.Others = ChangedText(log, zone, i.Theirs, fields...)
	}
}

// RecordEvents returns a record's entries in the audit log, newest first.
func (si *Site) RecordEvents(ctx context.Context, recordType string, id uint64, q vault.Query) (vault.Page[model.Event], error) {
	q.Filters, q.Descending = []vault.Filter{{Column: model.ColumnRecord, Value: model.RecordRef(recordType, id)}}, true
	return si.App.Events.List(ctx, q)
}

// LatestEvents returns the newest of a record's entries, among which to look for the user who changed a field.
func (si *Site) LatestEvents(ctx context.Context, recordType string, id uint64) ([]model.Event, error) {
	log, err := si.RecordEvents(ctx, recordType, id, vault.Query{Limit: 20})
	return log.Items, err
}

// ChangedText says who set one of the fields to the value that is shown as now, and when. log has the
// newest entries first.
func ChangedText(log []model.Event, zone *time.Location, now string, fields ...string) string {
	who, on := "Someone else changed this", " while you were editing"
	if at := LastChange(log, fields...); at >= 0 {
		who, on = ActorText(log[at].Actor)+" changed this", " on "+ClockTime(log[at].At.In(zone))
	}
	if now == "" {
		return who + " to blank" + on + "."
	}
	return who + " to “" + Truncate(now, 300) + "”" + on + "."
}

// LastChange returns the index of the newest event in log that changed one of the fields, or -1 if there
// is none.
func LastChange(log []model.Event, fields ...string) int {
	return slices.IndexFunc(log, func(e model.Event) bool {
		return slices.ContainsFunc(e.Changes, func(c model.Change) bool { return slices.Contains(fields, c.Field) })
	})
}
