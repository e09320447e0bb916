package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// joiner opens one-time links.
type joiner interface {
	Invitation(ctx context.Context, token string) (vault.Invitation, error)
	Accept(ctx context.Context, token string, draft vault.AcceptDraft) (title.User, error)
}

func isJoin(path string) bool { return strings.HasPrefix(path, title.LinkPath) }

// mostForm is the largest form that somebody fills in here.
const mostForm = 16 << 10

// joining shows the form behind a one-time link, and takes it. To look at it changes
// nothing: programs that preview links use none up.
func (p *pages) joining(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.URL.EscapedPath(), title.LinkPath)
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		in, err := p.Users.Invitation(r.Context(), token)
		if err != nil {
			p.failJoin(w, r, err)
			return
		}
		p.joinForm(w, r, http.StatusOK, in, "", nil)
	case http.MethodPost:
		p.joins(w, r, token)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		p.say(w, r, http.StatusMethodNotAllowed, "This cannot be done here", "This address can only be looked at and filled in.")
	}
}

// joins takes the filled form.
func (p *pages) joins(w http.ResponseWriter, r *http.Request, token string) {
	if err := p.origins.Check(r); err != nil {
		leaveForm(w, r)
		p.say(w, r, http.StatusForbidden, "This was not sent from here", "Open the link that you were given and fill in the form there.")
		return
	}
	// Before the form is read: whoever has no link that works sends it to nobody.
	in, err := p.Users.Invitation(r.Context(), token)
	if err != nil {
		leaveForm(w, r)
		p.failJoin(w, r, err)
		return
	}
	if err := readForm(w, r, mostForm); err != nil {
		p.fail(w, r, visitor{}, err)
		return
	}
	form := r.PostForm
	if form.Get("password") != form.Get("again") {
		p.joinForm(w, r, http.StatusUnprocessableEntity, in, form.Get("name"), map[string]string{"again": "The two passwords differ."})
		return
	}
	user, err := p.Users.Accept(r.Context(), token, vault.AcceptDraft{Name: form.Get("name"), Password: form.Get("password"), Address: p.Address(r)})
	if named, ok := errors.AsType[*title.Error](err); ok && named.Kind == title.Invalid {
		p.joinForm(w, r, http.StatusUnprocessableEntity, in, form.Get("name"), problems(named.Fields))
		return
	}
	if err != nil {
		p.failJoin(w, r, err)
		return
	}
	p.Log.InfoContext(r.Context(), "password set by link", "user", user.ID, "request_id", requestID(w))
	p.joined(w, r, user.Name, form.Get("password"))
}

// joined lets somebody in who has just chosen a password, through the same door as
// everybody; where that does not open at once, the name is filled in there.
func (p *pages) joined(w http.ResponseWriter, r *http.Request, name, password string) {
	in, err := p.Vault.Users.SignIn(r.Context(), vault.SignInDraft{Name: name, Password: password, Address: p.Address(r), Device: r.UserAgent()})
	if err == nil {
		p.leaveNotice(w, r, "Your password is set. From now on you sign in as "+name+".")
		err = p.welcome(w, r, in, "/")
	} else if errors.As(err, new(*vault.SignInError)) {
		err = p.see(w, r, "/sign-in?name="+url.QueryEscape(name), "Your password is set. Sign in with it.")
	}
	if err != nil {
		p.fail(w, r, visitor{}, err)
	}
}

func problems(fields title.Fields) map[string]string {
	found := map[string]string{}
	for _, f := range fields {
		found[f.Field] = plainly(strings.Join(f.Sentences, " "))
	}
	return found
}

func (p *pages) joinForm(w http.ResponseWriter, r *http.Request, status int, in vault.Invitation, name string, problems map[string]string) {
	heading, text := "Choose a password", "This link works once."
	switch {
	case in.First:
		heading, text = "Make the first administrator", "Whoever signs in with this name and password runs this vault and lets the others in."
	case in.Reset:
		heading, text = "Choose a new password", "The one before works no more."
	}
	if !in.First {
		name = in.Name
	}
	err := p.show(w, r, visitor{}, status, "join.html", page{Heading: heading, Scripts: []string{"account.js"}, Data: struct {
		Text, Name string
		First      bool
		Least      int
		Problems   map[string]string
	}{text, name, in.First, title.LeastPassword, problems}})
	if err != nil {
		p.fail(w, r, visitor{}, err)
	}
}

// failJoin is the page of what went wrong, and how to go on.
func (p *pages) failJoin(w http.ResponseWriter, r *http.Request, err error) {
	var refused *vault.SignInError
	switch kind := title.KindOf(err); {
	case errors.As(err, &refused):
		retryAfter(w, err)
		p.say(w, r, http.StatusServiceUnavailable, "One moment, please", "Many people are signing in at this moment. Go back and send the form again in a few seconds.")
	case kind == title.NotFound, kind == title.Conflict:
		p.say(w, r, http.StatusNotFound, "This link does not work", "It was used already, has ended after 24 hours, or was cut on its way. Ask your administrator for a new one.")
	case kind == title.Closing, kind == title.Full:
		p.say(w, r, http.StatusServiceUnavailable, "This cannot be done now", "The service takes no changes at this moment. Please tell whoever runs it; the link still works.")
	case r.Context().Err() != nil:
		p.Log.DebugContext(r.Context(), "the client left", "error", err, "request_id", requestID(w))
	default:
		p.Log.ErrorContext(r.Context(), "join", "error", err, "request_id", requestID(w))
		p.say(w, r, http.StatusInternalServerError, "Something went wrong here", "The password was not set. Please tell whoever runs this service.")
	}
}
