package account

import (
	"errors"
	"net/http"

	"deedkeep/app/auth"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// challengeCookie is the name of the cookie that holds the token of a sign-in waiting for its
// verification code.
const challengeCookie = "deedkeep_step"

// signInForm is the template data of the sign-in pages.
type signInForm struct {
	Name, To, Problem string
	Wait              int  // seconds until the user can try again
	Code              bool // ask for the verification code instead of the username and password
}

func (p *Pages) signInPage(r *page.Request) error {
	query := r.URL.Query()
	to := page.LocalAddress(query.Get("to"))
	if r.Known() {
		return r.Redirect(to)
	}
	return p.showSignIn(r, http.StatusOK, signInForm{To: to, Name: page.Truncate(query.Get("name"), model.MaxNameLength)})
}

func (p *Pages) showSignIn(r *page.Request, status int, form signInForm) error {
	heading := "Sign in"
	if form.Code {
		heading = "Enter your verification code"
	}
	return p.RenderPage(r, status, "signin.html", page.Page{Heading: heading, Data: form, Scripts: []string{"account.js"}})
}

// signIn handles the first sign-in step: it checks the username and password.
func (p *Pages) signIn(r *page.Request) error {
	form := r.PostForm
	return p.startSession(r, auth.SignInDraft{Name: form.Get("name"), Password: form.Get("password")})
}

func (p *Pages) signInCodePage(r *page.Request) error {
	to := page.LocalAddress(r.URL.Query().Get("to"))
	if p.CookieValue(r, challengeCookie) == "" || r.Known() {
		return r.Redirect(page.SignInPath(to)) // no sign-in is waiting for a verification code
	}
	return p.showSignIn(r, http.StatusOK, signInForm{To: to, Code: true})
}

// submitCode handles the second sign-in step: it checks the verification code.
func (p *Pages) submitCode(r *page.Request) error {
	step := p.CookieValue(r, challengeCookie)
	if step == "" {
		return r.Redirect(page.SignInPath(page.LocalAddress(r.PostForm.Get("to"))))
	}
	return p.startSession(r, auth.SignInDraft{Challenge: step, Code: r.PostForm.Get("code")})
}

// startSession signs the user in if the credentials are valid. Otherwise it asks for the
// verification code or shows the problem.
func (p *Pages) startSession(r *page.Request, draft auth.SignInDraft) error {
	draft.Address, draft.Device = p.Address(r.Request), r.UserAgent()
	to := page.LocalAddress(r.PostForm.Get("to"))
	in, err := p.App.Users.SignIn(r.Context(), draft)
	if err == nil {
		return p.finishSignIn(r, in, to)
	}
	var rejected *auth.SignInError
	if !errors.As(err, &rejected) {
		return err
	}
	again := signInForm{Name: page.Truncate(draft.Name, model.MaxNameLength), To: to, Problem: rejected.Error(),
		Wait: int(rejected.Wait.Seconds()), Code: draft.Challenge != ""}
	switch rejected.Reason {
	case auth.CodeNeeded:
		p.SetCookie(r, challengeCookie, rejected.Challenge, auth.ChallengeTTL, http.SameSiteStrictMode)
		return r.Redirect(page.WithReturnTo("/sign-in/code", to))
	case auth.ChallengeExpired, auth.WrongPassword:
		again.Code = false
		p.clearChallenge(r)
	}
	r.RetryAfter(err)
	return p.showSignIn(r, page.SignInErrorStatus(rejected), again)
}

// finishSignIn sets the cookie of the new session. To prevent session fixation, it ends the
// browser's previous session.
func (p *Pages) finishSignIn(r *page.Request, in auth.SignedIn, to string) error {
	if before := p.SessionToken(r); before != "" {
		if err := p.App.Sessions.SignOut(r.Context(), before, p.Address(r.Request)); err != nil {
			return err
		}
	}
	p.clearChallenge(r)
	p.SetSession(r, in.Token)
	switch {
	case in.Enroll:
		to = "/me"
	case to == "/" && in.User.StartView != 0:
		to = "/?" + page.StartParam + "=1"
	}
	return r.Redirect(to)
}

// clearChallenge deletes the cookie of a sign-in that can't be continued.
func (p *Pages) clearChallenge(r *page.Request) {
	if p.CookieValue(r, challengeCookie) != "" {
		p.SetCookie(r, challengeCookie, "", 0, http.SameSiteStrictMode)
	}
}

func (p *Pages) signOut(r *page.Request) error {
	if err := p.App.Sessions.SignOut(r.Context(), p.SessionToken(r), r.Visitor.Address); err != nil {
		return err
	}
	return p.finishSignOut(r, "You're signed out.")
}

// finishSignOut deletes the session cookie and the data that the browser stores for this site.
func (p *Pages) finishSignOut(r *page.Request, notice string) error {
	p.SetSession(r, "")
	page.ClearSiteData(r, `"cache", "storage"`)
	return p.RedirectWithNotice(r, "/sign-in", notice)
}
