package ui

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// visitor is who looks at a page: the actor of the session, or nobody who is known.
type visitor struct {
	title.Actor
}

// Known reports whether somebody is signed in.
func (v visitor) Known() bool { return v.Kind == title.ByUser }

// MayRead reports whether pages about records are shown.
func (v visitor) MayRead() bool { return v.Role.May(title.MayRead) }

// MayWrite reports whether forms that change records are shown.
func (v visitor) MayWrite() bool { return v.Role.May(title.MayWrite) }

// MayAdminister reports whether pages about running the service are shown.
func (v visitor) MayAdminister() bool { return v.Role.May(title.MayAdminister) }

var (
	errSignIn = errors.New("nobody is signed in")
	errEnrol  = errors.New("a second factor has to be set up first")
)

// The session's cookie. Over https its name makes browsers hold it to this host,
// to https and to the path / (RFC 6265bis, "__Host-").
const (
	plainCookie  = "deedkeep"
	secureCookie = "__Host-deedkeep"
)

// secure reports whether the visitor's browser speaks https, to us or to the proxy in
// front of us.
func (p *pages) secure(r *http.Request) bool {
	origin, err := p.Origin(r)
	return err == nil && strings.HasPrefix(origin, "https:")
}

func (p *pages) cookieName(r *http.Request) string {
	if p.secure(r) {
		return secureCookie
	}
	return plainCookie
}

// visitor gives who sent a request; nobody when there is no session or it has ended.
func (p *pages) visitor(r *http.Request) (visitor, error) {
	nobody := visitor{title.Actor{Kind: "visitor", Address: p.Address(r)}}
	cookie, err := r.Cookie(p.cookieName(r))
	if err != nil {
		return nobody, nil //nolint:nilerr // there is no such cookie: nobody is signed in
	}
	actor, err := p.Vault.Sessions.Authenticate(r.Context(), cookie.Value)
	switch {
	case title.KindOf(err) == title.Unauthenticated:
		return nobody, nil
	case err != nil:
		return nobody, err
	}
	actor.Address, actor.RequestID = p.Address(r), r.Header.Get("X-Request-Id")
	return visitor{actor}, nil
}

// setSession gives the browser a session's token; "" takes it away. It ends with the
// browser: how long it lasts at most is the vault's to say.
func (p *pages) setSession(w http.ResponseWriter, r *http.Request, token string) {
	cookie := &http.Cookie{Name: p.cookieName(r), Value: token, Path: "/", HttpOnly: true, Secure: p.secure(r), SameSite: http.SameSiteLaxMode}
	if token == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// signInForm is what the page of signing in shows.
type signInForm struct {
	Name, To, Problem string
	Code              bool // the code of the second factor is asked for
}

func (p *pages) signInPage(w http.ResponseWriter, r *http.Request, who visitor) error {
	to := local(r.URL.Query().Get("to"))
	if who.Known() {
		redirect(w, r, to)
		return nil
	}
	return p.show(w, r, who, http.StatusOK, "signin.html", page{Heading: "Sign in", Data: signInForm{To: to}})
}

func (p *pages) signIn(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.PostForm
	in, err := p.Vault.Users.SignIn(r.Context(), vault.SignInDraft{
		Name: form.Get("name"), Password: form.Get("password"), Code: form.Get("code"), Address: p.Address(r), Device: r.UserAgent(),
	})
	var refused *vault.SignInError
	if errors.As(err, &refused) {
		again := signInForm{Name: form.Get("name"), To: local(form.Get("to")), Problem: refused.Error()}
		again.Code = refused.Reason == vault.CodeNeeded || refused.Reason == vault.WrongCode
		return p.show(w, r, who, http.StatusUnprocessableEntity, "signin.html", page{Heading: "Sign in", Data: again})
	}
	if err != nil {
		return err
	}
	p.setSession(w, r, in.Token)
	redirect(w, r, local(form.Get("to")))
	return nil
}

func (p *pages) signOut(w http.ResponseWriter, r *http.Request, who visitor) error {
	if cookie, err := r.Cookie(p.cookieName(r)); err == nil {
		if err := p.Vault.Sessions.SignOut(r.Context(), cookie.Value, who.Address); err != nil {
			return err
		}
	}
	p.setSession(w, r, "")
	return p.see(w, r, "/sign-in", "You are signed out.")
}

// local gives an address of this service as it is, and the desk for any other:
// nobody is sent elsewhere by a link to the page of signing in.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}
