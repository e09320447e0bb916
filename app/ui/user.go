package ui

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// roleNames are the roles as people call them, and what each may do.
var roleNames = map[model.Role][2]string{
	model.RoleViewer: {"Viewer", "Reads, searches and downloads; changes nothing."},
	model.RoleStaff:  {"Staff", "Files, changes and moves to the trash as well."},
	model.RoleAdmin:  {"Administrator", "Runs the service as well: users, keys, templates, backups."},
}

func roleName(role model.Role) string { return roleNames[role][0] }

func roleText(role model.Role) string { return roleNames[role][1] }

// person is a user as administrators see one.
type person struct {
	model.User
	You   bool
	State string // active, invited, lapsed (the link has ended), disabled
	Until time.Time
}

func (p *pages) person(user model.User, who visitor) person {
	one := person{User: user, You: user.ID == who.ID, State: "active"}
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

func (p *pages) users(w http.ResponseWriter, r *http.Request, who visitor) error {
	list, err := p.Vault.Users.List(r.Context())
	if err != nil {
		return err
	}
	people := make([]person, 0, len(list))
	for _, user := range list {
		people = append(people, p.person(user, who))
	}
	return p.show(w, r, who, http.StatusOK, "users.html", page{Heading: "Users", Section: "admin", Data: people})
}

// newUserForm is what the page of inviting somebody shows.
type newUserForm struct {
	Name     string
	Role     model.Role
	Roles    []model.Role
	Once     string // of this form: sent twice, it invites once
	Problems map[string]string
}

func (p *pages) newUser(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.newUserForm(w, r, who, http.StatusOK, newUserForm{Role: model.RoleStaff, Once: rand.Text()})
}

func (p *pages) newUserForm(w http.ResponseWriter, r *http.Request, who visitor, status int, form newUserForm) error {
	form.Roles = model.Roles()
	return p.show(w, r, who, status, "usernew.html", page{Heading: "Invite somebody", Section: "admin", Data: form})
}

// invite makes a user and shows the link to hand over, once.
func (p *pages) invite(w http.ResponseWriter, r *http.Request, who visitor) error {
	draft := model.UserDraft{Name: r.PostForm.Get("name"), Role: model.Role(r.PostForm.Get("role"))}
	return p.once(w, r, who, linkDone, func() (string, error) {
		token, user, err := p.Vault.Users.Create(r.Context(), who.Actor, draft)
		if err == nil {
			return userPath(user.ID), p.linked(w, r, who, user, token)
		}
		status, problems := refusal(err)
		if problems == nil {
			return "", err
		}
		return "", p.newUserForm(w, r, who, status, newUserForm{Name: draft.Name, Role: draft.Role, Once: r.PostForm.Get("once"), Problems: problems})
	})
}

// linkDone answers the form of a one-time link that was sent before.
var linkDone = onceDone{Text: "This link was made already. It was shown once, and is shown no more; another can be made in its place.", Path: "/admin/users", Link: "See whom it is for"}

func userPath(id uint64) string { return "/admin/users/" + strconv.FormatUint(id, 10) }

// linkPage is a one-time link to be handed over.
type linkPage struct {
	User    model.User
	Address string
	Reset   bool
}

// linked shows a one-time link; it is told here and kept nowhere.
func (p *pages) linked(w http.ResponseWriter, r *http.Request, who visitor, user model.User, token string) error {
	origin, err := p.Origin(r)
	if err != nil {
		return err
	}
	return p.show(w, r, who, http.StatusOK, "userlink.html", page{Heading: "A link for " + user.Name, Section: "admin", Data: linkPage{
		User: user, Address: origin + model.PasswordLinkPath + token, Reset: user.PasswordLink.Reset,
	}})
}

// personPage is what the page of one user shows.
type personPage struct {
	person
	Roles    []model.Role
	Once     string // of the form that makes another link
	Problems map[string]string
}

func (p *pages) user(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.userWith(w, r, who, http.StatusOK, nil)
}

// userWith shows one user, with what was wrong in one of the forms.
func (p *pages) userWith(w http.ResponseWriter, r *http.Request, who visitor, status int, problems map[string]string) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	user, err := p.Vault.Users.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return p.show(w, r, who, status, "user.html", page{Heading: user.Name, Section: "admin", Data: personPage{
		person: p.person(user, who), Roles: model.Roles(), Once: rand.Text(), Problems: problems,
	}})
}

// changeUser is what all forms of one user have in common.
func (p *pages) changeUser(w http.ResponseWriter, r *http.Request, who visitor, notice string,
	change func(ctx context.Context, id uint64) (model.User, error),
) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	user, err := change(r.Context(), id)
	if err == nil {
		return p.see(w, r, "/admin/users", user.Name+notice)
	}
	status, problems := refusal(err)
	if problems == nil {
		return err
	}
	return p.userWith(w, r, who, status, problems)
}

func (p *pages) renameUser(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.changeUser(w, r, who, " is the name to sign in with from now on.", func(ctx context.Context, id uint64) (model.User, error) {
		return p.Vault.Users.Rename(ctx, who.Actor, id, r.PostForm.Get("name"))
	})
}

func (p *pages) setRole(w http.ResponseWriter, r *http.Request, who visitor) error {
	role := model.Role(r.PostForm.Get("role"))
	return p.changeUser(w, r, who, " has the role "+roleName(role)+" now.", func(ctx context.Context, id uint64) (model.User, error) {
		if err := notSelf(who, id, "You cannot take your own role away; another administrator can."); err != nil {
			return model.User{}, err
		}
		return p.Vault.Users.SetRole(ctx, who.Actor, id, role)
	})
}

func (p *pages) disableUser(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.changeUser(w, r, who, " is signed out everywhere and can sign in no more.", func(ctx context.Context, id uint64) (model.User, error) {
		if err := notSelf(who, id, "You cannot disable yourself; another administrator can."); err != nil {
			return model.User{}, err
		}
		return p.Vault.Users.Disable(ctx, who.Actor, id)
	})
}

func (p *pages) enableUser(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.changeUser(w, r, who, " can sign in again.", func(ctx context.Context, id uint64) (model.User, error) {
		return p.Vault.Users.Enable(ctx, who.Actor, id)
	})
}

// resetUser takes password and second factor away and shows a link for another.
func (p *pages) resetUser(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	return p.once(w, r, who, linkDone, func() (string, error) {
		var token string
		var user model.User
		err := notSelf(who, id, "You change your own password on your account's page.")
		if err == nil {
			token, user, err = p.Vault.Users.Reset(r.Context(), who.Actor, id)
		}
		if err == nil {
			return userPath(id), p.linked(w, r, who, user, token)
		}
		status, problems := refusal(err)
		if problems == nil {
			return "", err
		}
		return "", p.userWith(w, r, who, status, problems)
	})
}

// notSelf keeps an administrator from shutting themselves out by a slip.
func notSelf(who visitor, id uint64, sentence string) error {
	if id == who.ID {
		return &errs.Error{Kind: errs.Conflict, Message: sentence}
	}
	return nil
}
