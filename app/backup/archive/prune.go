package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"deedkeep/app/durable"
)

// Retention is the number of days, weeks, and months for which a snapshot is kept. The
// newest snapshot of each period is the one that is kept. Days are in UTC, and weeks
// begin on Monday (ISO 8601).
type Retention struct{ Daily, Weekly, Monthly int }

// Retained returns the names of the snapshots to keep. created maps names to creation
// times. The newest snapshot is always kept. Snapshots are sorted by name but grouped by
// creation time. If the clock was once ahead, the names of later snapshots are only
// seconds apart and don't show when they were created.
func (r Retention) Retained(created map[string]time.Time) map[string]bool {
	names := slices.Sorted(maps.Keys(created))
	slices.Reverse(names)
	keep := map[string]bool{}
	if len(names) > 0 {
		keep[names[0]] = true
	}
	for _, rule := range []struct {
		count  int
		period func(at time.Time) string
	}{
		{r.Daily, func(at time.Time) string { return at.UTC().Format(time.DateOnly) }},
		{r.Weekly, isoWeek},
		{r.Monthly, func(at time.Time) string { return at.UTC().Format("2006-01") }},
	} {
		seen := map[string]bool{}
		for _, name := range names {
			if period := rule.period(created[name]); !seen[period] && len(seen) < rule.count {
				keep[name], seen[period] = true, true
			}
		}
	}
	return keep
}

func isoWeek(at time.Time) string {
	year, week := at.UTC().ISOWeek()
	return fmt.Sprintf("%d-%d", year, week)
}

// PruneResult lists the snapshots and blobs that Prune removed or, in a dry run, would
// remove.
type PruneResult struct {
	Kept, Removed []string // snapshots, oldest first
	Blobs         int
	Bytes         int64 // size of the removed blobs
}

// Prune removes the snapshots that r doesn't retain, manifests first, and then the blobs
// that no snapshot references. It keeps the newest labeled snapshot, and the last one before an
// upgrade for 90 days.
// It removes nothing if a remaining manifest can't be read
// (ErrDamaged, ErrDecrypt), or while the archive is in use (ErrLocked). If Prune is
// interrupted, the next Prune removes the rest. In a dry run, it only reports the files
// that it would remove.
func (a *Archive) Prune(ctx context.Context, r Retention, dryRun bool, progress func(done, total int64)) (p PruneResult, err error) {
	writing, err := a.lockForWriting()
	if err != nil {
		return p, err
	}
	defer writing()
	removing, err := a.lockForRemoval()
	if err != nil {
		return p, err
	}
	defer removing()
	names, err := a.Snapshots()
	if err != nil {
		return p, err
	}
	missing, err := a.Missing()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return p, err
	}
	created, schemas := a.creationTimes(names)
	keep := r.Retained(created)
	if name := beforeUpgrade(names, created, schemas); name != "" {
		keep[name] = true
	}
	labels, err := a.Labels()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return p, err
	}
	if name, ok := newestLabeled(names, labels); ok {
		keep[name] = true
	}
	used := map[string]bool{}
	for _, name := range names {
		if !keep[name] {
			p.Removed = append(p.Removed, name)
			continue
		}
		p.Kept = append(p.Kept, name)
		_, err := a.Manifest(name, func(e Entry) error { used[e.File] = true; return ctx.Err() })
		if err != nil {
			return PruneResult{}, fmt.Errorf("nothing was deleted: a backup can't be read, so its documents are unknown: %w", err)
		}
	}
	if !dryRun {
		// List only the remaining snapshots first, so that an interrupted removal doesn't look like a loss.
		if err := a.updateKept(append(r.stillMissing(missing, created), p.Kept...)); err != nil {
			return p, err
		}
		if err := a.removeSnapshots(p.Removed); err != nil {
			return p, err
		}
	}
	err = a.removeUnusedBlobs(ctx, used, dryRun, &p, progress)
	return p, err
}

// newestLabeled returns the newest of the snapshots that has a label. names are sorted by age.
func newestLabeled(names []string, labels map[string]string) (name string, ok bool) {
	for _, name := range slices.Backward(names) {
		if labels[name] != "" {
			return name, true
		}
	}
	return "", false
}

// upgradeKeep is how long Prune keeps the last snapshot before an upgrade.
const upgradeKeep = 90 * 24 * time.Hour

// beforeUpgrade returns the newest snapshot with an older schema than the newest one, because
// the previous version of deedkeep can restore only that one. It returns "" if there is none,
// or if it is older than upgradeKeep. names are sorted by age.
func beforeUpgrade(names []string, created map[string]time.Time, schemas map[string]int) string {
	if len(names) == 0 {
		return ""
	}
	newest := names[len(names)-1]
	for _, name := range slices.Backward(names) {
		if schema := schemas[name]; schema > 0 && schema < schemas[newest] {
			if created[newest].Sub(created[name]) > upgradeKeep {
				return ""
			}
			return name
		}
	}
	return ""
}

// creationTimes returns the creation times and schemas of the snapshots. If a manifest can't
// be read, it uses the time in the snapshot's name, and the schema is 0.
func (a *Archive) creationTimes(names []string) (created map[string]time.Time, schemas map[string]int) {
	created, schemas = make(map[string]time.Time, len(names)), make(map[string]int, len(names))
	for _, name := range names {
		at, _ := ParseSnapshot(name) // these names are always valid
		if info, err := a.Info(name); err == nil {
			at, schemas[name] = info.CreatedAt, info.Schema
		}
		created[name] = at
	}
	return created, schemas
}

func (a *Archive) removeSnapshots(names []string) error {
	manifests, _, err := a.snapshotFiles()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := removeFile(a.path(snapsDir, manifests[name])); err != nil {
			return err
		}
	}
	// Make the removal of the manifests durable before any blob is removed.
	if err := writeError(durable.SyncDirIfSupported(a.path(snapsDir))); err != nil {
		return err
	}
	return a.removeLeftovers()
}

func (a *Archive) removeUnusedBlobs(
	ctx context.Context, used map[string]bool, dryRun bool, p *PruneResult, progress func(done, total int64),
) error {
	type unused struct {
		file string
		size int64
	}
	var list []unused
	err := a.walkBlobs(ctx, func(b blobFile, size int64) error {
		if !used[b.fileName()] {
			list = append(list, unused{b.fileName(), size})
		}
		return nil
	}, nil)
	if err != nil {
		return err
	}
	for i, u := range list {
		path := a.path(blobPath(u.file)...)
		if err := errors.Join(ctx.Err(), checkFolder(a.path(blobsDir)), checkFolder(filepath.Dir(path))); err != nil {
			return err
		}
		if !dryRun {
			if err := removeFile(path); err != nil {
				return err
			}
		}
		p.Blobs++
		p.Bytes += u.size
		progress(int64(i+1), int64(len(list)))
	}
	return nil
}
