package vault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Purged is the result of a manual purge.
type Purged struct {
	Records    int   // number of records, including documents
	Files      int   // number of documents
	Kept       int   // number of records that were kept because of retention
	FreedBytes int64 // total size of the deleted blobs
	Deferred   bool  // whether blobs are deleted later, for example because a backup is in progress
}

// Purge permanently deletes a record from the trash and frees its disk space. Purging an
// abstract includes its documents. The actor must be an administrator or the operator.
// Purge returns Conflict if the record is under retention, unless lift states a reason to
// override it. It returns NotFound if the record is not in the trash or was trashed with
// its abstract.
func (tr *Trash) Purge(ctx context.Context, actor model.Actor, recordType string, id uint64, lift string) (Purged, error) {
	lift, err := checkLiftReason(lift)
	if err != nil {
		return Purged{}, err
	}
	p := tr.v.newManualPurge(ctx, actor)
	p.liftReason = lift
	var item Trashed
	err = tr.v.ViewAsAdmin(ctx, actor, func(t *store.Tx) (err error) {
		if item, err = tr.v.findInTrash(t, recordType, id); err != nil {
			return err
		}
		return p.checkAllowed(item)
	})
	if err != nil {
		return Purged{}, err
	}
	purged, _, damaged, err := p.commit(ctx, []store.TrashEntry{{Type: recordType, ID: id, At: item.At}})
	switch err = errors.Join(damaged, err); {
	case err != nil:
		return Purged{}, err
	case purged.records == 0:
		return Purged{}, notInTrash(recordType, id) // the record was restored or purged concurrently
	}
	return tr.freeSpace(ctx, purged)
}

// Empty permanently deletes all records in the trash, except those under retention, and
// frees their disk space. The actor must be an administrator or the operator.
func (tr *Trash) Empty(ctx context.Context, actor model.Actor) (Purged, error) {
	if err := tr.v.ViewAsAdmin(ctx, actor, nil); err != nil {
		return Purged{}, err
	}
	purged, err := tr.v.newManualPurge(ctx, actor).run(ctx)
	if purged.records > 0 {
		detail := map[string]string{}
		for name, n := range map[string]int{"records": purged.records, "files": purged.files, "kept": purged.kept} {
			if n > 0 {
				detail[name] = strconv.Itoa(n)
			}
		}
		// Log the purge even if the request was canceled, because records were deleted.
		err = errors.Join(err, tr.v.UpdateFromReserve(context.WithoutCancel(ctx), actor, nil, func(t *store.Tx) error {
			return tr.v.AddEvent(t, tr.v.Now(), actor, "trash.emptied", "", detail)
		}))
	}
	result, sweepErr := tr.freeSpace(context.WithoutCancel(ctx), purged)
	return result, errors.Join(err, sweepErr)
}

// Purgeable returns how many records Empty would delete (due) and how many it would keep
// (kept).
func (tr *Trash) Purgeable(ctx context.Context) (due, kept int, err error) {
	p := tr.v.newManualPurge(ctx, model.SystemActor())
	for after := (store.TrashEntry{}); ; {
		list, last, retained, err := p.nextEntries(ctx, after)
		due, kept = due+len(list), kept+retained
		if err != nil || last.Type == "" {
			return due, kept, err
		}
		after = last
	}
}

// newManualPurge returns a manual purge that covers all records now in the trash.
func (v *Vault) newManualPurge(ctx context.Context, actor model.Actor) *purgeRun {
	return &purgeRun{v: v, actor: actor, before: v.Now().Add(time.Microsecond), manual: true, clockJumped: v.Purger.holdsAfterClockJump(ctx)}
}

// checkAllowed returns Conflict if the record must not be purged.
func (p *purgeRun) checkAllowed(item Trashed) error {
	switch {
	case p.mayPurge(item):
		return nil
	case p.v.Now().Before(item.RetainedUntil):
		return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf(
			"The retention setting keeps this record until %s. An administrator can lift the retention of this record with a reason.",
			item.RetainedUntil.Format("Jan 2, 2006"))}
	}
	return &errs.Error{Kind: errs.Conflict,
		Message: "The clock jumped ahead less than a day ago, so the retention of this record may not be over. " +
			"Check the clock and try again tomorrow."}
}

// maxReasonLength is the maximum length of a reason, in characters.
const maxReasonLength = model.MaxLineLength

func checkLiftReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if utf8.RuneCountInString(reason) > maxReasonLength {
		return "", errs.InvalidField("reason", "The reason must not be longer than %d characters.", maxReasonLength)
	}
	if !utf8.ValidString(reason) || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", errs.InvalidField("reason", "The reason must be one line of text.")
	}
	return reason, nil
}

// freeSpace sweeps the blobs of purged documents. Blobs that a backup in progress may
// need are swept after the backup.
func (tr *Trash) freeSpace(ctx context.Context, purged purgeCounts) (Purged, error) {
	result := Purged{Records: purged.records, Files: purged.files, Kept: purged.kept}
	if purged.files == 0 {
		return result, nil
	}
	_, own, err := tr.v.CheckGeneration(ctx)
	if err != nil || !own {
		result.Deferred = true // if the database is an older copy, blobs must not be swept (see GenerationFile)
		return result, err
	}
	swept, err := tr.v.Sweeper.SweepBlobs(ctx)
	result.FreedBytes, result.Deferred = swept.Bytes, tr.v.Sweeper.IsHeld()
	tr.v.Reserve.Fill(tr.v.Log)
	return result, err
}
