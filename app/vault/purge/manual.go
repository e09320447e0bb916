package purge

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
	"deedkeep/app/vault"
)

// Result is the result of a manual purge.
type Result struct {
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
func (pu *Purger) Purge(ctx context.Context, actor model.Actor, recordType string, id uint64, lift string) (Result, error) {
	lift, err := checkLiftReason(lift)
	if err != nil {
		return Result{}, err
	}
	p := pu.newManualPass(ctx, actor)
	p.liftReason = lift
	var item vault.Trashed
	err = pu.v.ViewAsAdmin(ctx, actor, func(t *store.Tx) (err error) {
		if item, err = pu.v.Trash.FindIn(t, recordType, id); err != nil {
			return err
		}
		return p.checkAllowed(item)
	})
	if err != nil {
		return Result{}, err
	}
	purged, _, damaged, err := p.commit(ctx, []store.TrashEntry{{Type: recordType, ID: id, At: item.At}})
	switch err = errors.Join(damaged, err); {
	case err != nil:
		return Result{}, err
	case purged.records == 0:
		return Result{}, errs.RecordNotFound(recordType+" in the trash", id) // the record was restored or purged concurrently
	}
	return pu.freeSpace(ctx, purged)
}

// Empty permanently deletes all records in the trash, except those under retention, and
// frees their disk space. The actor must be an administrator or the operator.
func (pu *Purger) Empty(ctx context.Context, actor model.Actor) (Result, error) {
	if err := pu.v.ViewAsAdmin(ctx, actor, nil); err != nil {
		return Result{}, err
	}
	purged, err := pu.newManualPass(ctx, actor).run(ctx)
	if purged.records > 0 {
		detail := map[string]string{}
		for name, n := range map[string]int{"records": purged.records, "files": purged.files, "kept": purged.kept} {
			if n > 0 {
				detail[name] = strconv.Itoa(n)
			}
		}
		// Log the purge even if the request was canceled, because records were deleted.
		err = errors.Join(err, pu.v.UpdateFromReserve(context.WithoutCancel(ctx), actor, nil, func(t *store.Tx) error {
			return pu.v.AddEvent(t, pu.v.Now(), actor, "trash.emptied", "", detail)
		}))
	}
	result, sweepErr := pu.freeSpace(context.WithoutCancel(ctx), purged)
	return result, errors.Join(err, sweepErr)
}

// Purgeable returns how many records Empty would delete (due) and how many it would keep
// (kept).
func (pu *Purger) Purgeable(ctx context.Context) (due, kept int, err error) {
	p := pu.newManualPass(ctx, model.SystemActor())
	for after := (store.TrashEntry{}); ; {
		list, last, retained, err := p.nextEntries(ctx, after)
		due, kept = due+len(list), kept+retained
		if err != nil || last.Type == "" {
			return due, kept, err
		}
		after = last
	}
}

// newManualPass returns a manual pass that covers all records now in the trash.
func (pu *Purger) newManualPass(ctx context.Context, actor model.Actor) *pass {
	return &pass{v: pu.v, actor: actor, before: pu.v.Now().Add(time.Microsecond), manual: true, clockJumped: pu.holdsAfterClockJump(ctx)}
}

// checkAllowed returns Conflict if the record must not be purged.
func (p *pass) checkAllowed(item vault.Trashed) error {
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
func (pu *Purger) freeSpace(ctx context.Context, purged counts) (Result, error) {
	result := Result{Records: purged.records, Files: purged.files, Kept: purged.kept}
	if purged.files == 0 {
		return result, nil
	}
	_, own, err := pu.v.CheckGeneration(ctx)
	if err != nil || !own {
		result.Deferred = true // if the database is an older copy, blobs must not be swept (see GenerationFile)
		return result, err
	}
	swept, err := pu.v.Sweeper.SweepBlobs(ctx)
	result.FreedBytes, result.Deferred = swept.Bytes, pu.v.Sweeper.IsHeld()
	pu.v.Reserve.Fill(pu.v.Log)
	return result, err
}
