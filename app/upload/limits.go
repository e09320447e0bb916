package upload

import (
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
)

// checkLimits returns an error if the free disk space, minus the reserved space, is too small for another upload. It
// also returns an error if the owner has too many uploads, if they are too large, or if they take up too much of the
// free space. To enforce the owner's limits, it evicts idle uploads.
func (u *Uploads) checkLimits(info uploadInfo) error {
	var reserved, share int64
	var own []*openUpload
	for _, open := range u.byName {
		sameOwner := open.Owner == info.Owner && !open.canceled
		if sameOwner {
			own = append(own, open)
		}
		// Idle uploads have no reservation. When they resume, DiskGuardReader checks the free space again.
		if open.busy || u.vault.Now().Sub(open.UpdatedAt()) < reservationTTL {
			reserved += open.Size - open.Offset()
			if sameOwner {
				share += open.Size - open.Offset()
			}
		}
	}
	free, err := blobstore.FreeSpace(u.vault.Dir)
	if err != nil {
		return fmt.Errorf("get free disk space: %w", err)
	}
	if err := u.checkDiskSpace(free, uint64(reserved), uint64(share), uint64(info.Size)); err != nil { // sizes are above 0
		return err
	}
	return u.enforceOwnerLimits(own, info.Size)
}

// enforceOwnerLimits evicts an owner's idle uploads, oldest first, until another upload of the given size (in bytes) is
// within the limits. If it can't free enough, it returns Conflict. An owner without other uploads can always upload one
// document.
func (u *Uploads) enforceOwnerLimits(own []*openUpload, size int64) error {
	slices.SortFunc(own, func(a, b *openUpload) int { return a.UpdatedAt().Compare(b.UpdatedAt()) })
	count, bytes := len(own), size
	for _, open := range own {
		bytes += open.Size
	}
	var idle []*openUpload
	for _, open := range own {
		if count < u.settings.maxPerUser() && bytes <= u.settings.maxBytesPerUser() {
			break
		}
		if !open.busy && u.vault.Now().Sub(open.UpdatedAt()) >= minIdleToEvict {
			idle = append(idle, open)
			count, bytes = count-1, bytes-open.Size
		}
	}
	switch {
	case count >= u.settings.maxPerUser():
		return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("You have %d uploads in progress. Finish or cancel some of them first.", len(own))}
	case count > 0 && bytes > u.settings.maxBytesPerUser():
		return &errs.Error{Kind: errs.Conflict, Message: "Your uploads in progress exceed the total size limit. Finish or cancel some of them first."}
	}
	var err error
	for _, open := range idle {
		err = errors.Join(err, u.remove(open))
	}
	return err
}

// checkDiskSpace returns an error if a document of the given size (in bytes) doesn't fit into the free space that is
// not reserved. All uploads of one user together can use at most half of the free space, but a single document can use
// more.
func (u *Uploads) checkDiskSpace(free, reserved, share, size uint64) error {
	switch reserve := u.vault.MinFree; {
	case free < reserve+size:
		return errs.DiskFull(nil)
	case free < reserve+reserved+size:
		return &errs.Error{Kind: errs.InsufficientStorage,
			Message: "The remaining free space is reserved for uploads in progress. Try again in a few minutes."}
	case share > 0 && share+size > (free-reserve)/2:
		return &errs.Error{Kind: errs.Conflict, Message: "Your uploads in progress need too much of the remaining free space. Finish or cancel some of them first."}
	}
	return nil
}
