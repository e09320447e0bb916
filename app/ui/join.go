package ui

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// mostForm is the largest form that somebody fills in here.
const mostForm = 16 << 10

// joinPage shows the form behind a one-time link. To look at it changes nothing:
// programs that preview links use none up.
func (p *pages) joinPage(w http.ResponseWriter, r *http.Request, _ visitor) error {
	in, err := p.Vault.Users.Invitation(r.Context(), r.PathValue("token"))
	if err != nil {
		return spent(err)
	}
	return p.joinForm(w, r, http.StatusOK, in, "", nil)
}

// join takes the filled form.
func (p *pages) join(w http.ResponseWriter, r *http.Request, _ visitor) error {
	token := r.PathValue("token")
	// Before the form is read: whoever has no link that works sends it to nobody.
	in, err := p.Vault.Users.Invitation(r.Context(), token)
	if err != nil {
		leaveForm(w, r)
		return spent(err)
	}
	if err := readForm(w, r, mostForm); err != nil {
		return err
	}
	form := r.PostForm
	if form.Get("password") != form.Get("again") {
		return p.joinForm(w, r, http.StatusUnprocessableEntity, in, form.Get("name"), map[string]string{"again": "The two passwords differ."})
	}
	user, err := p.Vault.Users.Accept(r.Context(), token, vault.AcceptDraft{Name: form.Get("name"), Password: form.Get("password"), Address: p.Address(r)})
	if named, ok := errors.AsType[*errs.Error](err); ok && named.Kind == errs.Invalid {
		return p.joinForm(w, r, http.StatusUnprocessableEntity, in, form.Get("name"), problems(named.Fields))
	}
	if err != nil {
		return spent(err)
	}
	p.Log.InfoContext(r.Context(), "password set by link", "user", user.ID, "request_id", requestID(w))
	return p.joined(w, r, user.Name, form.Get("password"))
}

// joined lets somebody in who has just chosen a password, through the same door as
// everybody; where that does not open at once, the name is filled in there.
func (p *pages) joined(w http.ResponseWriter, r *http.Request, name, password string) error {
	in, err := p.Vault.Users.SignIn(r.Context(), vault.SignInDraft{Name: name, Password: password, Address: p.Address(r), Device: r.UserAgent()})
	if errors.As(err, new(*vault.SignInError)) {
		return p.see(w, r, "/sign-in?name="+url.QueryEscape(name), "Your password is set. Sign in with it.")
	}
	if err != nil {
		return err
	}
	p.leaveNotice(w, r, "Your password is set. From now on you sign in as "+name+".")
	return p.welcome(w, r, in, "/")
}

func problems(fields errs.Fields) map[string]string {
	found := map[string]string{}
	for _, f := range fields {
		found[f.Field] = plainly(strings.Join(f.Sentences, " "))
	}
	return found
}

// joinForm is nobody's page: it is for whoever was given the link, not for whoever
// happens to be signed in where it is opened.
func (p *pages) joinForm(w http.ResponseWriter, r *http.Request, status int, in vault.Invitation, name string, problems map[string]string) error {
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
	return p.show(w, r, visitor{}, status, "join.html", page{Heading: heading, Scripts: []string{"account.js"}, Data: struct {
		Text, Name string
		First      bool
		Least      int
		Problems   map[string]string
	}{text, name, in.First, model.MinPasswordLength, problems}})
}

// spent tells of a link that opens nothing how to go on; other failures stay what
// they are.
func spent(err error) error {
	if kind := errs.KindOf(err); kind == errs.NotFound || kind == errs.Conflict {
		return &formError{http.StatusNotFound, "This link does not work", "It was used already, has ended after 24 hours, or was cut on its way. Ask your administrator for a new one."}
	}
	return err
}
