package ui

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// changeOrder saves one group of fields. Fields that others changed while the form was
// open are left alone where the form says nothing new of them; where it does, whoever
// sent it sees both and decides.
func (p *pages) changeOrder(w http.ResponseWriter, r *http.Request, who visitor) error {
	for tries := 1; ; tries++ {
		s, err := p.orderRead(r)
		if err != nil {
			return err
		}
		e := merged(s.Group(r.PostForm.Get("group")), r.PostForm)
		if e.group.Name == "" {
			return absentPath(r)
		}
		if e.conflict {
			if err := p.tellOtherOrder(r, s, &e); err != nil {
				return err
			}
			return p.orderAgain(w, r, who, http.StatusPreconditionFailed, s, e.group)
		}
		if old := oldDates(e.group.Fields, e.sent); len(old) > 0 {
			e.group.refuse(old)
			return p.orderAgain(w, r, who, http.StatusUnprocessableEntity, s, e.group)
		}
		match := vault.Match{Given: true, Versions: []uint64{s.Version}}
		o, err := p.Vault.Orders.Patch(r.Context(), who.Actor, s.ID, orderPatch(s.Fields, e.sent), match)
		named, ok := errors.AsType[*title.Error](err)
		switch {
		case ok && named.Kind == title.Stale && tries < mostTries:
			continue
		case ok && named.Kind == title.Invalid:
			e.group.refuse(problems(named.Fields))
			return p.orderAgain(w, r, who, http.StatusUnprocessableEntity, s, e.group)
		case err != nil:
			return err
		}
		return p.savedOrder(w, r, who, o, e.group.Name)
	}
}

// orderPatch is the change that was sent.
func orderPatch(defs []title.Field, sent map[string][]string) title.OrderPatch {
	line := func(name string) title.Sent[title.Input] {
		values, there := sent[name]
		if !there {
			return title.Sent[title.Input]{}
		}
		return title.Send(title.Given(values[len(values)-1]))
	}
	custom := sentCustom(defs, url.Values(sent))
	return title.OrderPatch{
		Number: line("order_number"), DueDate: line("due_date"),
		PropertyPatch: title.PropertyPatch{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		Custom:        title.Sent[title.Custom]{Present: len(custom.Sent) > 0, Value: custom},
	}
}

// tellOtherOrder adds who made the changes that stand against these.
func (p *pages) tellOtherOrder(r *http.Request, s orderSheet, e *edited) error {
	log, err := p.orderEvents(r.Context(), s.ID, vault.Query{Limit: 20})
	if err != nil {
		return err
	}
	focused := false
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		if in.Others == "" {
			continue
		}
		in.Focus, focused = !focused, true
		at := slices.IndexFunc(log.Items, func(event title.Event) bool {
			return slices.ContainsFunc(event.Changes, func(c title.Change) bool { return c.Field == in.Name })
		})
		if at >= 0 {
			in.Others += " Changed by " + byWhom(log.Items[at].Actor) + ", " + log.Items[at].At.Local().Format("Jan 2, 3:04 PM") + "."
		}
	}
	return nil
}

// orderAgain shows the form once more, as it was filled in.
func (p *pages) orderAgain(w http.ResponseWriter, r *http.Request, who visitor, status int, s orderSheet, g fieldGroup) error {
	if isPart(r) {
		return p.part(w, r, who, status, "order.html", "group", g)
	}
	for i := range s.Groups {
		if s.Groups[i].Name == g.Name {
			s.Groups[i] = g
		}
	}
	return p.orderShow(w, r, who, status, s)
}

// savedOrder shows the group as it is now, and what else of the page it changes.
func (p *pages) savedOrder(w http.ResponseWriter, r *http.Request, who visitor, o title.Order, name string) error {
	if !isPart(r) {
		return p.see(w, r, p.orderPath(o.ID)+"#group-"+name, "Saved.")
	}
	s, err := p.orderSheet(r.Context(), o)
	if err == nil {
		err = p.orderRecent(r.Context(), &s)
	}
	if err != nil {
		return err
	}
	for i := range s.Groups {
		s.Groups[i].Focus = s.Groups[i].Name == name
	}
	return p.part(w, r, who, http.StatusOK, "order.html", "order-saved", struct {
		orderSheet
		Saved fieldGroup
	}{s, s.Group(name)})
}
