package audit

import (
	"context"
	"sync"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// followers are those who receive the entries of the audit log as they are added. All of them get the entries that one
// goroutine reads.
type followers struct {
	mu     sync.Mutex
	list   map[*Follower]struct{}
	last   uint64 // sequence number of the last entry that they got
	closed bool
}

// Follower receives entries of the audit log in sequence.
type Follower struct {
	// Since is the sequence number of the newest entry when the follower began. The first entry in C is the next one.
	Since uint64
	// C is closed when the follower has fallen behind, and when following ends. The entries must not be changed.
	C <-chan *model.Event

	entries chan *model.Event
	of      *followers
}

// maxBehind is the number of entries that a follower can be behind the log.
const maxBehind = 256

// Follow returns a follower of the audit log. The caller must call Stop.
func (e *Events) Follow(ctx context.Context) (*Follower, error) {
	fs := &e.followers
	fs.mu.Lock()
	defer fs.mu.Unlock()
	last, err := e.LastSeq(ctx)
	if err != nil {
		return nil, err
	}
	if len(fs.list) == 0 {
		fs.last, fs.list = last, map[*Follower]struct{}{}
	}
	entries := make(chan *model.Event, maxBehind)
	f := &Follower{Since: fs.last, C: entries, entries: entries, of: fs}
	if fs.list[f] = struct{}{}; fs.closed {
		fs.drop(f)
	}
	return f, nil
}

// LastSeq returns the sequence number of the newest entry, or 0 if there is none.
func (e *Events) LastSeq(ctx context.Context) (uint64, error) {
	if _, last := e.db.Store.EventAdded(); last > 0 {
		return last, nil
	}
	return store.Read(ctx, e.db.Store, func(t *store.Tx) (uint64, error) {
		last, err := t.LastEvent()
		return last.Seq, err
	})
}

// Stop ends following. It can be called again.
func (f *Follower) Stop() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.of.drop(f)
}

// drop ends a follower. The caller must hold fs.mu.
func (fs *followers) drop(f *Follower) {
	if _, follows := fs.list[f]; follows {
		delete(fs.list, f)
		close(f.entries)
	}
}

// EndFollowing ends all followers, and later ones at once. A server that stops calls it, because followers don't end
// otherwise.
func (e *Events) EndFollowing() {
	e.followers.mu.Lock()
	defer e.followers.mu.Unlock()
	e.followers.closed = true
	for f := range e.followers.list {
		e.followers.drop(f)
	}
}

// Publish sends new entries to the followers until ctx ends.
func (e *Events) Publish(ctx context.Context) {
	defer e.EndFollowing()
	added, _ := e.db.Store.EventAdded()
	for {
		select {
		case <-ctx.Done():
			return
		case <-added:
			e.publish(ctx)
		}
	}
}

func (e *Events) publish(ctx context.Context) {
	fs := &e.followers
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for len(fs.list) > 0 {
		entries, err := e.after(ctx, fs.last, scanPageSize)
		for n := range entries {
			fs.last = entries[n].Seq
			for f := range fs.list {
				select {
				case f.entries <- &entries[n]:
				default:
					fs.drop(f)
				}
			}
		}
		if err != nil { // a damaged entry, which a verification reports; the followers begin again after it
			for f := range fs.list {
				fs.drop(f)
			}
		}
		if len(entries) < scanPageSize {
			return
		}
	}
}

// after returns up to limit entries that follow a sequence number.
func (e *Events) after(ctx context.Context, seq uint64, limit int) ([]model.Event, error) {
	return store.Read(ctx, e.db.Store, func(t *store.Tx) ([]model.Event, error) { return t.ScanEvents(seq+1, limit) })
}

// Between calls send with the entries after one sequence number up to another one, in sequence. No transaction is open
// while send runs.
func (e *Events) Between(ctx context.Context, after, until uint64, send func(model.Event) error) error {
	for after < until {
		entries, err := e.after(ctx, after, int(min(until-after, scanPageSize)))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := send(entry); err != nil {
				return err
			}
			after = entry.Seq
		}
		if len(entries) == 0 {
			return nil
		}
	}
	return nil
}
