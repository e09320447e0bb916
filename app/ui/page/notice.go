package page

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// noticeCookie carries a notice and the address of an Undo button to the next page. The cookie is
// encrypted, as cursors are, because that address must not be forged. Its content is the undo
// address, a line feed, and the notice.
const noticeCookie = "deedkeep_notice"

// noticeScope keeps cursors from being accepted as notices.
const noticeScope = "notice"

// noticeLifetime is how long the notice waits for the next page. Then it expires.
const noticeLifetime = time.Minute

// undoPattern matches the addresses that an Undo button may post to. The form fields follow the
// question mark.
var undoPattern = regexp.MustCompile(`^/(abstracts|orders|documents|instruments)/[0-9A-Za-z]+(/documents/[0-9]+)?/restore$` +
	`|^/undo/bulk\?key=[0-9A-Z]+$` +
	`|^/undo\?part=[a-z_]*&record=[a-z]+%3A[0-9A-Za-z]+&version=[0-9]+$` +
	`|^/(abstracts/[0-9A-Za-z]+/(status|order-link)|orders/[0-9A-Za-z]+/status|vault/[0-9]+/move|documents/move)\?[0-9A-Za-z%&=+._~-]+$`)

// maxUndoBytes is the maximum length of an undo address. Browsers limit a cookie to 4,096 bytes,
// and base64 makes the content a third longer.
const maxUndoBytes = 2000

// UndoForm is the form behind an Undo button.
type UndoForm struct {
	Path   string // "" if there is no Undo button
	Fields url.Values
}

// Notice is the result of an action, for the template "notice".
type Notice struct {
	Text string
	Undo UndoForm
	Back string // address of the page after Undo
}

// NewNotice returns a notice with an Undo button that posts to undo, or without one if undo is "".
func NewNotice(text, undo, back string) *Notice { return &Notice{text, ParseUndo(undo), back} }

// UndoAddress returns the undo form encoded as an address, or "" if the address would be too long.
func UndoAddress(path string, fields url.Values) string {
	if undo := WithQuery(path, fields); len(undo) <= maxUndoBytes {
		return undo
	}
	return ""
}

// ParseUndo returns the form of an undo address.
func ParseUndo(undo string) UndoForm {
	u, err := url.Parse(undo)
	if err != nil {
		return UndoForm{}
	}
	return UndoForm{u.Path, u.Query()}
}

// EditUndo returns the address that undoes a change of a record, or "" if nothing changed. was is the version before it.
func (si *Site) EditUndo(e vault.Edit, was uint64) string {
	if e.Version == was {
		return ""
	}
	return UndoAddress("/undo", url.Values{"record": {si.PublicRecordName(e.Type, e.ID)}, "part": {e.Part},
		"version": {strconv.FormatUint(e.Version, 10)}})
}

// RedirectWithNotice redirects to a page, which then shows the notice.
func (si *Site) RedirectWithNotice(r *Request, to, notice string) error {
	return si.RedirectWithUndo(r, to, notice, "")
}

// RedirectWithUndo redirects to a page, which then shows the notice with an Undo button. undo is
// the address that the button posts to. It must match undoPattern.
func (si *Site) RedirectWithUndo(r *Request, to, notice, undo string) error {
	si.setUndoNotice(r, notice, undo)
	return r.Redirect(LocalAddress(to))
}

// Follow opens a page with a notice and an Undo button. A script gets the address in a header, because it can't read that
// of a redirect.
func (si *Site) Follow(r *Request, to, notice, undo string) error {
	if !r.IsPart() {
		return si.RedirectWithUndo(r, to, notice, undo)
	}
	si.setUndoNotice(r, notice, undo)
	h := r.W.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("HX-Redirect", LocalAddress(to))
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}

// SetNotice stores a notice that the next page shows. It does nothing if the notice is "".
func (si *Site) SetNotice(r *Request, notice string) {
	si.setUndoNotice(r, notice, "")
}

func (si *Site) setUndoNotice(r *Request, notice, undo string) {
	if notice == "" {
		return
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
	if !undoPattern.MatchString(undo) && !instrumentUndoPattern.MatchString(undo) {
		undo = ""
	}
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
	q.Filters, q.Descending = []vault.Filter{{Column: model.ColumnRecord, Value: RecordName(recordType, id)}}, true
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
