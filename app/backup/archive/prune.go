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

// Retention says how many days, weeks and months keep the newest of their snapshots.
// Days are those of UTC, weeks begin on Monday (ISO 8601).
type Retention struct{ Daily, Weekly, Monthly int }

// Retained gives those of the snapshots that stay, of their names with the moments they
// were made; the newest is always among them. Names order them, moments group them:
// after a clock was ahead for once, names follow it second by second, for months.
func (r Retention) Retained(made map[string]time.Time) map[string]bool {
	names := slices.Sorted(maps.Keys(made))
	slices.Reverse(names)
	keep := map[string]bool{}
	if len(names) > 0 {
		keep[names[0]] = true
	}
	for _, rule := range []struct {
		count int
		of    func(at time.Time) string
	}{
		{r.Daily, func(at time.Time) string { return at.UTC().Format(time.DateOnly) }},
		{r.Weekly, isoWeek},
		{r.Monthly, func(at time.Time) string { return at.UTC().Format("2006-01") }},
	} {
		seen := map[string]bool{}
		for _, name := range names {
			if span := rule.of(made[name]); !seen[span] && len(seen) < rule.count {
				keep[name], seen[span] = true, true
			}
		}
	}
	return keep
}

func isoWeek(at time.Time) string {
	year, week := at.UTC().ISOWeek()
	return fmt.Sprintf("%d-%d", year, week)
}

// PruneResult is what a Prune did, or, tried only, would do.
type PruneResult struct {
	Kept, Removed []string // snapshots, oldest first
	Blobs         int
	Bytes         int64 // freed, of blobs
}

// Prune removes the snapshots that the retention does not keep, their manifests first,
// and then the bytes that no snapshot names any more. Nothing is removed when a
// manifest that stays cannot be read (ErrDamaged, ErrDecrypt), or while somebody reads or
// writes (ErrLocked). Cut off, it leaves what the next one removes. With try it only
// says what it would do.
func (a *Archive) Prune(ctx context.Context, r Retention, try bool, progress func(done, total int64)) (p PruneResult, err error) {
	writing, err := a.lockWriting()
	if err != nil {
		return p, err
	}
	defer writing()
	removing, err := a.lockRemoving()
	if err != nil {
		return p, err
	}
	defer removing()
	names, err := a.Snapshots()
	if err != nil {
		return p, err
	}
	keep := r.Retained(a.moments(names))
	used := map[string]bool{}
	for _, name := range names {
		if !keep[name] {
			p.Removed = append(p.Removed, name)
			continue
		}
		p.Kept = append(p.Kept, name)
		_, err := a.Manifest(name, func(e Entry) error { used[e.File] = true; return ctx.Err() })
		if err != nil {
			return PruneResult{}, fmt.Errorf("nothing was removed, since any document may be of a snapshot that cannot be read: %w", err)
		}
	}
	if !try {
		if err := a.removeSnapshots(p.Removed); err != nil {
			return p, err
		}
	}
	err = a.removeUnused(ctx, used, try, &p, progress)
	return p, err
}

// moments are when the snapshots were made; of one that cannot be read, what its name
// says.
func (a *Archive) moments(names []string) map[string]time.Time {
	made := make(map[string]time.Time, len(names))
	for _, name := range names {
		at, _ := ParseSnapshot(name) // it is one
		if info, err := a.Info(name); err == nil {
			at = info.CreatedAt
		}
		made[name] = at
	}
	return made
}

func (a *Archive) removeSnapshots(names []string) error {
	manifests, _, err := a.snapshotFiles()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := remove(a.path(snapsDir, manifests[name])); err != nil {
			return err
		}
	}
	// The names must be gone for good before a byte that they name is.
	if err := wrote(durable.SyncDirIfSupported(a.path(snapsDir))); err != nil {
		return err
	}
	return a.clean()
}

func (a *Archive) removeUnused(ctx context.Context, used map[string]bool, try bool, p *PruneResult, progress func(done, total int64)) error {
	type unused struct {
		file string
		size int64
	}
	var list []unused
	err := a.walkBlobs(ctx, func(b blobFile, size int64) error {
		if !used[b.file()] {
			list = append(list, unused{b.file(), size})
		}
		return nil
	}, nil)
	if err != nil {
		return err
	}
	for i, u := range list {
		path := a.path(blobPath(u.file)...)
		if err := errors.Join(ctx.Err(), ownFolder(a.path(blobsDir)), ownFolder(filepath.Dir(path))); err != nil {
			return err
		}
		if !try {
			if err := remove(path); err != nil {
				return err
			}
		}
		p.Blobs++
		p.Bytes += u.size
		progress(int64(i+1), int64(len(list)))
	}
	return nil
}
