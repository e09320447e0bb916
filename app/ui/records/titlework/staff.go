package titlework

import (
	"context"
	"slices"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// Staff are the users, to name those who work on records and to select among them.
type Staff struct {
	users []model.User
	today string
}

// Person is a user who can work on records.
type Person struct {
	ID   uint64
	Name string // also says until when the user is away
}

// Staff returns the users.
func (p *Pages) Staff(ctx context.Context) (Staff, error) {
	users, err := p.App.Users.List(ctx)
	return Staff{users, p.Today()}, err
}

// Name returns the name of a user, or "" if there is no such user.
func (s Staff) Name(id uint64) string {
	for _, u := range s.users {
		if u.ID == id {
			return u.DisplayName()
		}
	}
	return ""
}

// ActorName returns the display name of an actor: the full name of a user, if there is one, or page.ActorText.
func (s Staff) ActorName(a model.Actor) string {
	for _, u := range s.users {
		if a.Kind == model.ActorUser && u.ID == a.ID && u.FullName != "" {
			return u.FullName
		}
	}
	return page.ActorText(a)
}

// Assignable returns the users who can work on records, and those with the known IDs.
func (s Staff) Assignable(known ...uint64) (list []Person) {
	for _, u := range s.users {
		if !slices.Contains(known, u.ID) && (!u.Enabled() || !u.Role.Can(model.PermWrite)) {
			continue
		}
		person := Person{u.ID, u.DisplayName()}
		if u.IsAway(s.today) {
			person.Name += " (away until " + shortDate(u.AwayUntil, s.today) + ")"
		}
		list = append(list, person)
	}
	return list
}

// AwayNote returns a sentence for each of these users who is away, after a space, or "".
func (s Staff) AwayNote(ids ...uint64) string {
	var text strings.Builder
	for _, u := range s.users {
		if slices.Contains(ids, u.ID) && u.IsAway(s.today) {
			text.WriteString(" " + u.DisplayName() + " is away until " + page.FormatDate(u.AwayUntil) + ".")
		}
	}
	return text.String()
}

// shortDate formats a date without the year, unless it is another year than today's.
func shortDate(date, today string) string {
	day, err := time.Parse(time.DateOnly, date)
	switch {
	case err != nil:
		return date
	case date[:4] != today[:4]:
		return day.Format("1/2/2006")
	}
	return day.Format("1/2")
}
