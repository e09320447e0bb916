package ui

import (
	"html/template"
	"net/http"
	"regexp"
	"strings"
)

// factorForm is what the page of setting up a second factor shows.
type factorForm struct {
	QR      template.HTML // "" when the code was wrong: the phone has read it by then
	Secret  string        // in groups of four
	Problem string
}

// beginFactor offers a second factor. The page is the answer itself: what it shows is
// told once and is nowhere else.
func (p *pages) beginFactor(w http.ResponseWriter, r *http.Request, who visitor) error {
	offer, err := p.Vault.Users.BeginFactor(r.Context(), who.Actor, r.PostForm.Get("current_password"))
	if err != nil {
		return p.again(w, r, who, "factor", err)
	}
	drawn, err := drawQR(offer.Address)
	if err != nil {
		return err
	}
	return p.factorForm(w, r, who, http.StatusOK, factorForm{QR: drawn, Secret: fours(offer.Secret)})
}

func (p *pages) factorForm(w http.ResponseWriter, r *http.Request, who visitor, status int, form factorForm) error {
	return p.show(w, r, who, status, "factor.html", page{Heading: "Set up a second factor", Section: "me", Data: form})
}

// fours parts a text into groups of four, as people type it.
func fours(text string) string {
	var groups []string
	for ; len(text) > 4; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return strings.Join(append(groups, text), " ")
}

func (p *pages) confirmFactor(w http.ResponseWriter, r *http.Request, who visitor) error {
	codes, err := p.Vault.Users.ConfirmFactor(r.Context(), who.Actor, r.PostForm.Get("code"))
	if err == nil {
		return p.codes(w, r, who, "The second factor is set up", codes)
	}
	status, problems := refusal(err)
	if problems == nil {
		return err
	}
	return p.factorForm(w, r, who, status, factorForm{Problem: problems["code"] + problems[""]})
}

// newCodes makes new recovery codes in the place of those before.
func (p *pages) newCodes(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.once(w, r, who, codesDone, func() (string, error) {
		codes, err := p.Vault.Users.NewRecoveryCodes(r.Context(), who.Actor, r.PostForm.Get("current_password"))
		if err != nil {
			return "", p.again(w, r, who, "factor", err)
		}
		return codesDone.Path, p.codes(w, r, who, "New recovery codes", codes)
	})
}

// codesDone answers the form of recovery codes that was sent before.
var codesDone = onceDone{Text: "These codes were made already. They were shown once, and are shown no more.", Path: "/me", Link: "Go to your account"}

// codes shows recovery codes, once.
func (p *pages) codes(w http.ResponseWriter, r *http.Request, who visitor, heading string, codes []string) error {
	if who.Role == "" { // the second factor is there now: so is the role
		user, err := p.Vault.Users.Get(r.Context(), who.ID)
		if err != nil {
			return err
		}
		who.Role = user.Role
	}
	return p.show(w, r, who, http.StatusOK, "codes.html", page{Heading: heading, Section: "me", Data: codes, Scripts: []string{"account.js"}})
}

// recoveryCode is the form of those that secret.NewRecoveryCode makes.
var recoveryCode = regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)

// saveCodes gives the codes back that the page sends, as a file: they are kept here as
// hashes only.
func (p *pages) saveCodes(w http.ResponseWriter, r *http.Request, who visitor) error {
	var text strings.Builder
	text.WriteString("Recovery codes of " + who.Name + " for deedkeep. Each works once, in the place of the phone's code.\r\n\r\n")
	for _, code := range r.PostForm["code"] {
		if !recoveryCode.MatchString(code) {
			return &formError{http.StatusUnprocessableEntity, "This cannot be saved", "These are no recovery codes."}
		}
		text.WriteString(code + "\r\n")
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="deedkeep-recovery-codes.txt"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if _, err := w.Write([]byte(text.String())); err != nil {
		p.Log.DebugContext(r.Context(), "page not delivered", "error", err)
	}
	return nil
}

// removeFactor takes one's own second factor away.
func (p *pages) removeFactor(w http.ResponseWriter, r *http.Request, who visitor) error {
	if err := p.Vault.Users.RemoveFactor(r.Context(), who.Actor, r.PostForm.Get("current_password")); err != nil {
		return p.again(w, r, who, "factor", err)
	}
	return p.see(w, r, "/me", "The second factor is removed. Your name and password alone let you in.")
}
