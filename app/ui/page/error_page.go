package page

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/vault/storage"
)

// NotFound returns the error for an address that doesn't belong to a page.
func NotFound(r *Request) error { return errs.RecordNotFound("page", r.URL.Path) }

// errorPage is the HTTP status, heading, and text of an error page.
type errorPage struct {
	status        int
	heading, text string
}

// HTTPError reports a problem with the request itself, such as an unreadable form.
type HTTPError struct {
	Status  int
	heading string
	Text    string
}

// NewHTTPError returns an error that is shown as a page with the given status, heading, and text.
func NewHTTPError(status int, heading, text string) error {
	return &HTTPError{Status: status, heading: heading, Text: text}
}

func (e *HTTPError) Error() string { return e.Text }

// errorPages maps each kind of error to the heading and text of its page. If the text is "", the
// error's message is shown.
var errorPages = map[errs.Kind][2]string{
	errs.Invalid:             {"Check your input", ""},
	errs.Forbidden:           {"You don't have permission", ""},
	errs.NotFound:            {"Page not found", "No page exists at this URL, or its record was deleted."},
	errs.Conflict:            {"Action not available", ""},
	errs.InsufficientStorage: {"Disk full", "Nothing was saved. Contact your administrator."},
	errs.Unavailable:         {"Temporarily unavailable", ""}, // see headingByCause
	errs.PreconditionFailed:  {"Someone else changed this", "Go back, reload the page to see the latest version, and make your change again."},
	errs.Locked:              {"Currently in use", ""},
}

// headingByCause maps the causes of errs.Unavailable to the headings of their pages.
var headingByCause = map[errs.Cause]string{
	errs.Busy:     "The server is busy",
	errs.Stopping: "The server is stopping",
	errs.ReadOnly: "Changes aren't possible now",
}

// serverErrorText is the text of the page for unexpected errors, with the request ID.
const serverErrorText = "Try again. If it keeps happening, contact your administrator and give them request ID %s."

// errorPageFor returns the page for an error. Every error page is selected here.
func errorPageFor(err error) errorPage {
	var (
		domainErr *errs.Error
		form      *HTTPError
		busy      *auth.SignInError
		bad       *storage.DamagedError
	)
	switch {
	case errors.As(err, &bad):
		return errorPage{http.StatusInternalServerError, "Document damaged", fmt.Sprintf("The stored copy of “%s” (document %d) is damaged, so the server doesn't send it. "+
			"Upload the same file again, or have an administrator restore it from a backup.", bad.File.Filename, bad.File.ID)}
	case errors.As(err, &form):
		return errorPage{form.Status, form.heading, form.Text}
	case errors.Is(err, errNotSetUp):
		return errorPage{http.StatusServiceUnavailable, "deedkeep is not set up yet", "No administrator account exists yet. Open the setup link that the server printed when it started."}
	case errors.As(err, &busy) && busy.Reason == auth.TooBusy:
		return errorPage{http.StatusServiceUnavailable, "Temporarily unavailable", busy.Error()}
	case errors.As(err, &busy):
		return errorPage{http.StatusTooManyRequests, "Too many attempts", busy.Error()}
	case errors.As(err, &domainErr) && errorPages[domainErr.Kind][0] != "":
		words := errorPages[domainErr.Kind]
		heading := cmp.Or(headingByCause[domainErr.Cause], words[0])
		return errorPage{httpx.StatusByKind[domainErr.Kind], heading, cmp.Or(words[1], ErrorMessage(domainErr))}
	}
	return errorPage{http.StatusInternalServerError, "Something went wrong on the server", serverErrorText}
}

// showError sends the error page for err. If a script sent the request, it sends only the text.
func (si *Site) showError(r *Request, err error) { si.reportFailure(r, si.renderError(r, err)) }

// reportFailure responds to a request whose error page couldn't be rendered. If err is nil, it does
// nothing.
func (si *Site) reportFailure(r *Request, err error) {
	if err == nil {
		return
	}
	si.Log.ErrorContext(r.Context(), "page", "error", err, "request_id", r.RequestID())
	http.Error(r.W, "Server error.", http.StatusInternalServerError)
}

// renderError renders the error page for err. If err requires signing in and a form was submitted, it
// keeps the input from being lost: it shows the input again or, for a script, only a message. It
// redirects all other requests that require signing in.
func (si *Site) renderError(r *Request, err error) error {
	var form *expiredFormError
	switch signIn := errors.Is(err, ErrSignIn); {
	case errors.As(err, &form):
		return si.showExpiredForm(r, form)
	case signIn && r.IsPart() && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return si.RenderPart(r, http.StatusUnauthorized, "session-expired.html", "problem", SignInPath("/"))
	case signIn, errors.Is(err, ErrTwoFactorRequired):
		return si.redirectToSignIn(r, err)
	}
	f := errorPageFor(err)
	if f.text == serverErrorText {
		f.text = fmt.Sprintf(serverErrorText, r.RequestID())
	}
	switch {
	case r.Context().Err() != nil:
		si.Log.DebugContext(r.Context(), "client closed the connection", "error", err, "request_id", r.RequestID())
	case f.status >= http.StatusInternalServerError && !errors.Is(err, errNotSetUp):
		si.Log.ErrorContext(r.Context(), "page", "error", err, "status", f.status, "request_id", r.RequestID())
	}
	r.RetryAfter(err)
	switch gone, inTrash := si.findTrashed(r, err); {
	case inTrash && r.MayRead():
		return si.showTrashed(r, gone)
	case errors.Is(err, errNotSetUp) && !r.IsPart():
		return si.RenderPage(r, f.status, "not-set-up.html", Page{Heading: f.heading})
	case r.IsPart():
		return si.RenderPart(r, f.status, "message.html", "problem", f.text)
	}
	return si.RenderPage(r, f.status, "message.html", Page{Heading: f.heading, Data: f.text})
}

// AbortResponse aborts the connection, so that the client notices that the response is incomplete. It
// does not return. what is the text of the log entry.
func (si *Site) AbortResponse(r *Request, what string, err error) {
	switch {
	case r.Context().Err() != nil:
	case errors.Is(err, ErrSignIn), errs.KindOf(err) == errs.Forbidden:
		si.Log.InfoContext(r.Context(), what+" is cut off", "error", err, "request_id", r.RequestID())
	default:
		si.Log.ErrorContext(r.Context(), what+" is cut off", "error", err, "request_id", r.RequestID())
	}
	panic(http.ErrAbortHandler)
}

// RetryAfter sets the Retry-After header if the error says how long to wait.
func (r *Request) RetryAfter(err error) {
	var rejected *auth.SignInError
	switch {
	case errors.As(err, &rejected) && rejected.Wait > 0:
		r.W.Header().Set("Retry-After", strconv.Itoa(int(rejected.Wait/time.Second)))
	case errorPageFor(err).status == http.StatusServiceUnavailable:
		r.W.Header().Set("Retry-After", "10")
	}
}

// redirectToSignIn redirects to the sign-in page, or to the account page if the user still has to
// set up two-factor authentication. Both pages later return the user to the current address.
// Scripts get a header that makes the browser load the new page.
func (si *Site) redirectToSignIn(r *Request, err error) error {
	to := "/me"
	if errors.Is(err, ErrSignIn) {
		to = SignInPath(si.CurrentAddress(r))
		if r.IsPart() && r.Method == http.MethodGet && r.URL.Query().Has("go") {
			to = SignInPath(filterAddress(r))
		}
	}
	if errors.Is(err, errSessionEnded) {
		si.SetSession(r, "")
		ClearSiteData(r, `"cache"`) // keep "storage": uploads resume after the user signs in
		si.SetNotice(r, "Your session ended. Sign in to continue.", failureMark)
	}
	if r.IsPart() {
		h := r.W.Header()
		h.Set("HX-Redirect", to)
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "HX-Request")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", httpx.DataPolicy)
		r.W.WriteHeader(http.StatusUnauthorized)
		return nil
	}
	if r.isFramed() { // the sign-in page needs the whole window
		return si.RenderPage(r, http.StatusUnauthorized, "signed-out.html", Page{Heading: "You were signed out", Data: to})
	}
	return r.Redirect(to)
}

// ShowMessage renders a page with a heading and one sentence, without navigation.
func (si *Site) ShowMessage(r *Request, status int, heading, text string) {
	si.reportFailure(r, si.RenderPage(r, status, "message.html", Page{Heading: heading, Data: text}))
}
