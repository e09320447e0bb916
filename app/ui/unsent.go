package ui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// mostUnsent is the largest form that is handed back to somebody who was signed out.
const mostUnsent = 1 << 20

// signedOut owns the memory of all such forms. Anyone can send one without a session, and
// from several addresses: together they have no more of the memory than one user.
const signedOut = "signed out"

// unsent is a form whose sender was signed out while filling it in. It changes nothing;
// its page hands back what it held, to be sent once more by whoever has signed in.
type unsent struct {
	form url.Values
	done func() // gives its memory back
}

func (*unsent) Error() string { return errSignIn.Error() }
func (*unsent) Unwrap() error { return errSignIn }

// held reads the form of a record that nobody may send any more; nil where there is
// none. Forms of an account or of running the service may hold passwords: they are
// never handed back.
func (p *pages) held(to route, w http.ResponseWriter, r *http.Request) error {
	if to.raw || to.need != mayWrite || r.Method != http.MethodPost || isPart(r) || p.token(r) == "" {
		return nil
	}
	done, err := p.countedForm(w, r, signedOut, min(p.FormBytes, mostUnsent))
	switch {
	case errs.KindOf(err) == errs.Unavailable:
		return err
	case err != nil:
		return nil //nolint:nilerr // a form that cannot be read is lost, as it was sent
	case len(r.PostForm) == 0:
		done()
		return nil
	}
	return &unsent{r.PostForm, done}
}

// sentField is a field of a form as it was sent.
type sentField struct{ Name, Value string }

// unsentPage is what the page of such a form shows.
type unsentPage struct {
	To     string // where to sign in
	Action string
	Fields []sentField
}

func (p *pages) showUnsent(w http.ResponseWriter, r *http.Request, e *unsent) error {
	view := unsentPage{To: signInPath("/"), Action: local(r.URL.RequestURI())}
	for name, values := range e.form {
		for _, value := range values {
			view.Fields = append(view.Fields, sentField{name, value})
		}
	}
	slices.SortStableFunc(view.Fields, func(a, b sentField) int { return strings.Compare(a.Name, b.Name) })
	return p.show(w, r, visitor{}, http.StatusUnauthorized, "unsent.html", page{Heading: "You were signed out", Data: view})
}
