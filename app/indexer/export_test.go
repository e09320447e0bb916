package indexer

import "context"

// Turn does one turn.
func (x *Indexer) Turn(ctx context.Context) (more bool, err error) { return x.turn(ctx) }

// RoomToMerge tells whether a merge of the index may take so much.
func (x *Indexer) RoomToMerge(bytes int64) bool { return x.roomToMerge(bytes) }

// Soon is how long Run waits before it follows, at most.
const Soon = gatherFor + yieldFor
