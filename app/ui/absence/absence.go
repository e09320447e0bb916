// Package absence is the form that says until when a user is away. Users have it on their account page, and
// administrators on the page of each user.
package absence

import (
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// field is the name of the form's field.
const field = "away_until"

// Form is the template data of the form.
type Form struct {
	Value, Problem string
	Away           bool
}

// NewForm returns the form of a user, or the one that r submits if it has problems.
func NewForm(si *page.Site, r *page.Request, user model.User, problems map[string]string) Form {
	form := Form{Away: user.IsAway(si.Today()), Problem: problems[field]}
	if form.Away {
		form.Value = user.AwayUntil
	}
	if form.Problem != "" {
		form.Value = r.PostForm.Get(field)
	}
	return form
}

// Save saves the form that r submits for a user.
func Save(si *page.Site, r *page.Request, id uint64) (model.User, error) {
	until := model.StringInput(page.TypedDate(field, r.PostForm.Get(field), si.LocalNow()))
	return si.App.Users.SetAway(r.Context(), r.Actor, id, until, si.Today())
}

// Notice says until when a user is away. who is the user and the verb, such as "Kim is".
func Notice(who string, user model.User) string {
	if user.AwayUntil == "" {
		return who + " not away."
	}
	return who + " away until " + page.FormatDate(user.AwayUntil) + "."
}
