package admin

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// userRow is a user in the list of users.
type userRow struct {
	model.User
	You   bool
	State string // active, invited, lapsed (the invitation link expired), or disabled
	Until time.Time
}

func (p *Pages) newUserRow(user model.User, visitor page.Visitor) userRow {
	one := userRow{User: user, You: user.ID == visitor.ID, State: "active"}
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

func (p *Pages) userListPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	list, err := p.Vault.Users.List(r.Context())
	if err != nil {
		return err
	}
	people := make([]userRow, 0, len(list))
	for _, user := range list {
		people = append(people, p.newUserRow(user, visitor))
	}
	return p.RenderPage(w, r, visitor, http.StatusOK, "users.html", page.Page{Heading: "Users", Section: "admin", Data: people})
}

// newUserForm is the template data of the page that invites a user.
type newUserForm struct {
	Name     string
	Role     model.Role
	Roles    []model.Role
	Once     string // identifies this form, so that submitting it twice creates only one invitation
	Problems map[string]string
}

func (p *Pages) newUserPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.showNewUserForm(w, r, visitor, http.StatusOK, newUserForm{Role: model.RoleStaff, Once: rand.Text()})
}

func (p *Pages) showNewUserForm(w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, form newUserForm) error {
	form.Roles = model.Roles()
	return p.RenderPage(w, r, visitor, status, "usernew.html", page.Page{Heading: "Invite somebody", Section: "admin", Data: form})
}

// inviteUser creates a user and shows a one-time link for setting the password.
func (p *Pages) inviteUser(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	draft := model.UserDraft{Name: r.PostForm.Get("name"), Role: model.Role(r.PostForm.Get("role"))}
	return p.SubmitOnce(w, r, visitor, linkAlreadyShown, func() (string, error) {
		token, user, err := p.Vault.Users.Create(r.Context(), visitor.Actor, draft)
		if err == nil {
			return page.UserPath(user.ID), p.showLink(w, r, visitor, user, token)
		}
		status, problems := page.FormProblems(err)
		if problems == nil {
			return "", err
		}
		return "", p.showNewUserForm(w, r, visitor, status, newUserForm{Name: draft.Name, Role: draft.Role, Once: r.PostForm.Get("once"), Problems: problems})
	})
}

// linkAlreadyShown is the page shown when the form for a one-time link is submitted twice.
var linkAlreadyShown = page.AlreadySubmitted{Text: "This link was made already. It was shown once, and is shown no more; another can be made in its place.", Path: "/admin/users", Link: "See whom it is for"}

// linkPage is the template data of the page that shows a one-time link.
type linkPage struct {
	User    model.User
	Address string
	Reset   bool
}

// showLink shows a one-time link. It can't be shown again because the server stores only its hash.
func (p *Pages) showLink(w http.ResponseWriter, r *http.Request, visitor page.Visitor, user model.User, token string) error {
	origin, err := p.Origin(r)
	if err != nil {
		return err
	}
	return p.RenderPage(w, r, visitor, http.StatusOK, "userlink.html", page.Page{Heading: "A link for " + user.Name, Section: "admin", Data: linkPage{
		User: user, Address: origin + model.PasswordLinkPath + token, Reset: user.PasswordLink.Reset,
	}})
}

// userPage is the template data of a user's page.
type userPage struct {
	userRow
	Roles    []model.Role
	Once     string // identifies the form that creates another one-time link
	Problems map[string]string
}

func (p *Pages) userPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.showUser(w, r, visitor, http.StatusOK, nil)
}

// showUser shows the page of a user with the problems of one of its forms, if any.
func (p *Pages) showUser(w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, problems map[string]string) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	user, err := p.Vault.Users.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return p.RenderPage(w, r, visitor, status, "user.html", page.Page{Heading: user.Name, Section: "admin", Data: userPage{
		userRow: p.newUserRow(user, visitor), Roles: model.Roles(), Once: rand.Text(), Problems: problems,
	}})
}

// changeUser applies the change that one of the forms on a user's page requests.
func (p *Pages) changeUser(w http.ResponseWriter, r *http.Request, visitor page.Visitor, notice string,
	change func(ctx context.Context, id uint64) (model.User, error),
) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	user, err := change(r.Context(), id)
	if err == nil {
		return p.RedirectWithNotice(w, r, "/admin/users", user.Name+notice)
	}
	status, problems := page.FormProblems(err)
	if problems == nil {
		return err
	}
	return p.showUser(w, r, visitor, status, problems)
}

func (p *Pages) renameUser(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.changeUser(w, r, visitor, " is the name to sign in with from now on.", func(ctx context.Context, id uint64) (model.User, error) {
		return p.Vault.Users.Rename(ctx, visitor.Actor, id, r.PostForm.Get("name"))
	})
}

func (p *Pages) setRole(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	role := model.Role(r.PostForm.Get("role"))
	return p.changeUser(w, r, visitor, " has the role "+page.RoleName(role)+" now.", func(ctx context.Context, id uint64) (model.User, error) {
		if err := rejectSelf(visitor, id, "You cannot take your own role away; another administrator can."); err != nil {
			return model.User{}, err
		}
		return p.Vault.Users.SetRole(ctx, visitor.Actor, id, role)
	})
}

func (p *Pages) disableUser(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.changeUser(w, r, visitor, " is signed out everywhere and can sign in no more.", func(ctx context.Context, id uint64) (model.User, error) {
		if err := rejectSelf(visitor, id, "You cannot disable yourself; another administrator can."); err != nil {
			return model.User{}, err
		}
		return p.Vault.Users.Disable(ctx, visitor.Actor, id)
	})
}

func (p *Pages) enableUser(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.changeUser(w, r, visitor, " can sign in again.", func(ctx context.Context, id uint64) (model.User, error) {
		return p.Vault.Users.Enable(ctx, visitor.Actor, id)
	})
}

// resetUser removes a user's password and two-factor authentication, and shows a one-time link for
// setting a new password.
func (p *Pages) resetUser(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	return p.SubmitOnce(w, r, visitor, linkAlreadyShown, func() (string, error) {
		var token string
		var user model.User
		err := rejectSelf(visitor, id, "You change your own password on your account's page.")
		if err == nil {
			token, user, err = p.Vault.Users.Reset(r.Context(), visitor.Actor, id)
		}
		if err == nil {
			return page.UserPath(id), p.showLink(w, r, visitor, user, token)
		}
		status, problems := page.FormProblems(err)
		if problems == nil {
			return "", err
		}
		return "", p.showUser(w, r, visitor, status, problems)
	})
}

// rejectSelf returns an error if the user with the given ID is the visitor. This prevents
// administrators from accidentally locking themselves out.
func rejectSelf(visitor page.Visitor, id uint64, sentence string) error {
	if id == visitor.ID {
		return &errs.Error{Kind: errs.Conflict, Message: sentence}
	}
	return nil
}
