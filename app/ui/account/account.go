// Package account serves the sign-in pages, the invitation pages, and the account page.
package account

import (
	"crypto/rand"
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/absence"
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
	Form     string            // the form that the problems belong to: password, factor, or away
	Away     absence.Form
}

// sessionRow is one of the user's sessions.
type sessionRow struct {
	model.Session
	Name string
	This bool
}

func (p *Pages) accountPage(r *page.Request) error {
	return p.showAccount(r, http.StatusOK, "", nil)
}

// showAccount shows the account page with the problems of one of its forms, if any.
func (p *Pages) showAccount(r *page.Request, status int, form string, problems map[string]string,
) error {
	user, err := p.App.Users.Get(r.Context(), r.Visitor.ID)
	if err != nil {
		return err
	}
	sessions, err := p.App.Sessions.List(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	view := accountView{User: user, Once: rand.Text(), Required: p.App.Users.TwoFactorRequired(), Must: r.Role == "",
		Problems: problems, Form: form, Away: absence.NewForm(p.Site, r, user, problems)}
	if user.TwoFactor != nil {
		view.Codes = len(user.TwoFactor.RecoveryHashes)
	}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, sessionRow{s, deviceName(s.Device), s.Hash == r.Session})
	}
	return p.RenderPage(r, status, "me.html", page.Page{
		Heading: "Your account", Section: "me", Data: view, Scripts: []string{"account.js"},
	})
}

// showAccountProblem shows the account page with the form's problems that err reports. If err is
// not about the form, it is returned.
func (p *Pages) showAccountProblem(r *page.Request, form string, err error) error {
	return page.ShowProblems(r, err, func(r *page.Request, status int, problems map[string]string) error {
		r.RetryAfter(err)
		return p.showAccount(r, status, form, problems)
	})
}

func (p *Pages) changePassword(r *page.Request) error {
	form := r.PostForm
	if form.Get("password") != form.Get("again") {
		return p.showAccount(r, http.StatusUnprocessableEntity, "password", map[string]string{"again": "The passwords don't match."})
	}
	if err := p.App.Users.ChangePassword(r.Context(), r.Actor, form.Get("current_password"), form.Get("password")); err != nil {
		return p.showAccountProblem(r, "password", err)
	}
	return p.RedirectWithNotice(r, "/me", "Password changed. You're signed out on all other devices.")
}

// setAway saves until when the user is away.
func (p *Pages) setAway(r *page.Request) error {
	user, err := absence.Save(p.Site, r, r.Visitor.ID)
	if err != nil {
		return p.showAccountProblem(r, "away", err)
	}
	return p.RedirectWithNotice(r, "/me", absence.Notice("You're", user))
}

// endSession ends one of the user's sessions, which signs that device out.
func (p *Pages) endSession(r *page.Request) error {
	id := r.PostForm.Get("session")
	err := p.App.Sessions.End(r.Context(), r.Actor, id)
	switch {
	case errs.KindOf(err) == errs.NotFound: // the session has expired in the meantime
	case err != nil:
		return err
	case id == (model.Session{Hash: r.Session}).ID():
		return p.finishSignOut(r, "You're signed out.")
	}
	return p.RedirectWithNotice(r, "/me", "Device signed out.")
}

func (p *Pages) endOtherSessions(r *page.Request) error {
	if err := p.App.Sessions.EndOthers(r.Context(), r.Actor); err != nil {
		return err
	}
	return p.RedirectWithNotice(r, "/me", "You're signed out on all other devices.")
}

func (p *Pages) endAllSessions(r *page.Request) error {
	if err := p.App.Sessions.EndAll(r.Context(), r.Actor); err != nil {
		return err
	}
	return p.finishSignOut(r, "You're signed out everywhere.")
}
