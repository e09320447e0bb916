package backup

import (
	"context"
	"fmt"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// maxNamedSnapshots is how many snapshots an entry of the log names; the rest are counted.
const maxNamedSnapshots = 50

// LogPruned writes backup.pruned: these snapshots were removed from that directory. The
// removing itself needs no vault, and may have been of another one's backups.
func (b *Backups) LogPruned(ctx context.Context, actor model.Actor, from string, removed []string) error {
	if from == "" || len(removed) == 0 {
		return errs.InvalidField("removed", "Nothing was removed.")
	}
	names := strings.Join(removed[:min(len(removed), maxNamedSnapshots)], ", ")
	if more := len(removed) - maxNamedSnapshots; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return b.Store.Update(ctx, nil, func(t *store.Tx) error {
		return b.AddEvent(t, b.Now(), actor, "backup.pruned", "", map[string]string{"from": from, "removed": names})
	})
}

// ScheduleFailure is what failed since the last good snapshot, where it counts: in the
// directory of the settings. One asked for by hand elsewhere was told to whoever asked;
// nil is none.
func (b *Backups) ScheduleFailure(s State) *Failure {
	to := b.settings.To
	if f := s.Scheduled.Failed; f != nil && to != "" && samePath(f.To, to) {
		return f
	}
	return nil
}
