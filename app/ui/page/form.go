package page

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
)

// formTimeout is how long the client may take to send a form after the request header. Larger forms
// get extra time according to minFormRate.
const (
	formTimeout = 5 * time.Second
	minFormRate = 64 << 10 // bytes per second
)

// readRouteForm reads the form of a route with the given access level. The memory of large forms is
// charged to the sender until done is called. If the route doesn't require a role, only small forms
// are accepted.
func (si *Site) readRouteForm(r *Request, of access) (done func(), err error) {
	if of == Anyone || of == SignedIn {
		return func() {}, ReadForm(r, MaxFormBytes)
	}
	return si.readCountedForm(r, r.Record(), si.FormBytes)
}

// readCountedForm reads a form of at most maxBytes and charges its memory to owner until done is
// called.
func (si *Site) readCountedForm(r *Request, owner string, maxBytes int64) (done func(), err error) {
	length := r.ContentLength
	if length < 0 || length > maxBytes {
		length = maxBytes
	}
	end, sent := formDeadline(r, maxBytes), r.Body
	r.Body, done = si.LimitBody(r.Context(), owner, r.Body, length, func(waited time.Duration) {
		end = end.Add(waited)
		_ = http.NewResponseController(r.W).SetReadDeadline(end) // see ReadForm for the ignored error
	})
	if err := ReadForm(r, maxBytes); err != nil {
		done()
		r.Body = sent
		SkipForm(r) // what the limited body no longer returns
		return nil, err
	}
	return done, nil
}

// formDeadline returns the time by which the complete form must arrive.
func formDeadline(r *Request, maxBytes int64) time.Time {
	return time.Now().Add(formTimeout + time.Duration(min(max(r.ContentLength, 0), maxBytes)/minFormRate)*time.Second)
}

// ReadForm reads a form of at most maxBytes into r.PostForm.
func ReadForm(r *Request, maxBytes int64) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		SkipForm(r)
		return NewHTTPError(http.StatusUnsupportedMediaType, "Form not recognized",
			"Reload the page and submit the form again.")
	}
	control := http.NewResponseController(r.W)
	// Only connections that don't support deadlines return an error. They are not network
	// connections, so they can't stall.
	_ = control.SetReadDeadline(formDeadline(r, maxBytes))
	r.Body = http.MaxBytesReader(r.W, r.Body, maxBytes)
	if err := r.ParseForm(); err != nil {
		SkipForm(r)
		if errs.KindOf(err) == errs.Unavailable {
			return err
		}
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return NewHTTPError(http.StatusRequestEntityTooLarge, "Form too large",
				fmt.Sprintf("The form is larger than %s. Go back and shorten it.", FormatSize(tooLarge.Limit)))
		}
		return NewHTTPError(http.StatusBadRequest, "Form incomplete", "The form was incomplete. Go back and submit it again.")
	}
	// The server keeps reading from the connection to detect when the client disconnects.
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

// SkipForm prepares for a response that is sent without reading the form. It discards up to 1 MiB
// for up to one second, so that the client gets a chance to read the response, and makes the
// connection close.
func SkipForm(r *Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return
	}
	r.W.Header().Set("Connection", "close")
	httpx.DrainBody(r.W, r.Request)
}

// MaxFormBytes is the maximum size of a small form.
const MaxFormBytes = 16 << 10

// TypedProfile returns the full name and the title of a user as typed in a form.
func TypedProfile(r *Request) model.Profile {
	return model.Profile{FullName: r.PostForm.Get("full_name"), Title: r.PostForm.Get("title")}
}

// SubmittedProfile returns the submitted full name and title of a user. A field that isn't in the form stays.
func SubmittedProfile(r *Request) (patch model.ProfilePatch) {
	typed := TypedProfile(r)
	if r.PostForm.Has("full_name") {
		patch.FullName = &typed.FullName
	}
	if r.PostForm.Has("title") {
		patch.Title = &typed.Title
	}
	return patch
}

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
// administration may contain passwords. Without a session cookie, which signing out in another tab
// deletes, it recovers the forms of browsers. They send an origin with each form.
func (si *Site) recoverExpiredForm(to Route, r *Request) error {
	if to.Raw || to.Access != MayWrite || r.Method != http.MethodPost || r.IsPart() ||
		si.SessionToken(r) == "" && r.Header.Get("Origin") == "" {
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
