package backup

import (
	"context"
	"time"

	"deedkeep/app/store"
)

// upgradeProgressEvery is how often CreateBeforeUpgrade logs its progress.
const upgradeProgressEvery = 30 * time.Second

// CreateBeforeUpgrade adds a snapshot of a database that is about to be migrated to the archive in the configured
// directory. from describes the database. The snapshot is labeled, so that Prune keeps it, and the version from before the
// upgrade can restore it. CreateBeforeUpgrade returns the snapshot's name, or "" if no directory is set or if there was an
// error, which it logs: the upgrade has a copy of its own. It doesn't write to the database.
func (b *Backups) CreateBeforeUpgrade(ctx context.Context, from store.Description) (snapshot string) {
	if b.settings.To == "" {
		return ""
	}
	to, err := b.target("")
	if err == nil {
		b.Log.Info("creating a backup before the upgrade", "to", to)
		logged := time.Now()
		var created Backup
		created, err = b.create(ctx, to, &from, func(p Progress) {
			if time.Since(logged) > upgradeProgressEvery {
				logged = time.Now()
				b.Log.Info("creating a backup before the upgrade", "bytes", p.Done, "total", p.Total)
			}
		})
		err, snapshot = ClassifyError(targetError(to, err)), created.Snapshot
	}
	if err != nil {
		b.Log.Warn("no backup was created before the upgrade", "to", to, "error", err)
		return ""
	}
	b.Log.Info("backup created before the upgrade", "snapshot", snapshot)
	return snapshot
}
