package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// mostTries is how often a change is tried again when others change the same record
// in between, without touching the same fields.
const mostTries = 5

// edited is a group of fields as somebody sent it, held against what is stored now.
type edited struct {
	group    fieldGroup
	sent     map[string][]string // what is to be changed, by name
	conflict bool
}

// logLook is how many of a record's latest events are looked at for who changed a field.
const logLook = 20

// recordEdit is an abstract or an order as it was read, and what its page does of its own.
type recordEdit struct {
	zone  *time.Location // of the times that are shown
	group func(name string) fieldGroup
	log   func(context.Context) ([]title.Event, error) // the latest first
	again func(status int, g fieldGroup) error         // shows the form once more, as it was filled in
	// save stores what was sent, unless the record moved since it was read, and gives
	// what shows the group as it is then.
	save func(ctx context.Context, sent map[string][]string) (saved func(group string) error, err error)
}

// changeGroup saves one group of fields. Fields that others changed while the form was
// open are left alone where the form says nothing new of them; where it does, whoever
// sent it sees both and decides.
func changeGroup(r *http.Request, read func() (recordEdit, error)) error {
	for tries := 1; ; tries++ {
		record, err := read()
		if err != nil {
			return err
		}
		e := merged(record.group(r.PostForm.Get("group")), r.PostForm)
		if e.group.Name == "" {
			return absentPath(r)
		}
		if e.conflict {
			log, err := record.log(r.Context())
			if err != nil {
				return err
			}
			e.tellOthers(log, record.zone)
			return record.again(http.StatusPreconditionFailed, e.group)
		}
		if old := oldDates(e.group.Fields, e.sent); len(old) > 0 {
			e.group.refuse(old)
			return record.again(http.StatusUnprocessableEntity, e.group)
		}
		saved, err := record.save(r.Context(), e.sent)
		named, ok := errors.AsType[*title.Error](err)
		switch {
		case ok && named.Kind == title.Stale && tries < mostTries:
			continue
		case ok && named.Kind == title.Invalid:
			e.group.refuse(problems(named.Fields))
			return record.again(http.StatusUnprocessableEntity, e.group)
		case err != nil:
			return err
		}
		return saved(e.group.Name)
	}
}

// onlyOf has a change made to this version of a record alone.
func onlyOf(version uint64) vault.Match {
	return vault.Match{Given: true, Versions: []uint64{version}}
}

// merged holds what was sent of a group against what is stored.
func merged(g fieldGroup, form url.Values) edited {
	e := edited{group: g, sent: map[string][]string{}}
	e.group.Fields, e.group.Editing = slices.Clone(g.Fields), true
	stale := form.Get("version") != "" && form.Get("version") != strconv.FormatUint(g.Version, 10)
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		values, there := form[in.Name]
		mine := sentTexts(in.Type, values)
		was := form.Get("was." + in.Name)
		if !there || sameTexts(mine, in.Values) {
			continue
		}
		others := was != "" && was != in.Was || was == "" && stale
		switch {
		case others && was == fingerprint(mine): // only they touched it
		case others:
			e.conflict = true
			in.Others = "It says “" + shorten(shown(in.Type, in.Values), 300) + "” meanwhile."
			if in.Empty() {
				in.Others = "It was emptied meanwhile."
			}
			in.Values = mine
		default:
			in.Values = mine
			e.sent[in.Name] = mine
		}
	}
	e.group.Conflict = e.conflict
	return e
}

func sameTexts(a, b []string) bool { return fingerprint(a) == fingerprint(b) }

// sentLine is a text field as it was sent, or that it was not.
func sentLine(sent map[string][]string, name string) title.Sent[title.Input] {
	values, there := sent[name]
	if !there {
		return title.Sent[title.Input]{}
	}
	return title.Send(title.Given(values[len(values)-1]))
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

// tellOthers adds who made the changes that stand against these.
func (e *edited) tellOthers(log []title.Event, zone *time.Location) {
	focused := false
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		if in.Others == "" {
			continue
		}
		in.Focus, focused = !focused, true
		at := slices.IndexFunc(log, func(event title.Event) bool {
			return slices.ContainsFunc(event.Changes, func(c title.Change) bool { return c.Field == in.Name })
		})
		if at >= 0 {
			in.Others += " Changed by " + byWhom(log[at].Actor) + ", " + clockTime(log[at].At.In(zone)) + "."
		}
	}
}
