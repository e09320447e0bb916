package backup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/store"
)

// checkCopy verifies the copied database and counts its records. It returns an error if
// the database is damaged. If it is one of an older version, it checks only how it is stored.
func (b *Backups) checkCopy(ctx context.Context, copied *store.Copy, upgrade *store.Description) (info archive.Info, err error) {
	var first *store.Finding
	found := 0
	report := func(f store.Finding) {
		if found++; first == nil {
			first = &f
		}
	}
	check := copied.Check
	if upgrade != nil {
		check = copied.CheckPages
	}
	census, err := check(ctx, report)
	if err != nil {
		return info, err
	}
	if first != nil {
		return info, &errs.Error{Kind: errs.Conflict,
			Message: fmt.Sprintf("No backup was created because the database is damaged (%s %s: %s; %d findings). "+
				`To list the damage, run "deedkeep verify". Existing backups are not affected.`, first.Kind, first.Subject, first.Problem, found)}
	}
	key, err := os.ReadFile(filepath.Join(b.Dir, "secret.key"))
	if err != nil {
		return info, err
	}
	version, schema := b.settings.Version, store.Schema
	if upgrade != nil {
		version, schema = cmp.Or(upgrade.Version, version), int(upgrade.Schema)
	}
	info = archive.Info{Version: version, Schema: schema, Secret: strings.TrimSpace(string(key)), Files: uint64(census.Files),
		Events: uint64(census.Events)}
	return info, copied.View(func(t *store.Tx) error {
		info.Abstracts, info.Orders, info.Folders = t.Count(store.CountAbstracts), t.Count(store.CountOrders), t.Count(store.CountFolders)
		return nil
	})
}
