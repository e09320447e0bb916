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

func (p *Pages) signInPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	query := r.URL.Query()
	to := page.LocalAddress(query.Get("to"))
	if visitor.Known() {
		page.Redirect(w, r, to)
		return nil
	}
	return p.showSignIn(w, r, visitor, http.StatusOK, signInForm{To: to, Name: page.Truncate(query.Get("name"), model.MaxNameLength)})
}

func (p *Pages) showSignIn(w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, form signInForm) error {
	heading := "Sign in"
	if form.Code {
		heading = "Enter your code"
	}
	return p.RenderPage(w, r, visitor, status, "signin.html", page.Page{Heading: heading, Data: form, Scripts: []string{"account.js"}})
}

// signIn handles the first sign-in step: it checks the username and password.
func (p *Pages) signIn(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	form := r.PostForm
	return p.startSession(w, r, visitor, auth.SignInDraft{Name: form.Get("name"), Password: form.Get("password")})
}

func (p *Pages) signInCodePage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	to := page.LocalAddress(r.URL.Query().Get("to"))
	if p.CookieValue(r, challengeCookie) == "" || visitor.Known() {
		page.Redirect(w, r, page.SignInPath(to)) // no sign-in is waiting for a verification code
		return nil
	}
	return p.showSignIn(w, r, visitor, http.StatusOK, signInForm{To: to, Code: true})
}

// submitCode handles the second sign-in step: it checks the verification code.
func (p *Pages) submitCode(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	step := p.CookieValue(r, challengeCookie)
	if step == "" {
		page.Redirect(w, r, page.SignInPath(page.LocalAddress(r.PostForm.Get("to"))))
		return nil
	}
	return p.startSession(w, r, visitor, auth.SignInDraft{Challenge: step, Code: r.PostForm.Get("code")})
}

// startSession signs the user in if the credentials are valid. Otherwise it asks for the
// verification code or shows the problem.
func (p *Pages) startSession(w http.ResponseWriter, r *http.Request, visitor page.Visitor, draft auth.SignInDraft) error {
	draft.Address, draft.Device = p.Address(r), r.UserAgent()
	to := page.LocalAddress(r.PostForm.Get("to"))
	in, err := p.Vault.Users.SignIn(r.Context(), draft)
	if err == nil {
		return p.finishSignIn(w, r, in, to)
	}
	var rejected *auth.SignInError
	if !errors.As(err, &rejected) {
		return err
	}
	again := signInForm{Name: page.Truncate(draft.Name, model.MaxNameLength), To: to, Problem: rejected.Error(), Wait: int(rejected.Wait.Seconds()), Code: draft.Challenge != ""}
	switch rejected.Reason {
	case auth.CodeNeeded:
		p.SetCookie(w, r, challengeCookie, rejected.Challenge, auth.ChallengeTTL, http.SameSiteStrictMode)
		page.Redirect(w, r, page.WithReturnTo("/sign-in/code", to))
		return nil
	case auth.ChallengeExpired, auth.WrongPassword:
		again.Code = false
		p.clearChallenge(w, r)
	}
	page.RetryAfter(w, err)
	return p.showSignIn(w, r, visitor, page.SignInErrorStatus(rejected), again)
}

// finishSignIn sets the cookie of the new session. To prevent session fixation, it ends the
// browser's previous session.
func (p *Pages) finishSignIn(w http.ResponseWriter, r *http.Request, in auth.SignedIn, to string) error {
	if before := p.SessionToken(r); before != "" {
		if err := p.Vault.Sessions.SignOut(r.Context(), before, p.Address(r)); err != nil {
			return err
		}
	}
	p.clearChallenge(w, r)
	p.SetSession(w, r, in.Token)
	if in.Enroll {
		to = "/me"
	}
	page.Redirect(w, r, to)
	return nil
}

// clearChallenge deletes the cookie of a sign-in that can't be continued.
func (p *Pages) clearChallenge(w http.ResponseWriter, r *http.Request) {
	if p.CookieValue(r, challengeCookie) != "" {
		p.SetCookie(w, r, challengeCookie, "", 0, http.SameSiteStrictMode)
	}
}

func (p *Pages) signOut(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if err := p.Vault.Sessions.SignOut(r.Context(), p.SessionToken(r), visitor.Address); err != nil {
		return err
	}
	return p.finishSignOut(w, r, "You are signed out.")
}

// finishSignOut deletes the session cookie and the data that the browser stores for this site.
func (p *Pages) finishSignOut(w http.ResponseWriter, r *http.Request, notice string) error {
	p.SetSession(w, r, "")
	page.ClearSiteData(w, `"cache", "storage"`)
	return p.RedirectWithNotice(w, r, "/sign-in", notice)
}
