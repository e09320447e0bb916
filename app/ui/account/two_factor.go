package account

import (
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"deedkeep/app/ui/page"
)

// showTwoFactorForm is what the page of setting up a second factor shows.
type twoFactorForm struct {
	QR      template.HTML // "" when the code was wrong: the phone has read it by then
	Secret  string        // in groups of four
	Problem string
}

// beginTwoFactor offers a second factor. The page is the answer itself: what it shows is
// told once and is nowhere else.
func (p *Pages) beginTwoFactor(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	offer, err := p.Vault.Users.BeginFactor(r.Context(), who.Actor, r.PostForm.Get("current_password"))
	if err != nil {
		return p.showAccountProblem(w, r, who, "factor", err)
	}
	drawn, err := qrCodeSVG(offer.Address)
	if err != nil {
		return err
	}
	return p.showTwoFactorForm(w, r, who, http.StatusOK, twoFactorForm{QR: drawn, Secret: groupsOfFour(offer.Secret)})
}

func (p *Pages) showTwoFactorForm(w http.ResponseWriter, r *http.Request, who page.Visitor, status int, form twoFactorForm) error {
	return p.RenderPage(w, r, who, status, "factor.html", page.Page{Heading: "Set up a second factor", Section: "me", Data: form})
}

// groupsOfFour parts a text into groups of four, as people type it.
func groupsOfFour(text string) string {
	var groups []string
	for ; len(text) > 4; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return strings.Join(append(groups, text), " ")
}

func (p *Pages) confirmTwoFactor(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	codes, err := p.Vault.Users.ConfirmFactor(r.Context(), who.Actor, r.PostForm.Get("code"))
	if err == nil {
		return p.showRecoveryCodes(w, r, who, "The second factor is set up", codes)
	}
	status, problems := page.FormProblems(err)
	if problems == nil {
		return err
	}
	return p.showTwoFactorForm(w, r, who, status, twoFactorForm{Problem: problems["code"] + problems[""]})
}

// newRecoveryCodes makes new recovery codes in the place of those before.
func (p *Pages) newRecoveryCodes(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.SubmitOnce(w, r, who, codesAlreadyShown, func() (string, error) {
		codes, err := p.Vault.Users.NewRecoveryCodes(r.Context(), who.Actor, r.PostForm.Get("current_password"))
		if err != nil {
			return "", p.showAccountProblem(w, r, who, "factor", err)
		}
		return codesAlreadyShown.Path, p.showRecoveryCodes(w, r, who, "New recovery codes", codes)
	})
}

// codesAlreadyShown answers the form of recovery codes that was sent before.
var codesAlreadyShown = page.AlreadySubmitted{Text: "These codes were made already. They were shown once, and are shown no more.", Path: "/me", Link: "Go to your account"}

// showRecoveryCodes shows recovery codes, once.
func (p *Pages) showRecoveryCodes(w http.ResponseWriter, r *http.Request, who page.Visitor, heading string, codes []string) error {
	if who.Role == "" { // the second factor is there now: so is the role
		user, err := p.Vault.Users.Get(r.Context(), who.ID)
		if err != nil {
			return err
		}
		who.Role = user.Role
	}
	return p.RenderPage(w, r, who, http.StatusOK, "codes.html", page.Page{
		Heading: heading, Section: "me", Data: codes, Scripts: []string{"account.js"},
	})
}

// recoveryCodePattern is the form of those that secret.NewRecoveryCode makes.
var recoveryCodePattern = regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)

// downloadRecoveryCodes gives the codes back that the page sends, as a file: they are kept here as
// hashes only.
func (p *Pages) downloadRecoveryCodes(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	var text strings.Builder
	text.WriteString("Recovery codes of " + who.Name + " for deedkeep. Each works once, in the place of the phone's code.\r\n\r\n")
	for _, code := range r.PostForm["code"] {
		if !recoveryCodePattern.MatchString(code) {
			return page.NewHTTPError(http.StatusUnprocessableEntity, "This cannot be saved", "These are no recovery codes.")
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

// removeTwoFactor takes one's own second factor away.
func (p *Pages) removeTwoFactor(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	if err := p.Vault.Users.RemoveFactor(r.Context(), who.Actor, r.PostForm.Get("current_password")); err != nil {
		return p.showAccountProblem(w, r, who, "factor", err)
	}
	return p.RedirectWithNotice(w, r, "/me", "The second factor is removed. Your name and password alone let you in.")
}
