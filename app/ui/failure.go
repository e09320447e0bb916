package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

func absentPath(r *http.Request) error { return errs.RecordNotFound("page", r.URL.Path) }

// failure is a page of something that went wrong.
type failure struct {
	status        int
	heading, text string
}

// formError is a failure of HTTP itself, such as a form that cannot be read.
type formError struct {
	status        int
	heading, text string
}

func (e *formError) Error() string { return e.text }

// headings is the table of the failures that come from below; where the text is ""
// the error's own sentence is shown.
var headings = map[errs.Kind]failure{
	errs.Invalid:             {http.StatusUnprocessableEntity, "This cannot be done so", ""},
	errs.Forbidden:           {http.StatusForbidden, "This is not for you", ""},
	errs.NotFound:            {http.StatusNotFound, "Nothing is here", "There is no page at this address, or what it showed was moved to the trash."},
	errs.Conflict:            {http.StatusConflict, "This cannot be done now", ""},
	errs.InsufficientStorage: {http.StatusInsufficientStorage, "The disk is full", "Nothing more can be stored. Please tell whoever runs this service."},
	errs.Unavailable:         {http.StatusServiceUnavailable, "One moment, please", "The service is stopping or takes no changes just now. Nothing was changed; try again in a minute."},
	errs.PreconditionFailed:  {http.StatusPreconditionFailed, "Somebody was quicker", "This was changed by somebody else meanwhile. Go back, load the page anew and look before you change it."},
	errs.Locked:              {http.StatusLocked, "This is in use", ""},
}

// explain is the one mapping from errors to pages.
func explain(err error) failure {
	var (
		named *errs.Error
		form  *formError
		busy  *vault.SignInError
		bad   *vault.DamagedError
	)
	switch {
	case errors.As(err, &bad):
		return failure{http.StatusInternalServerError, "Document damaged", fmt.Sprintf("The stored copy of “%s” (document %d) is damaged, so the server doesn't send it. "+
			"Upload the same file again, or have an administrator restore it from a backup.", bad.File.Filename, bad.File.ID)}
	case errors.As(err, &form):
		return failure(*form)
	case errors.Is(err, errClosed):
		return failure{http.StatusServiceUnavailable, "deedkeep is not set up yet", "Nobody can sign in yet. The address of the first administrator's page was printed where deedkeep was started."}
	case errors.As(err, &busy) && busy.Reason == vault.TooBusy:
		return failure{http.StatusServiceUnavailable, "One moment, please", busy.Error()}
	case errors.As(err, &busy):
		return failure{http.StatusTooManyRequests, "One moment, please", busy.Error()}
	case errors.As(err, &named) && headings[named.Kind].status != 0:
		f := headings[named.Kind]
		if f.text == "" {
			f.text = plainly(named.Message)
		}
		return f
	}
	return failure{http.StatusInternalServerError, "Something went wrong here", "It was not your doing. Please tell whoever runs this service what you did, and when."}
}

// fail answers an error: a page, or the sentence alone where a script puts it into place.
func (p *pages) fail(w http.ResponseWriter, r *http.Request, who visitor, err error) {
	if errors.Is(err, errSignIn) || errors.Is(err, errEnroll) {
		p.outside(w, r, err)
		return
	}
	f := explain(err)
	switch {
	case r.Context().Err() != nil:
		p.Log.DebugContext(r.Context(), "the client left", "error", err, "request_id", requestID(w))
	case f.status >= http.StatusInternalServerError && !errors.Is(err, errClosed):
		p.Log.ErrorContext(r.Context(), "page", "error", err, "status", f.status, "request_id", requestID(w))
	}
	retryAfter(w, err)
	gone, inTrash := p.goneRecord(r, err)
	switch {
	case inTrash && who.MayRead():
		err = p.showGone(w, r, who, gone)
	case errors.Is(err, errClosed) && !isPart(r):
		err = p.show(w, r, who, f.status, "first.html", page{Heading: f.heading})
	case isPart(r):
		err = p.part(w, r, who, f.status, "message.html", "problem", f.text)
	default:
		err = p.show(w, r, who, f.status, "message.html", page{Heading: f.heading, Data: f.text})
	}
	if err != nil {
		p.Log.ErrorContext(r.Context(), "page", "error", err, "request_id", requestID(w))
		http.Error(w, "Server error.", http.StatusInternalServerError)
		return
	}
}

// retryAfter tells programs what the sentence tells people.
func retryAfter(w http.ResponseWriter, err error) {
	var refused *vault.SignInError
	switch {
	case errors.As(err, &refused) && refused.Wait > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(refused.Wait/time.Second)))
	case explain(err).status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "10")
	}
}

// outside answers somebody who has to sign in first: in place where something was
// typed, which would be lost on the way, else by sending them there.
func (p *pages) outside(w http.ResponseWriter, r *http.Request, err error) {
	var form *unsent
	switch signIn := errors.Is(err, errSignIn); {
	case errors.As(err, &form):
		err = p.showUnsent(w, r, form)
	case signIn && isPart(r) && r.Method != http.MethodGet && r.Method != http.MethodHead:
		err = p.part(w, r, visitor{}, http.StatusUnauthorized, "unsent.html", "problem", signInPath("/"))
	default:
		p.elsewhere(w, r, err)
		return
	}
	if err != nil {
		p.Log.ErrorContext(r.Context(), "page", "error", err, "request_id", requestID(w))
		http.Error(w, "Server error.", http.StatusInternalServerError)
		return
	}
}

// elsewhere sends somebody who has to sign in, or to set up a second factor, to where
// that is done, and from there back. A script is told by a header, so that the whole
// page goes there.
func (p *pages) elsewhere(w http.ResponseWriter, r *http.Request, err error) {
	to := "/me"
	if errors.Is(err, errSignIn) {
		to = signInPath(p.looksAt(r))
		if isPart(r) && r.Method == http.MethodGet && r.URL.Query().Has("go") {
			to = signInPath(filtered(r))
		}
	}
	if errors.Is(err, errEnded) {
		p.setSession(w, r, "")
		forget(w, `"cache"`) // whoever comes back goes on with the uploads
		p.leaveNotice(w, r, "You were signed out meanwhile. Sign in to go on.")
	}
	if isPart(r) {
		h := w.Header()
		h.Set("HX-Redirect", to)
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "HX-Request")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", dataPolicy)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	redirect(w, r, to)
}

// looksAt gives the page that somebody sees who sends a request: itself when it is one,
// else the one that it was sent from.
func (p *pages) looksAt(r *http.Request) string {
	from := r.Header.Get("Referer")
	switch {
	case isPart(r):
		from = r.Header.Get("HX-Current-URL")
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return local(r.URL.RequestURI())
	}
	u, err := url.Parse(from)
	if err != nil || u.Host != r.Host {
		return "/"
	}
	return local(u.RequestURI())
}

// filtered is the address of a list as its form was sent while somebody typed: the browser
// has that of the text before.
func filtered(r *http.Request) string {
	values := url.Values{}
	for name, v := range r.URL.Query() {
		if name != "go" && v[0] != "" {
			values.Set(name, v[0])
		}
	}
	return local(address(r.URL.Path, values))
}

// say renders a page of a heading and a sentence for nobody in particular.
func (p *pages) say(w http.ResponseWriter, r *http.Request, status int, heading, text string) {
	if err := p.show(w, r, visitor{}, status, "message.html", page{Heading: heading, Data: text}); err != nil {
		p.Log.ErrorContext(r.Context(), "page", "error", err, "request_id", requestID(w))
		http.Error(w, "Server error.", http.StatusInternalServerError)
		return
	}
}
