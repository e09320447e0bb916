package vault

import (
	"context"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// RecordName is what people know a record of the log by.
type RecordName struct {
	Text string
	Live bool // it is there, and not in the trash
}

// Names reads what people know records by, such as "abstract:7"; those that are gone,
// or of a noun that has no names, are not in the result.
func (v *Vault) Names(ctx context.Context, records []string) (map[string]RecordName, error) {
	names := map[string]RecordName{}
	err := v.Store.View(ctx, func(t *store.Tx) error {
		for _, record := range records {
			noun, number, _ := strings.Cut(record, ":")
			id, err := strconv.ParseUint(number, 10, 64)
			if _, known := names[record]; known || err != nil {
				continue
			}
			if name, ok := v.recordName(t, noun, id); ok {
				names[record] = name
			}
		}
		return ctx.Err()
	})
	return names, err
}

// recordName is of one record; a damaged one has none, which is no failure of who asks.
func (v *Vault) recordName(t *store.Tx, noun string, id uint64) (name RecordName, ok bool) {
	var in *model.Trashed
	var err error
	switch noun {
	case AbstractOps.Name:
		var a model.Abstract
		if a, err = t.AbstractIncludingTrash(id); err == nil {
			name.Text, in = v.HeadingIn(t, a), a.Trashed
		}
	case OrderOps.Name:
		var o model.Order
		o, err = t.OrderIncludingTrash(id)
		name.Text, in = o.Number, o.Trashed
	case "file":
		var f model.File
		f, err = t.FileIncludingTrash(id)
		name.Text, in = f.Filename, f.Trashed
	case "folder":
		var f model.Folder
		f, err = t.Folder(id)
		name.Text = f.Name
	case "template":
		var d model.Template
		d, err = t.Template(id)
		name.Text = d.Name
	case "user":
		var u model.User
		u, err = t.User(id)
		name.Text = u.Name
	case "key":
		var k model.Key
		k, err = t.Key(id)
		name.Text = k.Name
	default:
		return name, false
	}
	name.Live = err == nil && in == nil
	return name, err == nil
}
