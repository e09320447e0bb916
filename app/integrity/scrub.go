package integrity

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// scrubStateFile keeps how far the scrub has come, and what is known of damage. It belongs to
// this machine and is part of no backup. One that cannot be read is as one that is not
// there: the scrub starts over.
//
//	scrub.json    {"started_at":"…","after":"<the digest read last>","completed_at":"…","damaged":[…]}
const scrubStateFile = "scrub.json"

// ScrubSettings are the settings scrub.* of config.example.yaml.
type ScrubSettings struct {
	Every       time.Duration // in which every document is read once; 0: never
	VerifiedFor time.Duration // how long a document that was read counts as verified; 0: 24 hours
	VerifyFirst int64         // up to this size, in bytes, a document is verified before it is sent; 0: 1 MB
}

// ScrubState is how the reading of all documents goes.
type ScrubState struct {
	Every     time.Duration // 0: it is off
	Started   time.Time     // the round under way; zero: none was
	Completed time.Time     // the last round; zero: none was
	Progress  float64       // of the round under way, 0 to 1
	Age       time.Duration // since the last round was completed, or, before there was one, since the first was started
	Overdue   bool          // the age is more than Every
}

// scrubRecord is the content of scrubStateFile.
type scrubRecord struct {
	Started   time.Time         `json:"started_at,omitzero"`
	After     *blobstore.Digest `json:"after,omitempty"`
	Completed time.Time         `json:"completed_at,omitzero"`
	Damaged   []vault.Damage    `json:"damaged,omitempty"`
}

// scrubber reads every document again and again, each round in the order of digests:
// they are spread evenly, so that the digest read last tells how far a round has come,
// and when each is due, however many there are. It never waits for a clock longer than
// the way from one digest to the next takes, and never reads more than a quarter of the
// time: a clock that is set neither stops it nor lets it loose.
type Scrubber struct {
	vault  *vault.Vault
	period time.Duration
	queue  chan blobstore.Digest

	mu      sync.Mutex
	record  scrubRecord
	queued  map[blobstore.Digest]bool
	saveMu  sync.Mutex
	savedAt time.Time
	dirty   bool // the place has changed since
}

const (
	// A round takes two thirds of the period, so that a machine that is off for a third
	// of the time still reads everything within it.
	roundNumerator, roundDenominator = 2, 3
	// restFactor is how many times as long as it reads the scrub rests.
	restFactor = 3
	// saveInterval is how often the place is written down at most, so that a vault of
	// many documents costs no sync for each.
	saveInterval = 10 * time.Minute
	// maxScrubWait is how long it waits at most before it looks what is next: new documents
	// come between those that were there.
	maxScrubWait = time.Hour
	// scrubErrorDelay is how long it waits after an error.
	scrubErrorDelay = time.Minute
	// maxQueued is how many documents wait for a verification after they were sent in
	// part; what does not find room is asked for again by the next request.
	maxQueued = 256
)

func NewScrubber(v *vault.Vault, every time.Duration) *Scrubber {
	s := &Scrubber{vault: v, period: every, queue: make(chan blobstore.Digest, maxQueued), queued: map[blobstore.Digest]bool{}}
	s.load()
	v.Scrub = s
	return s
}

// load reads the note.
func (s *Scrubber) load() {
	raw, err := os.ReadFile(filepath.Join(s.vault.Dir, scrubStateFile))
	if err == nil {
		err = json.Unmarshal(raw, &s.record)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.vault.Log.Warn("scrub.json can't be read: the scrub starts over", "error", err)
		}
		s.record = scrubRecord{}
	}
	marks := map[blobstore.Digest]vault.Damage{}
	for _, known := range s.record.Damaged[:min(len(s.record.Damaged), vault.MaxDamagedBlobs)] {
		if digest, err := blobstore.ParseDigest(known.Digest); err == nil {
			marks[digest] = known
		}
	}
	s.record.Damaged = nil
	s.vault.DamagedBlobs.ByDigest = marks
}

// Save writes the note. One that cannot be written stops nothing.
func (s *Scrubber) Save() {
	if s.vault.Store.CheckFile() != nil {
		return // nothing is created in the place of a data directory that is gone
	}
	s.saveMu.Lock()
	defer s.saveMu.Unlock()
	s.mu.Lock()
	note := s.record
	s.savedAt, s.dirty = time.Now(), false
	s.mu.Unlock()
	note.Damaged = s.vault.DamagedBlobs.List()
	raw, err := json.Marshal(note)
	if err == nil {
		err = txn.WriteFileAtomic(s.vault.Dir, scrubStateFile, raw)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a test has removed the folder
		s.vault.Log.Warn("scrub.json can't be written", "error", err)
	}
}

// saveIfDue writes the note where the place has changed and was not written for a while,
// or nothing happens for a while.
func (s *Scrubber) saveIfDue(wait time.Duration) {
	s.mu.Lock()
	due := s.dirty && (wait > scrubErrorDelay || time.Since(s.savedAt) > saveInterval)
	s.mu.Unlock()
	if due {
		s.Save()
	}
}

// state tells how it goes.
func (s *Scrubber) State() ScrubState {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := ScrubState{Every: s.period, Started: s.record.Started, Completed: s.record.Completed, Progress: roundFraction(s.record.After)}
	from := state.Completed
	if from.IsZero() {
		from = state.Started
	}
	if !from.IsZero() {
		state.Age = max(0, s.vault.Now().Sub(from))
	}
	state.Overdue = s.period > 0 && state.Age > s.period
	return state
}

// roundFraction is how much of a round lies before a digest, 0 to 1.
func roundFraction(of *blobstore.Digest) float64 {
	if of == nil {
		return 0
	}
	return float64(binary.BigEndian.Uint64(of[:8])) / math.MaxUint64
}

// Enqueue has a document verified soon.
func (s *Scrubber) Enqueue(digest blobstore.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued[digest] {
		return
	}
	select {
	case s.queue <- digest:
		s.queued[digest] = true
	default: // many wait
	}
}

// recheckDamaged verifies what was damaged before.
func (s *Scrubber) recheckDamaged(ctx context.Context) {
	for _, known := range s.vault.DamagedBlobs.List() {
		if digest, err := blobstore.ParseDigest(known.Digest); err == nil {
			s.verify(ctx, digest)
		}
	}
}

// answer verifies what was asked for, one document after the other.
func (s *Scrubber) RunQueue(ctx context.Context) {
	s.recheckDamaged(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case digest := <-s.queue:
			s.verifyQueued(ctx, digest)
		}
	}
}

func (s *Scrubber) verifyQueued(ctx context.Context, digest blobstore.Digest) {
	s.vault.Activity.WaitIdle(ctx)
	s.verify(ctx, digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queued, digest)
}

// verify reads one document that some record may name.
func (s *Scrubber) verify(ctx context.Context, digest blobstore.Digest) {
	err := s.vault.WithFileOfBlob(ctx, digest, func(file model.File) {
		if err := s.vault.VerifyBlob(ctx, digest, file); err != nil && ctx.Err() == nil {
			s.vault.Log.Warn("a document is not verified", "file", file.ID, "error", err)
		}
		s.vault.LogDamage(ctx, digest) // where it could not be written before
	})
	if err != nil && ctx.Err() == nil {
		s.vault.Log.Warn("a document is not verified", "sha256", digest.String(), "error", err)
	}
}

// run reads all documents until ctx ends.
func (s *Scrubber) Run(ctx context.Context) {
	if s.period <= 0 {
		return
	}
	var took time.Duration
	for {
		next, wait, err := s.nextItem(ctx, took)
		if err != nil {
			wait = scrubErrorDelay
			if ctx.Err() == nil {
				s.vault.Log.Error("scrub", "error", err)
			}
		}
		s.saveIfDue(wait)
		timer := time.NewTimer(min(wait, maxScrubWait))
		select {
		case <-ctx.Done():
			timer.Stop()
			s.saveIfDue(math.MaxInt64)
			return
		case <-timer.C:
		}
		if err != nil || wait > maxScrubWait {
			continue
		}
		s.vault.Activity.WaitIdle(ctx)
		began := time.Now()
		s.step(ctx, next)
		took = time.Since(began)
	}
}

// scrubItem is the next document of a round; none is its end.
type scrubItem struct {
	digest     blobstore.Digest
	file       model.File
	endOfRound bool
}

// nextItem says what is next, and how long to wait for it, when the last took so long.
func (s *Scrubber) nextItem(ctx context.Context, took time.Duration) (next scrubItem, wait time.Duration, err error) {
	now := s.vault.Now()
	s.mu.Lock()
	if s.record.Started.IsZero() {
		s.record.Started, s.dirty = now, true
	}
	after := s.record.After
	// A clock that was set back: the round started as long ago as it has come.
	round := s.period * roundNumerator / roundDenominator
	if s.record.Started.After(now) {
		s.record.Started = now.Add(-time.Duration(roundFraction(after) * float64(round)))
	}
	if s.record.Completed.After(now) {
		s.record.Completed = now
	}
	started := s.record.Started
	s.mu.Unlock()
	err = s.vault.Store.View(ctx, func(t *store.Tx) error {
		var ok bool
		var from []byte
		if after != nil {
			from = after[:]
		}
		next.digest, next.file, ok = t.NextDigest(from)
		next.endOfRound = !ok
		return nil
	})
	if err != nil {
		return next, 0, err
	}
	at := 1.0
	if !next.endOfRound {
		at = roundFraction(&next.digest)
	}
	due := started.Add(time.Duration(at * float64(round))).Sub(now)
	most := time.Duration((at - roundFraction(after)) * float64(round))
	return next, max(min(due, most), restFactor*took), nil
}

// step reads the next document, or ends the round.
func (s *Scrubber) step(ctx context.Context, next scrubItem) {
	if next.endOfRound {
		s.mu.Lock()
		now := s.vault.Now()
		s.record = scrubRecord{Started: now, Completed: now}
		s.mu.Unlock()
		s.vault.Log.Info("every document was read", "damaged", s.vault.DamagedBlobs.Count())
		s.Save()
		return
	}
	err := s.vault.VerifyBlob(ctx, next.digest, next.file)
	if ctx.Err() != nil {
		return // it is read after the restart
	}
	if err != nil {
		s.vault.Log.Warn("a document is not verified", "file", next.file.ID, "error", err)
	}
	s.vault.LogDamage(ctx, next.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.After, s.dirty = &next.digest, true
}
