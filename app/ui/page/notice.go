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

// noticeCookie carries a notice and the address of an Undo button to the next page. The cookie is
// signed because that address must not be forged. Its value is
//
//	base64url(undo address, line feed, notice)
//	"."
//	base64url(HMAC-SHA256(subkey `notice`, the text before the dot))
const noticeCookie = "deedkeep_notice"

// noticeLifetime is how long the notice waits for the next page. Then it expires.
const noticeLifetime = time.Minute

// undoPattern matches the addresses that an Undo button may post to. The form fields follow the
// question mark.
var undoPattern = regexp.MustCompile(`^/(abstracts|orders|documents)/[0-9A-Za-z]+(/documents/[0-9]+)?/restore$` +
	`|^/(abstracts/[0-9A-Za-z]+/status|orders/[0-9A-Za-z]+/status|vault/[0-9]+/move|documents/move)\?[0-9A-Za-z%&=+._~-]+$`)

// maxUndoBytes is the maximum length of an undo address. Browsers limit a cookie to 4,096 bytes,
// and base64 makes the content a third longer.
const maxUndoBytes = 2000

// undoForm is the form behind an Undo button.
type undoForm struct {
	Path   string // "" if there is no Undo button
	Fields url.Values
}

// UndoAddress returns the undo form encoded as an address, or "" if the address would be too long.
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

// RedirectWithNotice redirects to a page, which then shows the notice.
func (p *Site) RedirectWithNotice(w http.ResponseWriter, r *http.Request, to, notice string) error {
	return p.RedirectWithUndo(w, r, to, notice, "")
}

// RedirectWithUndo redirects to a page, which then shows the notice with an Undo button. undo is
// the address that the button posts to. It must match undoPattern.
func (p *Site) RedirectWithUndo(w http.ResponseWriter, r *http.Request, to, notice, undo string) error {
	p.setUndoNotice(w, r, notice, undo)
	Redirect(w, r, LocalAddress(to))
	return nil
}

// SetNotice stores a notice that the next page shows. It does nothing if the notice is "".
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

// consumeNotice returns the stored notice and its undo address, and deletes the cookie.
func (p *Site) consumeNotice(w http.ResponseWriter, r *http.Request) (notice, undo string) {
	value := p.CookieValue(r, noticeCookie)
	if value == "" {
		return "", ""
	}
	p.SetCookie(w, r, noticeCookie, "", 0, http.SameSiteStrictMode)
	sealed, proof, _ := strings.Cut(value, ".")
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || !hmac.Equal([]byte(proof), []byte(p.noticeMAC(sealed))) {
		return "", "" // the signature is wrong: other applications on the same host can set cookies, too
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
