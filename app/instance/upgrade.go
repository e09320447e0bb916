package instance

import (
	"context"
	"log/slog"

	"deedkeep/app/blobstore"
	"deedkeep/app/store"
)

// upgrade returns how a database of an older version is migrated, or nil if it isn't.
func (o *opener) upgrade() *store.Upgrade {
	switch {
	case !o.Upgrade:
		return nil
	case o.restoring: // the backup has the state before the migration
		return &store.Upgrade{Log: slog.New(slog.DiscardHandler)}
	}
	backup := func(ctx context.Context, db *store.Store, from store.Description) string {
		in, err := o.services(db)
		if err != nil {
			o.Log.Warn("no backup was created before the upgrade", "error", err)
			return ""
		}
		return in.Backups.CreateBeforeUpgrade(ctx, from)
	}
	return &store.Upgrade{Backup: backup, Copy: !o.WithoutCopy, Reserve: o.Settings.DiskReserve, FreeSpace: blobstore.FreeSpace, Log: o.Log}
}
