package indexer

import (
	"fmt"

	"deedkeep/app/title"
)

// reserves is how many reserves must be free for the index to grow. It can be made
// anew, and documents cannot: it stops before they are refused.
const reserves = 2

// roomToBegin is Full when the disk has less than the reserve.
func (x *Indexer) roomToBegin() error {
	free, reserve, err := x.room()
	if err != nil {
		return fmt.Errorf("free room: %w", err)
	}
	if free < reserve {
		return &title.Error{Kind: title.Full, Message: "The disk is full."}
	}
	return nil
}

// roomToIndex is Full when the disk has too little room for the index to grow.
func (x *Indexer) roomToIndex() error {
	enough, err := x.roomAbove(0)
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
func (x *Indexer) roomToMerge(bytes int64) bool {
	enough, err := x.roomAbove(uint64(max(bytes, 0)))
	return err == nil && enough
}

// roomAbove tells whether so much is free above the reserves of the index.
func (x *Indexer) roomAbove(bytes uint64) (bool, error) {
	free, reserve, err := x.room()
	if err != nil {
		return false, fmt.Errorf("free room: %w", err)
	}
	return free >= bytes && (free-bytes)/reserves >= reserve, nil
}
