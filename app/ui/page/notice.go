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

// noticeCookie carries a notice to the next page. It is signed because its second part becomes a
// button:
//
//	base64url of: undo, line feed, sentence
//
// "."
// base64url of HMAC-SHA256(subkey `notice`, what is before the dot)
const noticeCookie = "deedkeep_notice"

// noticeLifetime is the time in which the next page must be requested.
const noticeLifetime = time.Minute

// undoPattern matches the forms that an Undo button may submit: an address, and after a question
// mark the fields.
var undoPattern = regexp.MustCompile(`^/(abstracts|orders|documents)/[0-9A-Za-z]+(/documents/[0-9]+)?/restore$` +
	`|^/(abstracts/[0-9A-Za-z]+/status|orders/[0-9A-Za-z]+/status|vault/[0-9]+/move|documents/move)\?[0-9A-Za-z%&=+._~-]+$`)

// maxUndoBytes is the maximum length of an undo form. Browsers limit cookies to 4,096 bytes, and
// base64 adds a third.
const maxUndoBytes = 2000

// undoForm is the form of an Undo button.
type undoForm struct {
	Path   string // "" if there is none
	Fields url.Values
}

// UndoAddress returns the undo form as an address, "" if it would be too long.
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

// RedirectWithNotice redirects to a page that shows the notice.
func (p *Site) RedirectWithNotice(w http.ResponseWriter, r *http.Request, to, notice string) error {
	return p.RedirectWithUndo(w, r, to, notice, "")
}

// RedirectWithUndo redirects to a page that shows the notice with an Undo button, whose form must
// match undoPattern.
func (p *Site) RedirectWithUndo(w http.ResponseWriter, r *http.Request, to, notice, undo string) error {
	p.setUndoNotice(w, r, notice, undo)
	Redirect(w, r, LocalAddress(to))
	return nil
}

// SetNotice stores a notice for the next page unless it is "".
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

// consumeNotice returns the stored notice and its undo form, and deletes both.
func (p *Site) consumeNotice(w http.ResponseWriter, r *http.Request) (notice, undo string) {
	value := p.CookieValue(r, noticeCookie)
	if value == "" {
		return "", ""
	}
	p.SetCookie(w, r, noticeCookie, "", 0, http.SameSiteStrictMode)
	sealed, proof, _ := strings.Cut(value, ".")
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || !hmac.Equal([]byte(proof), []byte(p.noticeMAC(sealed))) {
		return "", "" // other applications on the same host can set cookies, too
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
