package page

import (
	"errors"
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// access is the access level that a route requires.
type access string

// The access levels. MayRead, MayWrite, and MayAdminister are permissions of roles.
const (
	Anyone        access = ""
	BeforeSetup   access = "invited"   // anyone, even before the first administrator exists
	SignedIn      access = "signed in" // even while two-factor authentication must be set up first
	MayRead              = access(model.PermRead)
	MayWrite             = access(model.PermWrite)
	MayAdminister        = access(model.PermAdmin)
)

// HandlerFunc handles a request after the access check of its route succeeded. If it returns an
// error, an error page is shown (error_page.go).
type HandlerFunc func(r *Request) error

// CheckAccess returns an error unless the visitor has the access level.
func CheckAccess(visitor Visitor, need access) error {
	switch {
	case need == Anyone, need == BeforeSetup:
		return nil
	case !visitor.Known():
		return ErrSignIn
	case need == SignedIn:
		return nil
	case visitor.Role == "":
		return ErrTwoFactorRequired
	case !visitor.Role.Can(model.Permission(need)):
		return &errs.Error{Kind: errs.Forbidden, Message: "Your role doesn't allow this. Ask an administrator for access."}
	}
	return nil
}

// authorize sets the visitor and returns an error unless the visitor has access to the route.
func (si *Site) authorize(route Route, r *Request) (err error) {
	r.background = route.Background
	if r.Visitor, err = si.authenticate(r); err != nil && (route.Access != BeforeSetup || !errors.Is(err, errNotSetUp)) {
		SkipForm(r)
		return err
	}
	if err := si.origins.Check(r.Request); err != nil {
		SkipForm(r)
		return &errs.Error{Kind: errs.Forbidden, Message: "Request blocked because it came from another site. Reload the page and try again.", Err: err}
	}
	if err := CheckAccess(r.Visitor, route.Access); err != nil {
		if errors.Is(err, ErrSignIn) {
			if expired := si.recoverExpiredForm(route, r); expired != nil {
				return expired
			}
		}
		SkipForm(r)
		if errors.Is(err, ErrSignIn) && si.SessionToken(r) != "" {
			err = errSessionEnded
		}
		return err
	}
	// A visitor who opens documents faster than a human reader could has to wait.
	if route.readsDocuments() && si.App.Events.RateLimited(r.Actor) {
		r.W.Header().Set("Retry-After", "60")
		return NewHTTPError(http.StatusTooManyRequests, "Too many requests", "You opened too many documents within a minute. Try again in a minute.")
	}
	return nil
}
