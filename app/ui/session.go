package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// visitor is who looks at a page: the actor of the session, or nobody who is known.
type visitor struct {
	model.Actor
}

// Known reports whether somebody is signed in.
func (v visitor) Known() bool { return v.Kind == model.ActorUser }

// MayRead reports whether pages about records are shown.
func (v visitor) MayRead() bool { return v.Role.Can(model.PermRead) }

// MayWrite reports whether forms that change records are shown.
func (v visitor) MayWrite() bool { return v.Role.Can(model.PermWrite) }

// MayAdminister reports whether pages about running the service are shown.
func (v visitor) MayAdminister() bool { return v.Role.Can(model.PermAdmin) }

// The reasons to go elsewhere first; see elsewhere.
var (
	errSignIn = errors.New("nobody is signed in")
	errEnded  = fmt.Errorf("a session has ended: %w", errSignIn)
	errEnroll = errors.New("a second factor has to be set up first")
)

// The session's cookie. Over https its name makes browsers hold it to this host,
// to https and to the path / (RFC 6265bis, "__Host-").
const (
	sessionCookie = "deedkeep"
	hostPrefix    = "__Host-"
)

// secure reports whether the visitor's browser speaks https, to us or to the proxy in
// front of us.
func (p *pages) secure(r *http.Request) bool {
	origin, err := p.Origin(r)
	return err == nil && strings.HasPrefix(origin, "https:")
}

// cookieName is what a cookie is called that opens something.
func (p *pages) cookieName(r *http.Request, name string) string {
	if p.secure(r) {
		return hostPrefix + name
	}
	return name
}

// token is the session's, as the browser showed it; "" for none.
func (p *pages) token(r *http.Request) string { return p.shown(r, sessionCookie) }

// shown is the value of a cookie that opens something; "" where the browser has none.
func (p *pages) shown(r *http.Request, name string) string {
	cookie, err := r.Cookie(p.cookieName(r, name))
	if err != nil {
		return "" // there is no such cookie
	}
	return cookie.Value
}

// visitor gives who sent a request; nobody when there is no session or it has ended.
func (p *pages) visitor(r *http.Request) (visitor, error) {
	nobody := visitor{model.Actor{Kind: "visitor", Address: p.Address(r)}}
	token := p.token(r)
	if token == "" {
		return nobody, nil
	}
	look := p.Vault.Sessions.Authenticate
	if isPart(r) && r.Method == http.MethodGet {
		look = p.Vault.Sessions.Glance // a page that asks by itself keeps nobody signed in
	}
	actor, err := look(r.Context(), token)
	switch {
	case errs.KindOf(err) == errs.Unauthenticated:
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
	p.setCookie(w, r, sessionCookie, token, 0, http.SameSiteLaxMode)
}

// setCookie sets a cookie that opens something, for so long or until the browser is
// closed, or takes away one without a value.
func (p *pages) setCookie(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration, site http.SameSite) {
	age := int(life.Seconds())
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- Secure wherever there is https
		Name: p.cookieName(r, name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: p.secure(r), SameSite: site,
	})
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
