package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// noticeCookie carries one sentence to the next page, with a proof that it was written
// here: what stands beside it becomes a button.
//
//	base64url of: undo, line feed, sentence | "." | base64url of HMAC-SHA256(subkey `notice`, what stands before the dot)
const noticeCookie = "deedkeep_notice"

// noticeLifetime is how long the next page may take to come.
const noticeLifetime = time.Minute

// undoPattern are the forms that an Undo may send: an address, and after a question mark the
// fields.
var undoPattern = regexp.MustCompile(`^/(abstracts|orders|documents)/[0-9A-Za-z]+(/documents/[0-9]+)?/restore$` +
	`|^/(abstracts/[0-9A-Za-z]+/status|orders/[0-9A-Za-z]+/status|vault/[0-9]+/move|documents/move)\?[0-9A-Za-z%&=+._~-]+$`)

// maxUndoBytes is how long the address of an Undo may be: browsers keep 4,096 bytes of a
// cookie, and the address takes a third more in it.
const maxUndoBytes = 2000

// undoForm is the form of an Undo.
type undoForm struct {
	Path   string // "" for none
	Fields url.Values
}

// UndoAddress is the form that takes an action back; none where it would be too long.
func UndoAddress(path string, fields url.Values) string {
	if undo := WithQuery(path, fields); len(undo) <= maxUndoBytes {
		return undo
	}
	return ""
}

func parseUndo(undo string) undoForm {
	u, err := url.Parse(undo)
	if err != nil {
		return undoForm{}
	}
	return undoForm{u.Path, u.Query()}
}

// RedirectWithNotice sends the browser on to a page that says what this came to.
func (p *Site) RedirectWithNotice(w http.ResponseWriter, r *http.Request, to, notice string) error {
	return p.RedirectWithUndo(w, r, to, notice, "")
}

// RedirectWithUndo is see with a button that sends a form to undo, one of undoing.
func (p *Site) RedirectWithUndo(w http.ResponseWriter, r *http.Request, to, notice, undo string) error {
	p.setUndoNotice(w, r, notice, undo)
	Redirect(w, r, LocalAddress(to))
	return nil
}

// SetNotice leaves a sentence for the next page; none where it is "".
func (p *Site) SetNotice(w http.ResponseWriter, r *http.Request, notice string) {
	p.setUndoNotice(w, r, notice, "")
}

func (p *Site) setUndoNotice(w http.ResponseWriter, r *http.Request, notice, undo string) {
	if notice == "" {
		return
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(undo + "\n" + Truncate(notice, 600)))
	p.SetCookie(w, r, noticeCookie, text+"."+p.noticeMAC(text), noticeLifetime, http.SameSiteStrictMode)
}

// consumeNotice takes the sentence that the last action left, once, and where that is undone.
func (p *Site) consumeNotice(w http.ResponseWriter, r *http.Request) (notice, undo string) {
	value := p.CookieValue(r, noticeCookie)
	if value == "" {
		return "", ""
	}
	p.SetCookie(w, r, noticeCookie, "", 0, http.SameSiteStrictMode)
	sealed, proof, _ := strings.Cut(value, ".")
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || !hmac.Equal([]byte(proof), []byte(p.noticeMAC(sealed))) {
		return "", "" // a cookie may come from elsewhere
	}
	undo, notice, _ = strings.Cut(string(text), "\n")
	if !undoPattern.MatchString(undo) {
		undo = ""
	}
	return notice, undo
}

func (p *Site) noticeMAC(text string) string {
	key := p.Vault.Secrets.Subkey("notice")
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
