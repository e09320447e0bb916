package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// contentsName is the name of the file that lists what the archive should contain:
//
//	contents.json    {"snapshots":["20261121T071500Z"],"others":["/mnt/cloud/deedkeep"]}
//
// Older versions of deedkeep don't know the file, so the format of the archive stays the
// same. They neither read nor update it.
const (
	contentsName    = "contents.json"
	maxContentsSize = 16 << 20 // bytes
)

type contents struct {
	Snapshots []string `json:"snapshots"`        // names, oldest first
	Others    []string `json:"others,omitempty"` // directories to which the vault created later snapshots
	// Labels are names that say what a snapshot is for, by snapshot.
	Labels map[string]string `json:"labels,omitempty"`
}

func (a *Archive) readContents() (c contents, err error) {
	raw, err := readLimited(a.path(contentsName), maxContentsSize)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && json.Unmarshal(raw, &c) != nil {
		err = fmt.Errorf("%s: %w: invalid content", a.path(contentsName), ErrDamaged)
	}
	return c, err
}

func (a *Archive) writeContents(c contents) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode backup contents: %w", err)
	}
	return writeFile(a.dir, contentsName, append(raw, '\n'))
}

// updateContents writes the list of the snapshots that are in the archive, and of the missing
// ones.
func (a *Archive) updateContents(missing []string) error {
	names, err := a.Snapshots()
	if err != nil {
		return err
	}
	return a.updateKept(append(missing, names...))
}

// updateKept writes the list of the snapshots that should be in the archive. A damaged file is
// replaced.
func (a *Archive) updateKept(names []string) error {
	c, err := a.readContents()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	c.Snapshots = slices.Sorted(slices.Values(names))
	maps.DeleteFunc(c.Labels, func(name, _ string) bool { return !slices.Contains(names, name) })
	return a.writeContents(c)
}

// SetLabel labels the snapshot (see Archive.Labels) when it is committed.
func (s *SnapshotWriter) SetLabel(label string) { s.label = label }

// updateContents adds the committed snapshot and its label to the contents of the archive.
func (s *SnapshotWriter) updateContents() error {
	err := s.a.updateContents(s.missing)
	if err != nil || s.label == "" {
		return err
	}
	c, err := s.a.readContents()
	if err != nil {
		return err
	}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Labels[s.info.Snapshot] = s.label
	return s.a.writeContents(c)
}

// Labels returns the labels of snapshots, such as "before-upgrade-0.3.0". Prune keeps the newest labeled snapshot.
func (a *Archive) Labels() (map[string]string, error) {
	c, err := a.readContents()
	return c.Labels, err
}

// Missing returns the names of the snapshots that are not in the archive although Prune
// didn't remove them, oldest first. It returns none if an older version of deedkeep may have
// written a snapshot after the list, because such a version doesn't record which ones it
// prunes. A newer snapshot of this version means only that its run ended before it wrote the
// list.
func (a *Archive) Missing() ([]string, error) {
	c, err := a.readContents()
	if err != nil || len(c.Snapshots) == 0 {
		return nil, err
	}
	names, err := a.Snapshots()
	if err != nil {
		return nil, err
	}
	last := slices.Max(c.Snapshots)
	for _, name := range names {
		if name <= last {
			continue
		}
		if info, err := a.Info(name); err != nil || info.Version == "" {
			return nil, nil //nolint:nilerr // it can't be read without the key; Verify reports other reasons
		}
	}
	return slices.DeleteFunc(c.Snapshots, func(name string) bool { return slices.Contains(names, name) }), nil
}

// ForgetMissing removes the missing snapshots from the list of what the archive should
// contain.
func (a *Archive) ForgetMissing() error {
	release, err := a.lockForWriting()
	if err != nil {
		return err
	}
	defer release()
	return a.updateContents(nil)
}

// Others returns the directories to which the vault has created snapshots since it last
// created one in this archive, or before. They may contain newer ones.
func (a *Archive) Others() ([]string, error) {
	c, err := a.readContents()
	return c.Others, err
}

// AddOther records that the vault creates snapshots in another directory, too.
func (a *Archive) AddOther(dir string) error {
	release, err := a.lockForWriting()
	if err != nil {
		return err
	}
	defer release()
	c, err := a.readContents()
	if err != nil || slices.Contains(c.Others, dir) {
		return err
	}
	c.Others = append(c.Others, dir)
	return a.writeContents(c)
}

// stillMissing returns those missing snapshots that the retention would keep if they existed.
// The others would have been removed by now.
func (r Retention) stillMissing(missing []string, created map[string]time.Time) (list []string) {
	for _, name := range missing {
		all := maps.Clone(created)
		all[name], _ = ParseSnapshot(name)
		if r.Retained(all)[name] {
			list = append(list, name)
		}
	}
	return list
}
