package lists

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// Names of the lists.
const (
	Orders      = "orders"
	Abstracts   = "abstracts"
	Instruments = "instruments"
)

// Limits of views.
const (
	maxViews   = 100 // of one user or API key
	maxFilters = 30
	maxFilter  = 2_000 // characters of a value
	maxColumns = 100

	minWidth, maxWidth = 40, 2_000 // of a column, in CSS pixels
)

// ViewFields returns the names of the fields of a view that requests have.
func ViewFields() []string {
	return []string{"name", "record", "filters", "sort", "columns", "shared"}
}

// Views returns the views that the actor may use, their own ones and shared ones, sorted by name. record is the name of a
// list, or "" for all lists.
func (s *Service) Views(ctx context.Context, actor model.Actor, record string) ([]model.View, error) {
	list, err := store.Read(ctx, s.vault.Store, (*store.Tx).ListViews)
	list = slices.DeleteFunc(list, func(v model.View) bool {
		return !isVisible(v, actor) || v.Name == "" || record != "" && v.Record != record
	})
	slices.SortStableFunc(list, func(a, b model.View) int { return cmp.Compare(model.Fold(a.Name), model.Fold(b.Name)) })
	return list, err
}

// isVisible reports whether the actor may use a view.
func isVisible(v model.View, actor model.Actor) bool { return v.Shared || v.Owner.Is(actor) }

// View returns a view, or NotFound if there is none that the actor may use.
func (s *Service) View(ctx context.Context, actor model.Actor, id uint64) (model.View, error) {
	return store.Read(ctx, s.vault.Store, func(t *store.Tx) (model.View, error) { return findView(t, actor, id) })
}

func findView(t *store.Tx, actor model.Actor, id uint64) (model.View, error) {
	list, err := t.ListViews()
	n := slices.IndexFunc(list, func(v model.View) bool { return v.ID == id && v.Name != "" && isVisible(v, actor) })
	if err == nil && n < 0 {
		err = errs.RecordNotFound("view", id)
	}
	if err != nil {
		return model.View{}, err
	}
	return list[n], nil
}

// update runs a transaction for an actor who may read the lists. Their own views need no other permission.
func (s *Service) update(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	if err := s.vault.CheckSpace(); err != nil {
		return err
	}
	return s.vault.Store.Update(ctx, func(t *store.Tx) error {
		allowed := s.vault.CheckActor
		if actor.Kind == model.ActorUser {
			allowed = func(t *store.Tx, actor model.Actor) error { return s.vault.Authorize(t, actor, model.PermRead) }
		}
		if err := allowed(t, actor); err != nil {
			return err
		}
		return check(t)
	}, write)
}

// CreateView stores a view. It returns Invalid, listing every invalid field, Conflict if the actor has too many views, or
// Forbidden if it is shared and the actor may only read.
func (s *Service) CreateView(ctx context.Context, actor model.Actor, in model.Inputs,
	idempotency vault.Idempotency[model.View]) (view model.View, err error) {
	checked, err := s.checkView(ctx, in, model.View{Owner: actor.Stored()})
	if err != nil {
		return view, err
	}
	err = s.update(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, s.vault); err != nil {
			return err
		}
		return cmp.Or(s.checkSharing(t, actor, model.View{}, checked), checkRoom(t, actor))
	}, func(t *store.Tx) (err error) {
		view = checked
		at := s.vault.Now()
		view.Version, view.CreatedAt, view.UpdatedAt = 1, at, at
		if err := t.PutView(&view); err != nil {
			return err
		}
		entry := viewEntry(actor, "created", view)
		entry.At, entry.Changes = at, model.View{}.Changes(view)
		return errors.Join(s.vault.AddEntry(t, entry), idempotency.SaveResponse(t, at, view))
	})
	return view, err
}

// viewEntry returns the audit entry for an event of a view.
func viewEntry(actor model.Actor, event string, view model.View) model.Event {
	return model.Event{Actor: actor, Kind: "view." + event, Record: model.RecordRef("view", view.ID),
		Detail: map[string]string{"list": view.Record}}
}

// checkRoom returns Conflict if the actor can't have another view.
func checkRoom(t *store.Tx, actor model.Actor) error {
	list, err := t.ListViews()
	own := 0
	for _, v := range list {
		if v.Owner.Is(actor) && v.Name != "" {
			own++
		}
	}
	if err == nil && own >= maxViews {
		err = &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("You have %d views, which is the maximum. Delete some first.", maxViews)}
	}
	return err
}

// errNotOwner is returned for changes to a view of someone else.
var errNotOwner = &errs.Error{Kind: errs.Forbidden, Message: "Only the owner of a view or an administrator can change it."}

// checkOwner returns Forbidden unless the actor owns the view or may administer the vault.
func (s *Service) checkOwner(t *store.Tx, actor model.Actor, view model.View) error {
	if view.Owner.Is(actor) || s.vault.AuthorizeAdmin(t, actor) == nil {
		return nil
	}
	return errNotOwner
}

// checkSharing returns Forbidden if a view becomes shared and the actor may only read.
func (s *Service) checkSharing(t *store.Tx, actor model.Actor, old, now model.View) error {
	if !now.Shared || old.Shared {
		return nil
	}
	return s.vault.CheckActor(t, actor)
}

// errStale is returned for changes to another version of a view than the actor read.
var errStale = &errs.Error{Kind: errs.PreconditionFailed, Message: "The view has changed since you read it. Read it again."}

// change runs write with a view that the actor may change.
func (s *Service) change(ctx context.Context, actor model.Actor, id uint64, match vault.Match, check func(t *store.Tx,
	old model.View) error,
	write func(*store.Tx) error) error {
	err := s.update(ctx, actor, func(t *store.Tx) error {
		old, err := findView(t, actor, id)
		if err == nil {
			err = s.checkOwner(t, actor, old)
		}
		if err == nil && match.Given && !match.Any && !slices.Contains(match.Versions, old.Version) {
			err = errStale
		}
		if err != nil {
			return err
		}
		return check(t, old)
	}, write)
	if errors.Is(err, txn.ErrNoChange) {
		return nil
	}
	return err
}

// PatchView changes a view. It returns Forbidden unless the actor owns it or is an administrator, Invalid, listing every
// invalid field, or PreconditionFailed if match doesn't accept the current version.
func (s *Service) PatchView(ctx context.Context, actor model.Actor, id uint64, in model.Inputs, match vault.Match) (view model.View,
	err error) {
	read, err := s.View(ctx, actor, id)
	if err != nil {
		return view, err
	}
	checked, err := s.checkView(ctx, in, read)
	if err != nil {
		return view, err
	}
	var changes []model.Change
	err = s.change(ctx, actor, id, match, func(t *store.Tx, old model.View) error {
		view = old
		if old.Version != read.Version {
			return errStale
		}
		if changes = old.Changes(checked); len(changes) == 0 {
			return txn.ErrNoChange
		}
		return s.checkSharing(t, actor, old, checked)
	}, func(t *store.Tx) error {
		view = checked
		entry := viewEntry(actor, "changed", view)
		entry.At, entry.Changes = s.vault.Now(), changes
		if err := s.vault.AddEntry(t, entry); err != nil {
			return err
		}
		vault.NextVersion(&view.Version, &view.UpdatedAt, entry.At)
		return t.PutView(&view)
	})
	return view, err
}

// DeleteView deletes a view. It returns the same errors as PatchView.
func (s *Service) DeleteView(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error {
	var deleted model.View
	return s.change(ctx, actor, id, match, func(_ *store.Tx, old model.View) error {
		deleted = old
		return nil
	}, func(t *store.Tx) error {
		entry := viewEntry(actor, "deleted", deleted)
		entry.At, entry.Changes = s.vault.Now(), deleted.Changes(model.View{})
		return errors.Join(s.vault.AddEntry(t, entry), t.RemoveView(id))
	})
}

// columnsView returns the view with the columns that the actor chose for a list.
func columnsView(t *store.Tx, actor model.Actor, record string) (model.View, error) {
	list, err := t.ListViews()
	n := slices.IndexFunc(list, func(v model.View) bool { return v.Name == "" && v.Record == record && v.Owner.Is(actor) })
	if n < 0 {
		return model.View{Record: record, Owner: actor.Stored()}, err
	}
	return list[n], err
}

// Chosen returns the columns that the actor chose for a list, if any, and the widths of columns.
func (s *Service) Chosen(ctx context.Context, actor model.Actor, record string) (columns []string, widths map[string]int, err error) {
	v, err := store.Read(ctx, s.vault.Store, func(t *store.Tx) (model.View, error) { return columnsView(t, actor, record) })
	return v.Columns, v.Widths, err
}

// ChooseColumns stores the columns that the actor wants to see in a list, and how wide they are. No columns mean the default,
// and without a width, a column is as wide as its contents need. It returns the errors of ChooseWidths.
func (s *Service) ChooseColumns(ctx context.Context, actor model.Actor, record string, columns []string, widths map[string]int) error {
	return s.choose(ctx, actor, record, widths, func(v *model.View) { v.Columns, v.Widths = columns, widths })
}

// ChooseWidths stores how wide the actor wants columns of a list to be, in CSS pixels. Other columns keep their widths. It
// returns Invalid if a width is less than 40 or more than 2,000. Widths aren't logged.
func (s *Service) ChooseWidths(ctx context.Context, actor model.Actor, record string, widths map[string]int) error {
	return s.choose(ctx, actor, record, widths, func(v *model.View) {
		all := map[string]int{}
		maps.Copy(all, v.Widths)
		maps.Copy(all, widths)
		v.Widths = all
	})
}

// choose changes what the actor chose for a list.
func (s *Service) choose(ctx context.Context, actor model.Actor, record string, widths map[string]int, change func(*model.View)) error {
	columns, _, _, err := s.names(ctx, record)
	if err != nil {
		return err
	}
	for name, width := range widths {
		switch {
		case width < minWidth || width > maxWidth:
			return errs.InvalidField("width", "The column width must be from 40 to 2,000 pixels.")
		case !slices.Contains(columns, name): // removed since the page was shown
			delete(widths, name)
		}
	}
	var old, now model.View
	err = s.update(ctx, actor, func(t *store.Tx) (err error) {
		if old, err = columnsView(t, actor, record); err != nil {
			return err
		}
		now = old
		if change(&now); len(old.Changes(now)) == 0 && maps.Equal(old.Widths, now.Widths) {
			return txn.ErrNoChange
		}
		return nil
	}, func(t *store.Tx) error {
		at := s.vault.Now()
		if now.ID == 0 {
			now.CreatedAt = at
		}
		vault.NextVersion(&now.Version, &now.UpdatedAt, at)
		err := t.PutView(&now)
		if changes := old.Changes(now); len(changes) > 0 {
			err = errors.Join(err, s.vault.AddEntry(t, model.Event{At: at, Actor: actor, Kind: "columns.changed",
				Detail: map[string]string{"list": record}, Changes: changes}))
		}
		return err
	})
	if errors.Is(err, txn.ErrNoChange) {
		return nil
	}
	return err
}

// table is a list of any records.
type table interface {
	Sort(q *vault.Query, text string) bool
	names() (columns, sorts []string)
}

// table returns the list of this name, or nil if there is none.
func (s *Service) table(ctx context.Context, record string) (table, error) {
	switch record {
	case Orders:
		return s.Orders(ctx)
	case Abstracts:
		return s.Abstracts(ctx)
	case Instruments:
		return s.Instruments(ctx)
	}
	return nil, nil
}

// names returns the names of the columns and of the sort orders of a list. found is false if there is no such list.
func (s *Service) names(ctx context.Context, record string) (columns, sorts []string, found bool, err error) {
	t, err := s.table(ctx, record)
	if err != nil || t == nil {
		return nil, nil, false, err
	}
	columns, sorts = t.names()
	return columns, sorts, true, nil
}

func (t Table[T]) names() (columns, sorts []string) {
	for _, c := range t.Columns {
		if columns = append(columns, c.Name); c.Sort != "" {
			sorts = append(sorts, c.Sort)
		}
	}
	return columns, sorts
}

// checkView applies the input to old and returns Invalid, listing every invalid field.
func (s *Service) checkView(ctx context.Context, in model.Inputs, old model.View) (v model.View, err error) {
	v = old
	var invalid errs.Fields
	checkName(in, &v, &invalid)
	if record, sent := in["record"]; sent && old.ID != 0 && record.Value != old.Record {
		invalid.Add("record", "The {field} field cannot be changed.")
	} else if sent {
		v.Record = record.Value
	}
	columns, sorts, found, err := s.names(ctx, v.Record)
	switch {
	case err != nil:
		return v, err
	case v.Record == "":
		invalid.Add("record", errs.Required)
	case !found:
		invalid.Add("record", errs.InvalidChoice)
	}
	checkFilters(in, &v, &invalid)
	if sort, sent := in["sort"]; sent {
		if v.Sort = sort.Value; v.Sort != "" && found && !slices.Contains(sorts, strings.TrimPrefix(v.Sort, "-")) {
			invalid.Add("sort", errs.InvalidChoice)
		}
	}
	if list, sent := in["columns"]; sent {
		v.Columns = nil
		if !list.IsBlank() && list.Kind != model.InputList {
			invalid.Add("columns", errs.NotArray)
		}
		for _, item := range list.Items {
			v.Columns = append(v.Columns, item.Value)
		}
		isUnknown := func(name string) bool { return !slices.Contains(columns, name) }
		if len(v.Columns) > maxColumns || found && slices.ContainsFunc(v.Columns, isUnknown) {
			invalid.Add("columns", errs.InvalidChoice)
		}
	}
	if shared, sent := in["shared"]; sent {
		if v.Shared = shared.Value == "true"; !shared.IsBlank() && shared.Kind != model.InputBoolean {
			invalid.Add("shared", errs.NotBoolean)
		}
	}
	return v, invalid.Err()
}

func checkName(in model.Inputs, v *model.View, invalid *errs.Fields) {
	if name, sent := in["name"]; sent {
		switch v.Name = strings.TrimSpace(name.Value); {
		case !name.IsBlank() && name.Kind != model.InputString:
			invalid.Add("name", errs.NotString)
			return
		case !decode.ValidText(v.Name), strings.ContainsAny(v.Name, "\r\n\t"):
			invalid.Add("name", errs.InvalidCharacters)
		case utf8.RuneCountInString(v.Name) > model.MaxNameLength:
			invalid.Add("name", errs.TooLong, model.MaxNameLength)
		}
	}
	if v.Name == "" {
		invalid.Add("name", errs.Required)
	}
}

// checkFilters sets the filters. Callers have checked their names and values as those of a request for the list.
func checkFilters(in model.Inputs, v *model.View, invalid *errs.Fields) {
	filters, sent := in["filters"]
	if !sent {
		return
	}
	v.Filters = nil
	switch {
	case filters.IsBlank(), filters.Kind == model.InputList && len(filters.Items) == 0: // PHP encodes an empty map as []
		return
	case filters.Kind != model.InputObject, len(filters.Members) > maxFilters:
		invalid.Add("filters", errs.NotArray)
		return
	}
	v.Filters = map[string]string{}
	for name, value := range filters.Members {
		if value.Kind == model.InputList || value.Kind == model.InputObject || !decode.ValidText(value.Value) ||
			utf8.RuneCountInString(value.Value) > maxFilter {
			invalid.Add("filters."+name, errs.InvalidChoice)
		}
		if value.Value != "" {
			v.Filters[name] = value.Value
		}
	}
}
