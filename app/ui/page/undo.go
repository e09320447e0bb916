package page

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// maxUndoBytes is the maximum length of an undo address. Browsers limit a cookie to 4,096 bytes,
// and base64 makes the content a third longer.
const maxUndoBytes = 2000

// undoToken is the form field with which an Undo button says what it undoes. Its value is encrypted, as cursors are. It has
// the user who made the change and the undo address, whose fields replace those of the form.
const undoToken = "undoes"

// undoScope keeps cursors and notices from being accepted as undo tokens.
const undoScope = "undo"

// UndoForm is the form behind an Undo button.
type UndoForm struct {
	Path  string // "" if there is no Undo button
	Token string // value of the field "undoes"
	Redo  bool   // it repeats a change that was undone
	See   string // address of the record that the notice is about, or ""

	Failed bool // the notice is shown as a warning, usually because nothing was changed
}

// seePrefix precedes the address of a record that takes the place of an undo address, if a notice has a link to it instead.
const seePrefix = "see "

// failureMark takes the place of an undo address if the notice is a warning.
const failureMark = "failed"

// isFailure reports whether a notice is shown as a warning.
func isFailure(undo string) bool { return undo == failureMark || strings.HasPrefix(undo, seePrefix) }

// mayOffer reports whether a response may offer to undo what the request did. After an undo, that is only what repeats the
// change.
func (r *Request) mayOffer(undo string) bool {
	return !r.Undoes || isFailure(undo) || strings.Contains(undo, "?again=1&")
}

// UndoAddress returns the undo form encoded as an address, or "" if the address would be too long.
func UndoAddress(path string, fields url.Values) string {
	if undo := WithQuery(path, fields); len(undo) <= maxUndoBytes {
		return undo
	}
	return ""
}

// undoForm returns the form of an undo address for the visitor who made the change.
func (si *Site) undoForm(r *Request, undo string) (form UndoForm) {
	if isFailure(undo) {
		form.Failed = true
		if path, see := strings.CutPrefix(undo, seePrefix); see {
			form.See = LocalAddress(path)
		}
		return form
	}
	u, err := url.Parse(undo)
	if err != nil || undo == "" || !r.mayOffer(undo) {
		return form
	}
	token := si.App.Secrets.Cursors().Encode(undoScope, []byte(r.Record()+"\n"+undo))
	return UndoForm{Path: u.Path, Token: token, Redo: u.Query().Has("again")}
}

// EditUndo returns the address that undoes a change of a record, or "" if nothing changed. was is the version before it.
// If the request undoes a change, it is the one that repeats that.
func (si *Site) EditUndo(r *Request, e vault.Edit, was uint64) string {
	if e.Version == was {
		return ""
	}
	fields := url.Values{"record": {si.PublicRecordName(e.Type, e.ID)}, "part": {e.Part},
		"version": {strconv.FormatUint(e.Version, 10)}}
	if r.Undoes {
		fields.Set("again", "1")
	}
	return UndoAddress("/undo", fields)
}

// errNotYourUndo is for the form of an Undo button that another user was shown.
var errNotYourUndo = &errs.Error{Kind: errs.Forbidden, Message: "Only the user who made a change can undo it. Nothing was changed."}

// changeField is the form field in which the runsheet's script sends the token of the change to undo or redo. The request
// keeps its other fields, which say what the script expects, such as the text of a cell.
const changeField = "change"

// isChangeOf reports whether a request of the runsheet's script can undo what an undo address undoes.
func isChangeOf(path, undo string) bool {
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "cell":
		return undo == "/undo"
	case "move":
		return strings.HasSuffix(undo, "/instruments/sort")
	}
	return undo == path
}

// readUndo replaces the form of an Undo button by the fields in its token. From then on, the actor undoes a change.
func (si *Site) readUndo(r *Request) error {
	token, change, back := r.PostForm.Get(undoToken), r.PostForm.Get(changeField), r.PostForm.Get("back")
	if token == "" && change == "" {
		return nil
	}
	text, ok := si.App.Secrets.Cursors().Decode(undoScope, cmp.Or(token, change))
	user, undo, _ := strings.Cut(string(text), "\n")
	u, err := url.Parse(undo)
	switch {
	case !ok || err != nil || user != r.Record():
		return errNotYourUndo
	case token == "" && r.WantsJSON() && isChangeOf(r.URL.Path, u.Path):
		maps.Copy(r.PostForm, u.Query())
	case token != "" && u.Path == r.URL.Path:
		r.PostForm = u.Query()
	default:
		return errNotYourUndo
	}
	r.Undoes = !u.Query().Has("again")
	if back != "" && !r.PostForm.Has("back") {
		r.PostForm.Set("back", back)
	}
	return nil
}

// showNotUndone returns to the page with the Undo button and says why nothing was undone. It returns err if the request
// undoes nothing or err isn't about that.
func (si *Site) showNotUndone(r *Request, err error) error {
	domainErr, ok := errors.AsType[*errs.Error](err)
	if !r.Undoes || !ok || r.WantsJSON() {
		return err
	}
	switch domainErr.Kind {
	case errs.PreconditionFailed, errs.Conflict, errs.Invalid, errs.NotFound:
	default:
		return err
	}
	why, see := ErrorSentence(err), failureMark
	if domainErr.Kind == errs.NotFound {
		why = "The record was moved to the trash or deleted."
	} else if r.undone != "" {
		see = seePrefix + r.undone
	}
	return si.Follow(r, ReturnAddress(r, "/"), why+" Nothing was undone.", see)
}

// WantsJSON reports whether a script sends the request and reads the response as JSON.
func (r *Request) WantsJSON() bool {
	return r.IsPart() && strings.Contains(r.Header.Get("Accept"), "application/json")
}

// CheckUnchanged returns Conflict if the request undoes something and someone else changed the record after the visitor's
// last event of a kind, such as "created". The notice that says so has a link to the record.
func (si *Site) CheckUnchanged(r *Request, recordType string, id uint64, since string) error {
	if !r.Undoes {
		return nil
	}
	r.undone = si.RecordPath(recordType, id)
	log, err := si.LatestEvents(r.Context(), recordType, id)
	if err != nil {
		return err
	}
	for _, e := range log {
		if !e.Actor.Is(r.Actor) {
			return &errs.Error{Kind: errs.Conflict, Message: ActorText(e.Actor) + " has changed this since."}
		}
		if strings.HasSuffix(e.Kind, "."+since) {
			break
		}
	}
	return nil
}
