package account

import (
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"deedkeep/app/ui/page"
)

// twoFactorForm is the template data of the page that sets up two-factor authentication.
type twoFactorForm struct {
	QR      template.HTML // "" after a wrong code because the phone has already scanned it
	Secret  string        // secret in groups of four characters
	Problem string
}

// beginTwoFactor starts setting up two-factor authentication. The response shows the secret, which
// can't be shown again.
func (p *Pages) beginTwoFactor(r *page.Request) error {
	offer, err := p.App.Users.BeginTwoFactor(r.Context(), r.Actor, r.PostForm.Get("current_password"))
	if err != nil {
		return p.showAccountProblem(r, "factor", err)
	}
	drawn, err := qrCodeSVG(offer.URI)
	if err != nil {
		return err
	}
	return p.showTwoFactorForm(r, http.StatusOK, twoFactorForm{QR: drawn, Secret: groupsOfFour(offer.Secret)})
}

func (p *Pages) showTwoFactorForm(r *page.Request, status int, form twoFactorForm) error {
	return p.RenderPage(r, status, "two-factor.html", page.Page{Heading: "Set up two-factor authentication", Section: "me", Data: form})
}

// groupsOfFour splits a text into groups of four characters.
func groupsOfFour(text string) string {
	var groups []string
	for ; len(text) > 4; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return strings.Join(append(groups, text), " ")
}

func (p *Pages) confirmTwoFactor(r *page.Request) error {
	codes, err := p.App.Users.ConfirmTwoFactor(r.Context(), r.Actor, r.PostForm.Get("code"))
	if err == nil {
		return p.showRecoveryCodes(r, "Two-factor authentication is on", codes)
	}
	return page.ShowProblems(r, err, func(r *page.Request, status int, problems map[string]string) error {
		return p.showTwoFactorForm(r, status, twoFactorForm{Problem: problems["code"] + problems[""]})
	})
}

// newRecoveryCodes replaces the user's recovery codes.
func (p *Pages) newRecoveryCodes(r *page.Request) error {
	return p.SubmitOnce(r, codesAlreadyShown, func() (string, error) {
		codes, err := p.App.Users.NewRecoveryCodes(r.Context(), r.Actor, r.PostForm.Get("current_password"))
		if err != nil {
			return "", p.showAccountProblem(r, "factor", err)
		}
		return codesAlreadyShown.Path, p.showRecoveryCodes(r, "New recovery codes", codes)
	})
}

// codesAlreadyShown is the page shown when the form for new recovery codes is submitted twice.
var codesAlreadyShown = page.AlreadySubmitted{Text: "These recovery codes were already created and can't be shown again.", Path: "/me", Link: "Go to your account"}

// showRecoveryCodes shows new recovery codes. They can't be shown again.
func (p *Pages) showRecoveryCodes(r *page.Request, heading string, codes []string) error {
	if r.Role == "" { // two-factor authentication is set up now, so read the user's role
		user, err := p.App.Users.Get(r.Context(), r.Visitor.ID)
		if err != nil {
			return err
		}
		r.Role = user.Role
	}
	return p.RenderPage(r, http.StatusOK, "codes.html", page.Page{
		Heading: heading, Section: "me", Data: codes, Scripts: []string{"account.js"},
	})
}

// recoveryCodePattern matches codes created by secret.NewRecoveryCode.
var recoveryCodePattern = regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)

// downloadRecoveryCodes sends the recovery codes in the form back as a file. The server can't look
// them up because it stores only their hashes.
func (p *Pages) downloadRecoveryCodes(r *page.Request) error {
	var text strings.Builder
	text.WriteString("deedkeep recovery codes for " + r.Name + ". Each code works once instead of a verification code.\r\n\r\n")
	for _, code := range r.PostForm["code"] {
		if !recoveryCodePattern.MatchString(code) {
			return page.NewHTTPError(http.StatusUnprocessableEntity, "Check your input", "These are not valid recovery codes.")
		}
		text.WriteString(code + "\r\n")
	}
	h := r.W.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="deedkeep-recovery-codes.txt"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if _, err := r.W.Write([]byte(text.String())); err != nil {
		p.Log.DebugContext(r.Context(), "page not sent", "error", err)
	}
	return nil
}

// removeTwoFactor turns off two-factor authentication for the signed-in user.
func (p *Pages) removeTwoFactor(r *page.Request) error {
	if err := p.App.Users.RemoveTwoFactor(r.Context(), r.Actor, r.PostForm.Get("current_password")); err != nil {
		return p.showAccountProblem(r, "factor", err)
	}
	return p.RedirectWithNotice(r, "/me", "Two-factor authentication is off. You sign in with your username and password only.")
}
