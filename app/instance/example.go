package instance

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// IsExample reports whether the vault is that of an example firm.
func (in *Instance) IsExample() bool { return in.example.Load() }

func (in *Instance) readExample(ctx context.Context) {
	err := in.Store.View(ctx, func(t *store.Tx) error {
		in.example.Store(t.IsExample())
		return nil
	})
	if err != nil { // "verify" must be able to open a damaged database
		in.Log.Warn("can't read whether the records are those of an example firm", "error", err)
	}
}

// MarkExample marks the vault as that of an example firm, for app/demo, which then fills it. Nothing removes the mark.
// MarkExample returns Conflict, and the vault stays as it is, if it is marked already, has records, definitions that
// differ from those of a new vault, or a user with one of the names.
func (in *Instance) MarkExample(ctx context.Context, actor model.Actor, users ...string) error {
	err := in.WriteAsAdmin(ctx, actor, func(t *store.Tx) error { return checkExample(t, users) }, func(t *store.Tx) error {
		return errors.Join(t.MarkExample(), in.AddEntry(t, model.Event{At: in.Now(), Actor: actor, Kind: "vault.marked_example"}))
	})
	if err == nil {
		in.example.Store(true)
	}
	return err
}

// CheckExample returns Conflict unless MarkExample would work.
func (in *Instance) CheckExample(ctx context.Context, users ...string) error {
	return in.Store.View(ctx, func(t *store.Tx) error { return checkExample(t, users) })
}

// checkExample returns Conflict unless the vault can become that of an example firm.
func checkExample(t *store.Tx, users []string) error {
	const start = "Use a new data directory for the example firm."
	counts := fmt.Sprintf("%d orders, %d abstracts, and %d documents", t.Count(store.CountOrders), t.Count(store.CountAbstracts),
		t.Count(store.CountFiles))
	records := t.Count(store.CountOrders) + t.Count(store.CountAbstracts) + t.Count(store.CountFiles) + t.Count(store.CountTrashed)
	usual, err := hasUsualDefinitions(t)
	message := ""
	switch {
	case err != nil:
		return err
	case t.IsExample():
		message = "This data directory already has the example firm, with " + counts + "."
	case records > 0:
		message = "This data directory has records: " + counts + fmt.Sprintf(", and %d in the trash.", t.Count(store.CountTrashed))
	case !usual:
		message = "The templates, folders, fields, statuses, or document types of this data directory were changed."
	}
	for _, name := range users {
		if _, taken, err := t.UserByName(name); err != nil {
			return err
		} else if taken && message == "" {
			message = "There is already a user " + name + "."
		}
	}
	if message == "" {
		return nil
	}
	return &errs.Error{Kind: errs.Conflict, Message: message + " " + start}
}

// hasUsualDefinitions reports whether the templates, folders, fields, statuses, and document types are those of a new
// vault.
func hasUsualDefinitions(t *store.Tx) (bool, error) {
	usual := model.NewWorkspace()
	for n := range usual.Templates {
		usual.Templates[n].ID, usual.Templates[n].Default = uint64(n+1), n == 0
	}
	now := model.Workspace{Folders: usual.Folders, Phrases: usual.Phrases}
	var errTemplates, errFields, errStatuses, errTypes error
	now.Templates, errTemplates = t.Templates()
	now.OrderFields, errFields = t.OrderFields()
	now.OrderStatuses, errStatuses = t.OrderStatuses()
	now.DocumentTypes, errTypes = t.DocumentTypes()
	same := reflect.DeepEqual(now, usual) && t.Count(store.CountFolders) == uint64(len(usual.Folders))
	return same, errors.Join(errTemplates, errFields, errStatuses, errTypes)
}
