package vault

import (
	"fmt"

	"deedkeep/app/blob"
	"deedkeep/app/title"
)

// indexReserves is how many reserves must be free for the index to grow. It can be made
// anew, and documents cannot: it stops before they are refused.
const indexReserves = 2

// roomToIndex is Full when the disk has too little room for the index to grow.
func (v *Vault) roomToIndex() error {
	enough, err := v.roomAbove(0)
	if err != nil {
		return err
	}
	if !enough {
		return &title.Error{Kind: title.Full, Message: "The disk is nearly full, and what is left is for documents; search goes on when twice disk.reserve is free."}
	}
	return nil
}

// roomToMerge tells whether a merge may take so many bytes. Where the disk does not
// say how much is free, it waits.
func (v *Vault) roomToMerge(bytes int64) bool {
	enough, err := v.roomAbove(uint64(max(bytes, 0)))
	return err == nil && enough
}

// roomAbove tells whether so much is free above the reserves of the index.
func (v *Vault) roomAbove(bytes uint64) (bool, error) {
	free, err := blob.DiskFree(v.dir)
	if err != nil {
		return false, fmt.Errorf("free room: %w", err)
	}
	return free >= bytes && (free-bytes)/indexReserves >= v.set.DiskReserve, nil
}
