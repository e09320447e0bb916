package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// mostTries is how often a change is tried again when others change the same record
// in between, without touching the same fields.
const mostTries = 5

// edited is a group of fields as a form sent it, merged with what is stored now.
type edited struct {
	group    fieldGroup
	sent     map[string][]string // what is to be changed, by name
	kept     []input             // fields that others changed and this form did not
	conflict bool
}

// logLook is how many of a record's latest events are looked at for who changed a field.
const logLook = 20

// recordEdit is an abstract or an order as it was read, and what its page does of its own.
type recordEdit struct {
	zone  *time.Location // of the times that are shown
	group func(name string) fieldGroup
	log   func(context.Context) ([]model.Event, error) // the latest first
	again func(status int, g fieldGroup) error         // shows the form once more, as it was filled in
	// save stores what was sent, unless the record moved since it was read, and gives
	// what shows the group as it is then, with a notice in it.
	save func(ctx context.Context, sent map[string][]string) (saved func(group, notice string) error, err error)
}

// changeGroup saves one group of fields. Fields that others changed while the form was
// open are left alone where the form says nothing new of them. Where it does, the form
// comes back with both values, and asks which of them to save.
func changeGroup(r *http.Request, read func() (recordEdit, error)) error {
	for tries := 1; ; tries++ {
		record, err := read()
		if err != nil {
			return err
		}
		e := merged(record.group(r.PostForm.Get("group")), r.PostForm, fingerprint)
		if e.group.Name == "" {
			return absentPath(r)
		}
		if e.conflict {
			log, err := record.log(r.Context())
			if err != nil {
				return err
			}
			e.nameOthers(log, record.zone)
			return record.again(http.StatusPreconditionFailed, e.group)
		}
		if old := oldDates(e.group.Fields, e.sent); len(old) > 0 {
			e.group.refuse(old)
			return record.again(http.StatusUnprocessableEntity, e.group)
		}
		saved, err := record.save(r.Context(), e.sent)
		named, ok := errors.AsType[*errs.Error](err)
		switch {
		case ok && named.Kind == errs.PreconditionFailed && tries < mostTries:
			continue
		case ok && named.Kind == errs.Invalid:
			e.group.refuse(problems(named.Fields))
			return record.again(http.StatusUnprocessableEntity, e.group)
		case err != nil:
			return err
		}
		notice, err := e.keptNotice(r.Context(), record.log)
		if err != nil {
			return err
		}
		return saved(e.group.Name, notice)
	}
}

// onlyOf has a change made to this version of a record alone.
func onlyOf(version uint64) vault.Match {
	return vault.Match{Given: true, Versions: []uint64{version}}
}

// merged compares a form with what is stored now, field by field: a field that the form
// was shown with and still holds was not edited there. by is fingerprint.
func merged(g fieldGroup, form url.Values, by printer) edited {
	e := edited{group: g, sent: map[string][]string{}}
	e.group.Fields, e.group.Editing = slices.Clone(g.Fields), true
	stale := form.Get("version") != "" && form.Get("version") != strconv.FormatUint(g.Version, 10)
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		values, there := form[in.Name]
		mine, was := sentTexts(in.Type, values), form.Get("was."+in.Name)
		edited := was == "" || was != by(in.Type, mine)
		others := was != "" && was != in.Was || was == "" && stale
		switch {
		case !there || by(in.Type, mine) == in.Was:
		case !edited:
			e.kept = append(e.kept, *in)
		case form.Get("pick."+in.Name) == pickTheirs:
		case others:
			e.conflict, in.Clash, in.Theirs = true, true, shorten(shown(in.Type, in.Values), 300)
			in.Values = mine
		default:
			in.Values = mine
			e.sent[in.Name] = mine
		}
		in.offer(in.Values)
	}
	e.group.Conflict = e.conflict
	return e
}

// pickTheirs is what a form says of a field whose stored value is to stay.
const pickTheirs = "theirs"

// sentLine is a text field as it was sent, or that it was not.
func sentLine(sent map[string][]string, name string) model.Optional[model.Input] {
	values, there := sent[name]
	if !there {
		return model.Optional[model.Input]{}
	}
	return model.Some(model.StringInput(values[len(values)-1]))
}

// refuse puts the sentences of a refusal beside the fields.
func (g *fieldGroup) refuse(refused map[string]string) {
	focused := false
	for i := range g.Fields {
		in := &g.Fields[i]
		in.Problem = spokenProblem(in.Type, refused[in.Name])
		in.Focus = in.Problem != "" && !focused
		focused = focused || in.Focus
	}
}

// nameOthers says beside each field in conflict who changed it, and when.
func (e *edited) nameOthers(log []model.Event, zone *time.Location) {
	focused := false
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		if !in.Clash {
			continue
		}
		in.Focus, focused = !focused, true
		by := "This was changed"
		on := " while you were editing"
		if at := changeOf(log, in.Name); at >= 0 {
			by = byWhom(log[at].Actor) + " changed this"
			on = " on " + clockTime(log[at].At.In(zone))
		}
		in.Others = by + " to “" + in.Theirs + "”" + on + "."
		if in.Theirs == "" {
			in.Others = by + " to blank" + on + "."
		}
	}
}

// changeOf is the latest entry that changed a field; -1 for none.
func changeOf(log []model.Event, field string) int {
	return slices.IndexFunc(log, func(event model.Event) bool {
		return slices.ContainsFunc(event.Changes, func(c model.Change) bool { return c.Field == field })
	})
}

// keptNotice names the fields that others changed while the form was open, and by whom.
func (e *edited) keptNotice(ctx context.Context, read func(context.Context) ([]model.Event, error)) (string, error) {
	if len(e.kept) == 0 {
		return "", nil
	}
	log, err := read(ctx)
	if err != nil {
		return "", err
	}
	var labels, names []string
	for _, in := range e.kept {
		labels = append(labels, in.Label)
		if at := changeOf(log, in.Name); at >= 0 && !slices.Contains(names, byWhom(log[at].Actor)) {
			names = append(names, byWhom(log[at].Actor))
		}
	}
	notice := "Also changed while you were editing: " + strings.Join(labels, ", ")
	if len(names) > 0 {
		notice += " (by " + strings.Join(names, ", ") + ")"
	}
	return notice + ".", nil
}
