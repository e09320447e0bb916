package account

import (
	"errors"
	"net/http"
	"net/url"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// invitationPage shows the password form of a one-time link. GET requests don't use up the link
// because email programs open links for previews.
func (p *Pages) invitationPage(r *page.Request) error {
	in, err := p.App.Users.Invitation(r.Context(), r.PathValue("token"))
	if err != nil {
		return invitationError(err)
	}
	return p.showInvitation(r, http.StatusOK, in, "", nil)
}

// acceptInvitation sets the user's password from the submitted form.
func (p *Pages) acceptInvitation(r *page.Request) error {
	token := r.PathValue("token")
	// Check the link before reading the form, so that no password is read if the link is invalid.
	in, err := p.App.Users.Invitation(r.Context(), token)
	if err != nil {
		page.SkipForm(r)
		return invitationError(err)
	}
	if err := page.ReadForm(r, page.MaxFormBytes); err != nil {
		return err
	}
	form := r.PostForm
	if form.Get("password") != form.Get("again") {
		return p.showInvitation(r, http.StatusUnprocessableEntity, in, form.Get("name"), map[string]string{"again": "The passwords don't match."})
	}
	draft := auth.AcceptDraft{Name: form.Get("name"), Password: form.Get("password"), Address: p.Address(r.Request)}
	zone, chosen := "", false
	if list, given := form["time_zone"]; given && p.asksForTimeZone(in) {
		if zone, chosen = list[0], true; !page.KnownTimeZone(zone) {
			return p.showInvitation(r, http.StatusUnprocessableEntity, in, draft.Name, map[string]string{"time_zone": page.ChooseTimeZone})
		}
	}
	user, err := p.App.Users.Accept(r.Context(), token, draft)
	if domainErr, ok := errors.AsType[*errs.Error](err); ok && domainErr.Kind == errs.Invalid {
		return p.showInvitation(r, http.StatusUnprocessableEntity, in, form.Get("name"), page.FieldProblems(domainErr.Fields))
	}
	if err != nil {
		return invitationError(err)
	}
	if chosen {
		actor := model.Actor{Kind: model.ActorUser, ID: user.ID, Name: user.Name, Address: draft.Address}
		if err := p.App.Stored.ChooseTimeZone(r.Context(), actor, zone); err != nil {
			return err
		}
	}
	p.Log.InfoContext(r.Context(), "password set by link", "user", user.ID, "request_id", r.RequestID())
	to := "/"
	if in.First {
		to = page.SetupPath + "/firm"
	}
	return p.signInAfterInvitation(r, user.Name, form.Get("password"), to)
}

// asksForTimeZone reports whether the form asks the invited user for the time zone of the office:
// an administrator, until one is known.
func (p *Pages) asksForTimeZone(in auth.Invitation) bool {
	return in.Admin && p.App.Stored.Current().TimeZone == ""
}

// signInAfterInvitation signs the user in with the new password and opens the page at to. If that fails, it shows the
// sign-in page with the username filled in.
func (p *Pages) signInAfterInvitation(r *page.Request, name, password, to string) error {
	in, err := p.App.Users.SignIn(r.Context(), auth.SignInDraft{Name: name, Password: password, Address: p.Address(r.Request), Device: r.UserAgent()})
	if errors.As(err, new(*auth.SignInError)) {
		return p.RedirectWithNotice(r, "/sign-in?name="+url.QueryEscape(name), "Password set. Sign in with your new password.")
	}
	if err != nil {
		return err
	}
	p.SetNotice(r, "Password set. Your username is "+name+".", "")
	return p.finishSignIn(r, in, to)
}

// showInvitation shows the password form for the user that the link was created for, even if
// another user is signed in.
func (p *Pages) showInvitation(r *page.Request, status int, in auth.Invitation, name string, problems map[string]string) error {
	r.Visitor = page.Visitor{}
	heading, text := "Choose a password", "This link works once."
	switch {
	case in.First:
		heading, text = "Create the administrator account", "This account can manage users, API keys, templates, and backups."
	case in.Reset:
		heading, text = "Choose a new password", "Your old password no longer works."
	}
	if !in.First {
		name = in.Name
	}
	var zone *page.TimeZoneField
	if p.asksForTimeZone(in) {
		zone = p.NewTimeZoneField(r.PostForm.Get("time_zone"), problems["time_zone"])
	}
	return p.RenderPage(r, status, "join.html", page.Page{Heading: heading, Scripts: []string{"account.js"}, Data: struct {
		Text, Name string
		TimeZone   *page.TimeZoneField // nil unless the form asks for it
		First      bool
		MinLength  int
		Problems   map[string]string
	}{text, name, zone, in.First, model.MinPasswordLength, problems}})
}

// invitationError converts the error for an invalid link to a page that explains the problem. Other
// errors are returned unchanged.
func invitationError(err error) error {
	if kind := errs.KindOf(err); kind == errs.NotFound || kind == errs.Conflict {
		return page.NewHTTPError(http.StatusNotFound, "Link not valid",
			"This link has expired, was already used, or is incomplete. Ask your administrator for a new one.")
	}
	return err
}
