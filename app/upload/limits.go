package upload

import (
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
)

// checkLimits refuses one more where the disk cannot take it besides what is on its way,
// or its owner has too many, too many bytes, or too much of the room. Those that stood
// still long make room.
func (u *Uploads) checkLimits(note uploadInfo) error {
	var promised, share int64
	var own []*openUpload
	for _, one := range u.byName {
		mine := one.Owner == note.Owner && !one.canceled
		if mine {
			own = append(own, one)
		}
		// What stands still takes its chance when it goes on: roomReader looks again.
		if one.busy || u.vault.Now().Sub(one.UpdatedAt()) < reservationTTL {
			promised += one.Size - one.Offset()
			if mine {
				share += one.Size - one.Offset()
			}
		}
	}
	free, err := blobstore.FreeSpace(u.vault.Dir)
	if err != nil {
		return fmt.Errorf("free room: %w", err)
	}
	if err := u.checkDiskSpace(free, uint64(promised), uint64(share), uint64(note.Size)); err != nil { // #nosec G115 -- sizes are above 0
		return err
	}
	return u.enforceOwnerLimits(own, note.Size)
}

// enforceOwnerLimits keeps the uploads that an owner has open, with another one of that size, within
// the settings: it forgets the oldest that stood still long, and is Conflict where that
// isn't enough. A document alone is always within them.
func (u *Uploads) enforceOwnerLimits(own []*openUpload, size int64) error {
	slices.SortFunc(own, func(a, b *openUpload) int { return a.UpdatedAt().Compare(b.UpdatedAt()) })
	count, bytes := len(own), size
	for _, one := range own {
		bytes += one.Size
	}
	var idle []*openUpload
	for _, one := range own {
		if count < u.settings.maxPerUser() && bytes <= u.settings.maxBytesPerUser() {
			break
		}
		if !one.busy && u.vault.Now().Sub(one.UpdatedAt()) >= minIdleToEvict {
			idle = append(idle, one)
			count, bytes = count-1, bytes-one.Size
		}
	}
	switch {
	case count >= u.settings.maxPerUser():
		return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("You have %d uploads under way; let some of them end.", len(own))}
	case count > 0 && bytes > u.settings.maxBytesPerUser():
		return &errs.Error{Kind: errs.Conflict, Message: "Your open uploads are too large together. Finish or cancel some of them first."}
	}
	var err error
	for _, one := range idle {
		err = errors.Join(err, u.remove(one))
	}
	return err
}

// checkDiskSpace is nil where a document of that size has room besides what was promised; the
// share of one user beyond a single document is half of the room.
func (u *Uploads) checkDiskSpace(free, promised, share, size uint64) error {
	switch reserve := u.vault.MinFree; {
	case free < reserve+size:
		return &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full."}
	case free < reserve+promised+size:
		return &errs.Error{Kind: errs.InsufficientStorage, Message: "The room that is left is promised to documents on their way; try again in a few minutes."}
	case share > 0 && share+size > (free-reserve)/2:
		return &errs.Error{Kind: errs.Conflict, Message: "Your documents on their way take much of the room that is left; let some of them end."}
	}
	return nil
}
