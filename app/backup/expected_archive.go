package backup

import (
	"maps"
	"slices"
)

// setArchive records the ID of the archive in the directory to.
func (s *State) setArchive(to, id string) {
	s.Archives = maps.Clone(s.Archives)
	if s.Archives == nil {
		s.Archives = map[string]string{}
	}
	s.Archives[to] = id
}

// expectedArchive returns the ID of the archive that was last used in a directory, or ""
// if there was none. The ID reveals that a disk isn't mounted. Otherwise, the backup
// would start over in the empty mount point, on the same disk as the data. existing reports
// that there must be an archive, although its ID isn't known, because the state is lost.
func (b *Backups) expectedArchive(to string) (id string, existing bool) {
	s := b.State()
	id, known := s.Archives[to]
	return id, !known && s.Problem != ""
}

// ForgetArchive removes the recorded archive ID of the directory to, or of the configured
// directory if to is "". The next Create then uses any archive that it finds there, or
// creates one. It returns Invalid if no directory is set.
func (b *Backups) ForgetArchive(to string) error {
	to, err := b.target(to)
	if err == nil {
		b.updateState(func(s *State) { s.setArchive(to, "") })
	}
	return err
}

// announce records in the other archives of the vault that there are newer backups in the
// directory to. A restore from one of them then says so, even if nothing else is left. It
// writes to each archive once. If a disk isn't connected, a later backup tries again.
func (b *Backups) announce(to string) {
	s := b.State()
	for dir, id := range s.Archives {
		if dir == to || id == "" || slices.Contains(s.Announced[dir], to) {
			continue
		}
		a, err := b.open(dir)
		if err == nil && a.ID() == id {
			err = a.AddOther(to)
		}
		if err != nil {
			b.Log.Info("newer backups not recorded in earlier backup directory", "dir", dir, "newer", to, "error", err)
			continue
		}
		b.updateState(func(s *State) {
			s.Announced = maps.Clone(s.Announced)
			if s.Announced == nil {
				s.Announced = map[string][]string{}
			}
			s.Announced[dir] = append(slices.Clone(s.Announced[dir]), to)
		})
	}
}
