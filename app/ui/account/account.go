// Package account serves the sign-in pages, the invitation pages, and the account page.
package account

import (
	"crypto/rand"
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// accountView is the template data of the account page.
type accountView struct {
	User     model.User
	Once     string // identifies the form that creates recovery codes
	Codes    int    // number of unused recovery codes
	Required bool   // the server requires two-factor authentication
	Must     bool   // the user must set up two-factor authentication before anything else
	Sessions []sessionRow
	Problems map[string]string // by field name; "" is a problem with the entire form
	Form     string            // the form that the problems belong to: password or factor
}

// sessionRow is one of the user's sessions.
type sessionRow struct {
	model.Session
	Name string
	This bool
}

func (p *Pages) accountPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.showAccount(w, r, visitor, http.StatusOK, "", nil)
}

// showAccount shows the account page with the problems of one of its forms, if any.
func (p *Pages) showAccount(
	w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, form string, problems map[string]string,
) error {
	user, err := p.Vault.Users.Get(r.Context(), visitor.ID)
	if err != nil {
		return err
	}
	sessions, err := p.Vault.Sessions.List(r.Context(), visitor.Actor)
	if err != nil {
		return err
	}
	view := accountView{User: user, Once: rand.Text(), Required: p.Vault.Users.TwoFactorRequired(), Must: visitor.Role == "", Problems: problems, Form: form}
	if user.TwoFactor != nil {
		view.Codes = len(user.TwoFactor.RecoveryHashes)
	}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, sessionRow{s, deviceName(s.Device), s.Hash == visitor.Session})
	}
	return p.RenderPage(w, r, visitor, status, "me.html", page.Page{
		Heading: "Your account", Section: "me", Data: view, Scripts: []string{"account.js"},
	})
}

// showAccountProblem shows the account page with the form's problems that err reports. If err is
// not about the form, it is returned.
func (p *Pages) showAccountProblem(w http.ResponseWriter, r *http.Request, visitor page.Visitor, form string, err error) error {
	status, problems := page.FormProblems(err)
	if problems == nil {
		return err
	}
	page.RetryAfter(w, err)
	return p.showAccount(w, r, visitor, status, form, problems)
}

func (p *Pages) changePassword(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	form := r.PostForm
	if form.Get("password") != form.Get("again") {
		return p.showAccount(w, r, visitor, http.StatusUnprocessableEntity, "password", map[string]string{"again": "The two passwords differ."})
	}
	if err := p.Vault.Users.ChangePassword(r.Context(), visitor.Actor, form.Get("current_password"), form.Get("password")); err != nil {
		return p.showAccountProblem(w, r, visitor, "password", err)
	}
	return p.RedirectWithNotice(w, r, "/me", "Your password is changed. Wherever else you were signed in, you are signed out.")
}

// endSession ends one of the user's sessions, which signs that device out.
func (p *Pages) endSession(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id := r.PostForm.Get("session")
	err := p.Vault.Sessions.End(r.Context(), visitor.Actor, id)
	switch {
	case errs.KindOf(err) == errs.NotFound: // the session has expired in the meantime
	case err != nil:
		return err
	case id == (model.Session{Hash: visitor.Session}).ID():
		return p.finishSignOut(w, r, "You are signed out.")
	}
	return p.RedirectWithNotice(w, r, "/me", "That device is signed out.")
}

func (p *Pages) endOtherSessions(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if err := p.Vault.Sessions.EndOthers(r.Context(), visitor.Actor); err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, "/me", "You are signed out everywhere but here.")
}

func (p *Pages) endAllSessions(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if err := p.Vault.Sessions.EndAll(r.Context(), visitor.Actor); err != nil {
		return err
	}
	return p.finishSignOut(w, r, "You are signed out everywhere.")
}
