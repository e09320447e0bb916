package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// maxExpiredForm is the maximum size of a form that is shown again after its session expired.
const maxExpiredForm = 1 << 20

// expiredFormOwner is the owner of the memory of such forms. They can be sent without a session and
// from many addresses; together they get no more memory than one user.
const expiredFormOwner = "signed out"

// expiredFormError is a form whose session expired while the user filled it in. It changes nothing. Its
// page shows what the form contained, so that the user can send it again after signing in.
type expiredFormError struct {
	form url.Values
	done func() // releases its memory
}

func (*expiredFormError) Error() string { return ErrSignIn.Error() }

func (*expiredFormError) Unwrap() error { return ErrSignIn }

// recoverExpiredForm reads the form of a record that was sent after the session expired, nil if
// there is none. Forms of accounts and administration may contain passwords and are never shown
// again.
func (p *Site) recoverExpiredForm(to Route, w http.ResponseWriter, r *http.Request) error {
	if to.Raw || to.Access != MayWrite || r.Method != http.MethodPost || IsPartRequest(r) || p.SessionToken(r) == "" {
		return nil
	}
	done, err := p.readCountedForm(w, r, expiredFormOwner, min(p.FormBytes, maxExpiredForm))
	switch {
	case errs.KindOf(err) == errs.Unavailable:
		return err
	case err != nil:
		return nil //nolint:nilerr // a form that can't be read is lost
	case len(r.PostForm) == 0:
		done()
		return nil
	}
	return &expiredFormError{r.PostForm, done}
}

// formField is a submitted field of a form.
type formField struct{ Name, Value string }

// expiredFormPage is the data of the page that shows the form again.
type expiredFormPage struct {
	To     string // sign-in page
	Action string
	Fields []formField
}

func (p *Site) showExpiredForm(w http.ResponseWriter, r *http.Request, e *expiredFormError) error {
	view := expiredFormPage{To: SignInPath("/"), Action: LocalAddress(r.URL.RequestURI())}
	for name, values := range e.form {
		for _, value := range values {
			view.Fields = append(view.Fields, formField{name, value})
		}
	}
	slices.SortStableFunc(view.Fields, func(a, b formField) int { return strings.Compare(a.Name, b.Name) })
	return p.RenderPage(w, r, Visitor{}, http.StatusUnauthorized, "unsent.html", Page{Heading: "You were signed out", Data: view})
}
