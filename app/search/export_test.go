package search

import "context"

// Turn does one turn.
func (x *Indexer) Turn(ctx context.Context) (more bool, err error) { return x.turn(ctx) }

// RoomToMerge tells whether a merge of the index may take so much.
func (x *Indexer) RoomToMerge(bytes int64) bool { return x.roomToMerge(bytes) }

// Soon is how long Run waits before it follows, at most.
const Soon = gatherFor + yieldFor

// KeepFeed changes how many changes are kept for an index that does not get on.
func (x *Indexer) KeepFeed(most uint64) { x.mostFeed = most }

// FilesFrom gives the files of an abstract that is owed.
func (x *Indexer) FilesFrom(ctx context.Context, abstract uint64) ([]uint64, error) {
	return x.filesFrom(ctx, indexOwed{Abstract: abstract})
}
