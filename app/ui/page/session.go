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

// Visitor is who looks at a page: the actor of the session, or nobody who is known.
type Visitor struct {
	model.Actor
}

// Known reports whether somebody is signed in.
func (v Visitor) Known() bool { return v.Kind == model.ActorUser }

// MayRead reports whether pages about records are shown.
func (v Visitor) MayRead() bool { return v.Role.Can(model.PermRead) }

// MayWrite reports whether forms that change records are shown.
func (v Visitor) MayWrite() bool { return v.Role.Can(model.PermWrite) }

// MayAdminister reports whether pages about running the service are shown.
func (v Visitor) MayAdminister() bool { return v.Role.Can(model.PermAdmin) }

// The reasons to go elsewhere first; see elsewhere.
var (
	ErrSignIn            = errors.New("nobody is signed in")
	errSessionEnded      = fmt.Errorf("a session has ended: %w", ErrSignIn)
	ErrTwoFactorRequired = errors.New("a second factor has to be set up first")
)

// The session's cookie. Over https its name makes browsers hold it to this host,
// to https and to the path / (RFC 6265bis, "__Host-").
const (
	sessionCookie = "deedkeep"
	hostPrefix    = "__Host-"
)

// isHTTPS reports whether the visitor's browser speaks https, to us or to the proxy in
// front of us.
func (p *Site) isHTTPS(r *http.Request) bool {
	origin, err := p.Origin(r)
	return err == nil && strings.HasPrefix(origin, "https:")
}

// cookieName is what a cookie is called that opens something.
func (p *Site) cookieName(r *http.Request, name string) string {
	if p.isHTTPS(r) {
		return hostPrefix + name
	}
	return name
}

// SessionToken is the session's, as the browser showed it; "" for none.
func (p *Site) SessionToken(r *http.Request) string { return p.CookieValue(r, sessionCookie) }

// CookieValue is the value of a cookie that opens something; "" where the browser has none.
func (p *Site) CookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(p.cookieName(r, name))
	if err != nil {
		return "" // there is no such cookie
	}
	return cookie.Value
}

// SessionVisitor gives who sent a request; nobody when there is no session or it has ended.
func (p *Site) SessionVisitor(r *http.Request) (Visitor, error) {
	nobody := Visitor{model.Actor{Kind: "visitor", Address: p.Address(r)}}
	token := p.SessionToken(r)
	if token == "" {
		return nobody, nil
	}
	look := p.Vault.Sessions.Authenticate
	if IsPartRequest(r) && r.Method == http.MethodGet {
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
	return Visitor{actor}, nil
}

// SetSession gives the browser a session's token; "" takes it away. It ends with the
// browser: how long it lasts at most is the vault's to say.
func (p *Site) SetSession(w http.ResponseWriter, r *http.Request, token string) {
	p.SetCookie(w, r, sessionCookie, token, 0, http.SameSiteLaxMode)
}

// SetCookie sets a cookie that opens something, for so long or until the browser is
// closed, or takes away one without a value.
func (p *Site) SetCookie(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration, site http.SameSite) {
	age := int(life.Seconds())
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- Secure wherever there is https
		Name: p.cookieName(r, name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: p.isHTTPS(r), SameSite: site,
	})
}

// errNotSetUp is while nobody can sign in who administers the vault.
var errNotSetUp = errors.New("there is no administrator yet")

// authenticate is visitor once the vault has been opened by its first administrator: until
// then every page says where the link for that is to be found, and gives nothing else.
func (p *Site) authenticate(r *http.Request) (Visitor, error) {
	who, err := p.SessionVisitor(r)
	if err != nil || who.Known() {
		return who, err
	}
	opened, err := p.Vault.Users.Opened(r.Context())
	if err == nil && !opened {
		err = errNotSetUp
	}
	return who, err
}

// ClearSiteData has the browser drop what it keeps of this service: pictures of pages in its
// cache, and in its storage the names of documents whose upload has not ended. Browsers
// do so over https alone (W3C, "Clear Site Data"); page.js forgets the names in any case.
func ClearSiteData(w http.ResponseWriter, what string) { w.Header().Set("Clear-Site-Data", what) }
