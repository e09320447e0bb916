package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// maxExpiredForm is the maximum size, in bytes, of a form that is shown again after its session
// expired. Larger forms are lost.
const maxExpiredForm = 1 << 20

// expiredFormOwner is the owner that is charged for the memory of expired forms. Anyone can send
// such forms without a session and from many addresses, so all of them together are limited to the
// memory of one user.
const expiredFormOwner = "signed out"

// expiredFormError reports that a session expired while the user filled in a form. The form is not
// processed. The error page shows the input, so that the user can submit it again after signing in.
type expiredFormError struct {
	form url.Values
	done func() // releases the memory of the form
}

func (*expiredFormError) Error() string { return ErrSignIn.Error() }

func (*expiredFormError) Unwrap() error { return ErrSignIn }

// recoverExpiredForm returns an expiredFormError with the submitted form, or nil if there is
// nothing to recover. It recovers only forms that change records: forms for accounts and
// administration may contain passwords.
func (si *Site) recoverExpiredForm(to Route, r *Request) error {
	if to.Raw || to.Access != MayWrite || r.Method != http.MethodPost || r.IsPart() || si.SessionToken(r) == "" {
		return nil
	}
	done, err := si.readCountedForm(r, expiredFormOwner, min(si.FormBytes, maxExpiredForm))
	switch {
	case errs.KindOf(err) == errs.Unavailable:
		return err
	case err != nil:
		return nil //nolint:nilerr // an unreadable form can't be recovered
	case len(r.PostForm) == 0:
		done()
		return nil
	}
	return &expiredFormError{r.PostForm, done}
}

// formField is a form field with its submitted value.
type formField struct{ Name, Value string }

// expiredFormPage is the template data of the page that shows an expired form.
type expiredFormPage struct {
	To     string // address of the sign-in page
	Action string
	Fields []formField
}

func (si *Site) showExpiredForm(r *Request, e *expiredFormError) error {
	view := expiredFormPage{To: SignInPath("/"), Action: LocalAddress(r.URL.RequestURI())}
	for name, values := range e.form {
		for _, value := range values {
			view.Fields = append(view.Fields, formField{name, value})
		}
	}
	slices.SortStableFunc(view.Fields, func(a, b formField) int { return strings.Compare(a.Name, b.Name) })
	return si.RenderPage(r, http.StatusUnauthorized, "session-expired.html", Page{Heading: "You were signed out", Data: view})
}
