package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// maxExpiredForm is the largest form that is handed back to somebody who was signed out.
const maxExpiredForm = 1 << 20

// expiredFormOwner owns the memory of all such forms. Anyone can send one without a session, and
// from several addresses: together they have no more of the memory than one user.
const expiredFormOwner = "signed out"

// expiredForm is a form whose sender was signed out while filling it in. It changes nothing;
// its page hands back what it held, to be sent once more by whoever has signed in.
type expiredForm struct {
	form url.Values
	done func() // gives its memory back
}

func (*expiredForm) Error() string { return ErrSignIn.Error() }

func (*expiredForm) Unwrap() error { return ErrSignIn }

// recoverExpiredForm reads the form of a record that nobody may send any more; nil where there is
// none. Forms of an account or of running the service may hold passwords: they are
// never handed back.
func (p *Site) recoverExpiredForm(to Route, w http.ResponseWriter, r *http.Request) error {
	if to.Raw || to.Access != MayWrite || r.Method != http.MethodPost || IsPartRequest(r) || p.SessionToken(r) == "" {
		return nil
	}
	done, err := p.readCountedForm(w, r, expiredFormOwner, min(p.FormBytes, maxExpiredForm))
	switch {
	case errs.KindOf(err) == errs.Unavailable:
		return err
	case err != nil:
		return nil //nolint:nilerr // a form that cannot be read is lost, as it was sent
	case len(r.PostForm) == 0:
		done()
		return nil
	}
	return &expiredForm{r.PostForm, done}
}

// formField is a field of a form as it was sent.
type formField struct{ Name, Value string }

// expiredFormPage is what the page of such a form shows.
type expiredFormPage struct {
	To     string // where to sign in
	Action string
	Fields []formField
}

func (p *Site) showExpiredForm(w http.ResponseWriter, r *http.Request, e *expiredForm) error {
	view := expiredFormPage{To: SignInPath("/"), Action: LocalAddress(r.URL.RequestURI())}
	for name, values := range e.form {
		for _, value := range values {
			view.Fields = append(view.Fields, formField{name, value})
		}
	}
	slices.SortStableFunc(view.Fields, func(a, b formField) int { return strings.Compare(a.Name, b.Name) })
	return p.RenderPage(w, r, Visitor{}, http.StatusUnauthorized, "unsent.html", Page{Heading: "You were signed out", Data: view})
}
