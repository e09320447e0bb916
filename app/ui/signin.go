package ui

import (
	"errors"
	"net/http"
	"net/url"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// errClosed is while nobody can sign in who administers the vault.
var errClosed = errors.New("there is no administrator yet")

// whoever is visitor once the vault has been opened by its first administrator: until
// then every page says where the link for that is to be found, and gives nothing else.
func (p *pages) whoever(r *http.Request) (visitor, error) {
	who, err := p.visitor(r)
	if err != nil || who.Known() {
		return who, err
	}
	opened, err := p.Vault.Users.Opened(r.Context())
	if err == nil && !opened {
		err = errClosed
	}
	return who, err
}

// stepCookie holds the token of a sign-in that waits for its code, for as long.
const stepCookie = "deedkeep_step"

// signInForm is what the pages of signing in show.
type signInForm struct {
	Name, To, Problem string
	Wait              int  // seconds after which to try again
	Code              bool // the code is asked for, in the place of name and password
}

// signInPath is the page of signing in, which leads on to another.
func signInPath(to string) string { return withTo("/sign-in", to) }

func withTo(path, to string) string {
	if to == "/" {
		return path
	}
	return path + "?to=" + url.QueryEscape(to)
}

func (p *pages) signInPage(w http.ResponseWriter, r *http.Request, who visitor) error {
	query := r.URL.Query()
	to := local(query.Get("to"))
	if who.Known() {
		redirect(w, r, to)
		return nil
	}
	return p.signInForm(w, r, who, http.StatusOK, signInForm{To: to, Name: shorten(query.Get("name"), model.MaxNameLength)})
}

func (p *pages) signInForm(w http.ResponseWriter, r *http.Request, who visitor, status int, form signInForm) error {
	heading := "Sign in"
	if form.Code {
		heading = "Enter your code"
	}
	return p.show(w, r, who, status, "signin.html", page{Heading: heading, Data: form, Scripts: []string{"account.js"}})
}

// signIn takes name and password.
func (p *pages) signIn(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.PostForm
	return p.letIn(w, r, who, vault.SignInDraft{Name: form.Get("name"), Password: form.Get("password")})
}

func (p *pages) codePage(w http.ResponseWriter, r *http.Request, who visitor) error {
	to := local(r.URL.Query().Get("to"))
	if p.shown(r, stepCookie) == "" || who.Known() {
		redirect(w, r, signInPath(to)) // nothing waits for a code here
		return nil
	}
	return p.signInForm(w, r, who, http.StatusOK, signInForm{To: to, Code: true})
}

// code takes the code of the second factor, in the step after the password.
func (p *pages) code(w http.ResponseWriter, r *http.Request, who visitor) error {
	step := p.shown(r, stepCookie)
	if step == "" {
		redirect(w, r, signInPath(local(r.PostForm.Get("to"))))
		return nil
	}
	return p.letIn(w, r, who, vault.SignInDraft{Step: step, Code: r.PostForm.Get("code")})
}

// letIn begins a session, asks for the code, or says why not.
func (p *pages) letIn(w http.ResponseWriter, r *http.Request, who visitor, draft vault.SignInDraft) error {
	draft.Address, draft.Device = p.Address(r), r.UserAgent()
	to := local(r.PostForm.Get("to"))
	in, err := p.Vault.Users.SignIn(r.Context(), draft)
	if err == nil {
		return p.welcome(w, r, in, to)
	}
	var refused *vault.SignInError
	if !errors.As(err, &refused) {
		return err
	}
	again := signInForm{Name: shorten(draft.Name, model.MaxNameLength), To: to, Problem: refused.Error(), Wait: int(refused.Wait.Seconds()), Code: draft.Step != ""}
	switch refused.Reason {
	case vault.CodeNeeded:
		p.setCookie(w, r, stepCookie, refused.Step, vault.StepLife, http.SameSiteStrictMode)
		redirect(w, r, withTo("/sign-in/code", to))
		return nil
	case vault.StepEnded, vault.WrongPassword:
		again.Code = false
		p.leaveStep(w, r)
	}
	retryAfter(w, err)
	return p.signInForm(w, r, who, refusedStatus(refused), again)
}

// refusedStatus is 429 or 503 for whoever comes again after a while, and 422 for what
// was wrong: browsers keep a password then as little as they do at 401.
func refusedStatus(refused *vault.SignInError) int {
	switch refused.Reason {
	case vault.TooManyTries:
		return http.StatusTooManyRequests
	case vault.TooBusy:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// welcome gives the browser its new session. The one that it showed before ends: a
// token that somebody put there opens nothing that comes after.
func (p *pages) welcome(w http.ResponseWriter, r *http.Request, in vault.SignedIn, to string) error {
	if before := p.token(r); before != "" {
		if err := p.Vault.Sessions.SignOut(r.Context(), before, p.Address(r)); err != nil {
			return err
		}
	}
	p.leaveStep(w, r)
	p.setSession(w, r, in.Token)
	if in.Enroll {
		to = "/me"
	}
	redirect(w, r, to)
	return nil
}

// leaveStep takes a step from the browser that leads no further.
func (p *pages) leaveStep(w http.ResponseWriter, r *http.Request) {
	if p.shown(r, stepCookie) != "" {
		p.setCookie(w, r, stepCookie, "", 0, http.SameSiteStrictMode)
	}
}

func (p *pages) signOut(w http.ResponseWriter, r *http.Request, who visitor) error {
	if err := p.Vault.Sessions.SignOut(r.Context(), p.token(r), who.Address); err != nil {
		return err
	}
	return p.gone(w, r, "You are signed out.")
}

// gone takes the session from a browser in which it has ended.
func (p *pages) gone(w http.ResponseWriter, r *http.Request, notice string) error {
	p.setSession(w, r, "")
	forget(w, `"cache", "storage"`)
	return p.see(w, r, "/sign-in", notice)
}

// forget has the browser drop what it keeps of this service: pictures of pages in its
// cache, and in its storage the names of documents whose upload has not ended. Browsers
// do so over https alone (W3C, "Clear Site Data"); page.js forgets the names in any case.
func forget(w http.ResponseWriter, what string) { w.Header().Set("Clear-Site-Data", what) }
