package admin

import (
	"crypto/rand"
	"net/http"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/absence"
	"deedkeep/app/ui/page"
)

// userRow is a user in the list of users.
type userRow struct {
	model.User
	You   bool
	State string // active, invited, lapsed (the invitation link expired), or disabled
	Until time.Time
	Away  bool
}

func (p *Pages) newUserRow(r *page.Request, user model.User) userRow {
	one := userRow{User: user, You: user.ID == r.Visitor.ID, State: "active", Away: user.IsAway(p.Today())}
	switch {
	case !user.Enabled():
		one.State = "disabled"
	case user.CanSignIn():
	case user.PasswordLink.Active(p.Now()):
		one.State, one.Until = "invited", user.PasswordLink.ExpiresAt
	default:
		one.State = "lapsed"
	}
	return one
}

func (p *Pages) userListPage(r *page.Request) error {
	list, err := p.App.Users.List(r.Context())
	if err != nil {
		return err
	}
	people := make([]userRow, 0, len(list))
	for _, user := range list {
		people = append(people, p.newUserRow(r, user))
	}
	return p.RenderPage(r, http.StatusOK, "users.html", page.Page{Heading: "Users", Section: "admin", Data: people})
}

// newUserForm is the template data of the page that invites a user.
type newUserForm struct {
	Name     string
	Profile  model.Profile
	Role     model.Role
	Roles    []model.Role
	Once     string // identifies this form, so that submitting it twice creates only one invitation
	Problems map[string]string
}

func (p *Pages) newUserPage(r *page.Request) error {
	return p.showNewUserForm(r, http.StatusOK, newUserForm{Role: model.RoleStaff, Once: rand.Text()})
}

func (p *Pages) showNewUserForm(r *page.Request, status int, form newUserForm) error {
	form.Roles = model.Roles()
	return p.RenderPage(r, status, "user-new.html", page.Page{Heading: "Invite user", Section: "admin", Data: form})
}

// inviteUser creates a user and shows a one-time link for setting the password.
func (p *Pages) inviteUser(r *page.Request) error {
	draft := model.UserDraft{Name: r.PostForm.Get("name"), Role: model.Role(r.PostForm.Get("role")),
		Profile: page.SubmittedProfile(r)}
	return p.SubmitOnce(r, linkAlreadyShown, func() (string, error) {
		token, user, err := p.App.Users.Create(r.Context(), r.Actor, draft)
		if err == nil {
			return p.RecordPath("user", user.ID), p.showLink(r, user, token)
		}
		return "", page.ShowProblems(r, err, func(r *page.Request, status int, problems map[string]string) error {
			return p.showNewUserForm(r, status, newUserForm{Name: draft.Name, Role: draft.Role,
				Profile: page.TypedProfile(r), Once: r.PostForm.Get("once"), Problems: problems})
		})
	})
}

// linkAlreadyShown is the page shown when the form for a one-time link is submitted twice.
var linkAlreadyShown = page.AlreadySubmitted{Text: "This link was already created and can't be shown again. You can create a new one.", Path: "/admin/users", Link: "Go to user"}

// linkPage is the template data of the page that shows a one-time link.
type linkPage struct {
	User    model.User
	Address string
	Reset   bool
}

// showLink shows a one-time link. It can't be shown again because the server stores only its hash.
func (p *Pages) showLink(r *page.Request, user model.User, token string) error {
	origin, err := p.Origin(r.Request)
	if err != nil {
		return err
	}
	return p.RenderPage(r, http.StatusOK, "user-link.html", page.Page{Heading: "Link for " + user.Name, Section: "admin", Data: linkPage{
		User: user, Address: origin + model.PasswordLinkPath + token, Reset: user.PasswordLink.Reset,
	}})
}

// userPage is the template data of a user's page.
type userPage struct {
	userRow
	Roles    []model.Role
	Once     string // identifies the form that creates another one-time link
	Problems map[string]string
	AwayForm absence.Form
}

func (p *Pages) userPage(r *page.Request) error {
	return p.showUser(r, http.StatusOK, nil)
}

// showUser shows the page of a user with the problems of one of its forms, if any.
func (p *Pages) showUser(r *page.Request, status int, problems map[string]string) error {
	user, err := p.App.Users.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	return p.RenderPage(r, status, "user.html", page.Page{Heading: user.Name, Section: "admin", Data: userPage{
		userRow: p.newUserRow(r, user), Roles: model.Roles(), Once: rand.Text(), Problems: problems,
		AwayForm: absence.NewForm(p.Site, r, user, problems),
	}})
}

// showUserChange responds to one of the forms on a user's page.
func (p *Pages) showUserChange(r *page.Request, notice string, err error) error {
	if err != nil {
		return page.ShowProblems(r, err, p.showUser)
	}
	return p.RedirectWithNotice(r, "/admin/users", notice)
}

func (p *Pages) renameUser(r *page.Request) error {
	user, err := p.App.Users.Rename(r.Context(), r.Actor, r.PathID, r.PostForm.Get("name"))
	return p.showUserChange(r, "Username changed to "+user.Name+".", err)
}

func (p *Pages) setProfile(r *page.Request) error {
	user, err := p.App.Users.SetProfile(r.Context(), r.Actor, r.PathID, page.SubmittedProfile(r))
	return p.showUserChange(r, "Name and title of "+user.Name+" saved.", err)
}

func (p *Pages) setAway(r *page.Request) error {
	user, err := absence.Save(p.Site, r, r.PathID)
	return p.showUserChange(r, absence.Notice(user.DisplayName()+" is", user), err)
}

func (p *Pages) setRole(r *page.Request) (err error) {
	var user model.User
	role := model.Role(r.PostForm.Get("role"))
	if err = rejectSelf(r, "You can't change your own role. Ask another administrator."); err == nil {
		user, err = p.App.Users.SetRole(r.Context(), r.Actor, r.PathID, role)
	}
	return p.showUserChange(r, user.Name+" now has the role "+page.RoleName(role)+".", err)
}

func (p *Pages) disableUser(r *page.Request) (err error) {
	var user model.User
	if err = rejectSelf(r, "You can't disable your own account. Ask another administrator."); err == nil {
		user, err = p.App.Users.Disable(r.Context(), r.Actor, r.PathID)
	}
	return p.showUserChange(r, user.Name+" is disabled and signed out everywhere.", err)
}

func (p *Pages) enableUser(r *page.Request) error {
	user, err := p.App.Users.Enable(r.Context(), r.Actor, r.PathID)
	return p.showUserChange(r, user.Name+" can sign in again.", err)
}

// resetUser removes a user's password and two-factor authentication, and shows a one-time link for
// setting a new password.
func (p *Pages) resetUser(r *page.Request) error {
	return p.SubmitOnce(r, linkAlreadyShown, func() (string, error) {
		var token string
		var user model.User
		err := rejectSelf(r, "Change your own password on your account page.")
		if err == nil {
			token, user, err = p.App.Users.Reset(r.Context(), r.Actor, r.PathID)
		}
		if err == nil {
			return p.RecordPath("user", r.PathID), p.showLink(r, user, token)
		}
		return "", page.ShowProblems(r, err, p.showUser)
	})
}

// rejectSelf returns an error if the user with the given ID is the visitor. This prevents
// administrators from accidentally locking themselves out.
func rejectSelf(r *page.Request, sentence string) error {
	if r.PathID == r.Visitor.ID {
		return &errs.Error{Kind: errs.Conflict, Message: sentence}
	}
	return nil
}
