package ui

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

// noticeLife is how long the next page may take to come.
const noticeLife = time.Minute

// undoing are the forms that an Undo may send: an address, and after a question mark the
// fields.
var undoing = regexp.MustCompile(`^/(abstracts|orders|documents)/[0-9A-Za-z]+(/documents/[0-9]+)?/restore$` +
	`|^/(abstracts/[0-9A-Za-z]+/status|orders/[0-9A-Za-z]+/status|vault/[0-9]+/move|documents/move)\?[0-9A-Za-z%&=+._~-]+$`)

// mostUndo is how long the address of an Undo may be: browsers keep 4,096 bytes of a
// cookie, and the address takes a third more in it.
const mostUndo = 2000

// undoForm is the form of an Undo.
type undoForm struct {
	Path   string // "" for none
	Fields url.Values
}

// undoOf is the form that takes an action back; none where it would be too long.
func undoOf(path string, fields url.Values) string {
	if undo := address(path, fields); len(undo) <= mostUndo {
		return undo
	}
	return ""
}

func formOf(undo string) undoForm {
	u, err := url.Parse(undo)
	if err != nil {
		return undoForm{}
	}
	return undoForm{u.Path, u.Query()}
}

// see sends the browser on to a page that says what this came to.
func (p *pages) see(w http.ResponseWriter, r *http.Request, to, notice string) error {
	return p.seeUndo(w, r, to, notice, "")
}

// seeUndo is see with a button that sends a form to undo, one of undoing.
func (p *pages) seeUndo(w http.ResponseWriter, r *http.Request, to, notice, undo string) error {
	p.leaveUndo(w, r, notice, undo)
	redirect(w, r, local(to))
	return nil
}

// leaveNotice leaves a sentence for the next page; none where it is "".
func (p *pages) leaveNotice(w http.ResponseWriter, r *http.Request, notice string) {
	p.leaveUndo(w, r, notice, "")
}

func (p *pages) leaveUndo(w http.ResponseWriter, r *http.Request, notice, undo string) {
	if notice == "" {
		return
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(undo + "\n" + shorten(notice, 600)))
	p.setCookie(w, r, noticeCookie, text+"."+p.proof(text), noticeLife, http.SameSiteStrictMode)
}

// notice takes the sentence that the last action left, once, and where that is undone.
func (p *pages) notice(w http.ResponseWriter, r *http.Request) (notice, undo string) {
	value := p.shown(r, noticeCookie)
	if value == "" {
		return "", ""
	}
	p.setCookie(w, r, noticeCookie, "", 0, http.SameSiteStrictMode)
	sealed, proof, _ := strings.Cut(value, ".")
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || !hmac.Equal([]byte(proof), []byte(p.proof(sealed))) {
		return "", "" // a cookie may come from elsewhere
	}
	undo, notice, _ = strings.Cut(string(text), "\n")
	if !undoing.MatchString(undo) {
		undo = ""
	}
	return notice, undo
}

func (p *pages) proof(text string) string {
	key := p.Vault.Secrets.Subkey("notice")
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
