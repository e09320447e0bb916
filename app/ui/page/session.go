package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Visitor is the user who sent the request. The user is anonymous if not signed in.
type Visitor struct {
	model.Actor
}

// Known reports whether the visitor is signed in.
func (v Visitor) Known() bool { return v.Kind == model.ActorUser }

// MayRead reports whether the visitor may read records.
func (v Visitor) MayRead() bool { return v.Role.Can(model.PermRead) }

// MayWrite reports whether the visitor may change records.
func (v Visitor) MayWrite() bool { return v.Role.Can(model.PermWrite) }

// MayAdminister reports whether the visitor may administer the server.
func (v Visitor) MayAdminister() bool { return v.Role.Can(model.PermAdmin) }

// Reasons to redirect a visitor; see redirectToSignIn.
var (
	ErrSignIn            = errors.New("not signed in")
	errSessionEnded      = fmt.Errorf("session ended: %w", ErrSignIn)
	ErrTwoFactorRequired = errors.New("two-factor authentication must be set up first")
)

// sessionCookie is the name of the session cookie. If the browser uses HTTPS, the cookie has the
// prefix "__Host-". Browsers then restrict it to this host, to HTTPS, and to the path / (RFC
// 6265bis).
const (
	sessionCookie = "deedkeep"
	hostPrefix    = "__Host-"
)

// isHTTPS reports whether the browser uses HTTPS, either to this server or to a reverse proxy. A
// request on the TLS port counts as HTTPS, whatever a proxy says about it.
func (si *Site) isHTTPS(r *Request) bool {
	origin, err := si.Origin(r.Request)
	return r.TLS != nil || err == nil && strings.HasPrefix(origin, "https:")
}

// cookieName returns the full name of a cookie, with the prefix if the browser uses HTTPS.
func (si *Site) cookieName(r *Request, name string) string {
	if si.isHTTPS(r) {
		return hostPrefix + name
	}
	return name
}

// SessionToken returns the token in the session cookie, or "" if there is none.
func (si *Site) SessionToken(r *Request) string { return si.CookieValue(r, sessionCookie) }

// CookieValue returns the value of a cookie that SetCookie set, or "" if there is none.
func (si *Site) CookieValue(r *Request, name string) string {
	cookie, err := r.Cookie(si.cookieName(r, name))
	if err != nil {
		return "" // the cookie doesn't exist
	}
	return cookie.Value
}

// SessionVisitor returns the user of the request's session. It returns an anonymous visitor if
// there is no valid session.
func (si *Site) SessionVisitor(r *Request) (Visitor, error) {
	anonymous := Visitor{model.Actor{Kind: "visitor", Address: si.Address(r.Request)}}
	token := si.SessionToken(r)
	if token == "" {
		return anonymous, nil
	}
	look := si.App.Sessions.Authenticate
	if r.isBackground() {
		look = si.App.Sessions.AuthenticateBackground
	}
	actor, err := look(r.Context(), token)
	switch {
	case errs.KindOf(err) == errs.Unauthenticated:
		return anonymous, nil
	case err != nil:
		return anonymous, err
	}
	actor.Address, actor.RequestID = si.Address(r.Request), r.Header.Get("X-Request-Id")
	return Visitor{actor}, nil
}

// SetSession sets the session cookie. If token is "", it deletes the cookie. Browsers delete the
// cookie when they close, and the vault limits the session's lifetime.
func (si *Site) SetSession(r *Request, token string) {
	si.SetCookie(r, sessionCookie, token, 0, http.SameSiteLaxMode)
}

// SetCookie sets a cookie with the given lifetime. If life is 0, the cookie lasts until the browser
// closes. An empty value deletes the cookie.
func (si *Site) SetCookie(r *Request, name, value string, life time.Duration, site http.SameSite) {
	age := int(life.Seconds())
	if value == "" {
		age = -1
	}
	http.SetCookie(r.W, &http.Cookie{ // #nosec G124 -- Secure wherever there is https
		Name: si.cookieName(r, name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: si.isHTTPS(r), SameSite: site,
	})
}

// errNotSetUp is returned until the first administrator is created.
var errNotSetUp = errors.New("no administrator account exists yet")

// authenticate returns the visitor. Until the first administrator is created, it returns
// errNotSetUp, whose error page explains the setup link.
func (si *Site) authenticate(r *Request) (Visitor, error) {
	visitor, err := si.SessionVisitor(r)
	if err != nil || visitor.Known() {
		return visitor, err
	}
	hasAdmin, err := si.App.Users.HasAdmin(r.Context())
	if err == nil && !hasAdmin {
		err = errNotSetUp
	}
	return visitor, err
}

// ClearSiteData makes the browser delete data that it stores for this site: cached page images and
// the names of unfinished uploads. Browsers do so over HTTPS only (W3C, "Clear Site Data"); page.js
// always deletes the names.
func ClearSiteData(r *Request, what string) { r.W.Header().Set("Clear-Site-Data", what) }
