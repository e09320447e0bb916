package ui

import (
	"crypto/rand"
	"errors"
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// account is what somebody sees of their own.
type account struct {
	User     model.User
	Once     string // of the form that makes new recovery codes
	Codes    int    // recovery codes that are left
	Required bool   // a second factor, by the settings
	Must     bool   // set one up before anything else
	Sessions []device
	Problems map[string]string // by field; "" is for the form named by Form
	Form     string            // password or factor: which form the problems are of
}

// device is one session as people know it.
type device struct {
	model.Session
	Name string
	This bool
}

func (p *pages) account(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.accountWith(w, r, who, http.StatusOK, "", nil)
}

// accountWith shows the account, with what was wrong in one of its forms.
func (p *pages) accountWith(w http.ResponseWriter, r *http.Request, who visitor, status int, form string, problems map[string]string) error {
	user, err := p.Vault.Users.Get(r.Context(), who.ID)
	if err != nil {
		return err
	}
	sessions, err := p.Vault.Sessions.List(r.Context(), who.Actor)
	if err != nil {
		return err
	}
	shown := account{User: user, Once: rand.Text(), Required: p.Vault.Users.FactorRequired(), Must: who.Role == "", Problems: problems, Form: form}
	if user.TwoFactor != nil {
		shown.Codes = len(user.TwoFactor.RecoveryHashes)
	}
	for _, s := range sessions {
		shown.Sessions = append(shown.Sessions, device{s, deviceName(s.Device), s.Hash == who.Session})
	}
	return p.show(w, r, who, status, "me.html", page{Heading: "Your account", Section: "me", Data: shown, Scripts: []string{"account.js"}})
}

// again shows the account once more after a refusal that belongs to one of its forms;
// any other error goes on.
func (p *pages) again(w http.ResponseWriter, r *http.Request, who visitor, form string, err error) error {
	status, problems := refusal(err)
	if problems == nil {
		return err
	}
	retryAfter(w, err)
	return p.accountWith(w, r, who, status, form, problems)
}

// refusal is what a form says beside its fields, and under "" at its head; nil for an
// error that is none of the form's.
func refusal(err error) (status int, said map[string]string) {
	var busy *vault.SignInError
	if errors.As(err, &busy) {
		return refusedStatus(busy), map[string]string{"": busy.Error()}
	}
	named, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok:
	case named.Kind == errs.Invalid && len(named.Fields) > 0:
		return http.StatusUnprocessableEntity, problems(named.Fields)
	case named.Kind == errs.Invalid, named.Kind == errs.Conflict:
		return headings[named.Kind].status, map[string]string{"": plainly(named.Message)}
	}
	return 0, nil
}

func (p *pages) changePassword(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.PostForm
	if form.Get("password") != form.Get("again") {
		return p.accountWith(w, r, who, http.StatusUnprocessableEntity, "password", map[string]string{"again": "The two passwords differ."})
	}
	if err := p.Vault.Users.ChangePassword(r.Context(), who.Actor, form.Get("current_password"), form.Get("password")); err != nil {
		return p.again(w, r, who, "password", err)
	}
	return p.see(w, r, "/me", "Your password is changed. Wherever else you were signed in, you are signed out.")
}

// endSession ends one session of one's own, by its id.
func (p *pages) endSession(w http.ResponseWriter, r *http.Request, who visitor) error {
	id := r.PostForm.Get("session")
	err := p.Vault.Sessions.End(r.Context(), who.Actor, id)
	switch {
	case errs.KindOf(err) == errs.NotFound: // it has ended meanwhile
	case err != nil:
		return err
	case id == (model.Session{Hash: who.Session}).ID():
		return p.gone(w, r, "You are signed out.")
	}
	return p.see(w, r, "/me", "That device is signed out.")
}

func (p *pages) endOthers(w http.ResponseWriter, r *http.Request, who visitor) error {
	if err := p.Vault.Sessions.EndOthers(r.Context(), who.Actor); err != nil {
		return err
	}
	return p.see(w, r, "/me", "You are signed out everywhere but here.")
}

func (p *pages) endAll(w http.ResponseWriter, r *http.Request, who visitor) error {
	if err := p.Vault.Sessions.EndAll(r.Context(), who.Actor); err != nil {
		return err
	}
	return p.gone(w, r, "You are signed out everywhere.")
}
