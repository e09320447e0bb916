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
	"deedkeep/app/durable"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vault/storage"
)

// scrubStateFile contains the progress of the scrub and the known damage. It belongs to
// this machine and is not included in backups. If it is missing or can't be read, the scrub
// starts over.
//
//	scrub.json    {"started_at":"…","after":"<the digest read last>","completed_at":"…","damaged":[…]}
const scrubStateFile = "scrub.json"

// ScrubSettings contains the scrub settings of the configuration. See config.example.yaml.
type ScrubSettings struct {
	Every       time.Duration // period in which every document is read once; 0 means never
	VerifiedFor time.Duration // how long the verification of a document remains valid; 0 means 24 hours
	VerifyFirst int64         // maximum size in bytes of documents that are verified before they are sent; 0 means 1 MB
}

// ScrubState is the progress of the scrub.
type ScrubState struct {
	Every     time.Duration // period of the scrub; 0 means it is off
	Started   time.Time     // start of the current round; zero if none has started
	Completed time.Time     // end of the last round; zero if none has completed
	Progress  float64       // progress of the current round, 0 to 1
	Age       time.Duration // time since the last round completed or, before that, since the first round started
	Overdue   bool          // Age is greater than Every
}

// scrubRecord is the content of scrubStateFile.
type scrubRecord struct {
	StartedAt   time.Time         `json:"started_at,omitzero"`
	After       *blobstore.Digest `json:"after,omitempty"`
	CompletedAt time.Time         `json:"completed_at,omitzero"`
	Damaged     []storage.Damage  `json:"damaged,omitempty"`
}

// Scrubber verifies every document once per period, in digest order. Digests are evenly
// distributed, so the last digest read shows how much of a round is done, and the next
// digest determines when it is due. The scrubber never waits longer than the time between
// two digests, and it rests three times as long as it reads. So a clock change can neither
// stop it nor make it read without a pause.
type Scrubber struct {
	vault  *vault.Vault
	period time.Duration
	queue  chan blobstore.Digest

	mu      sync.Mutex
	record  scrubRecord
	queued  map[blobstore.Digest]bool
	saveMu  sync.Mutex
	savedAt time.Time
	dirty   bool // record has changed since savedAt
}

const (
	// A round takes two thirds of the period, so that every document is read within the
	// period even if the machine is off a third of the time.
	roundNumerator, roundDenominator = 2, 3
	// restFactor is how many times longer the scrub rests than it reads.
	restFactor = 3
	// saveInterval is the minimum time between writes of the progress, so that the scrub
	// doesn't sync a file for each document.
	saveInterval = 10 * time.Minute
	// maxScrubWait is the maximum wait before the scrub looks for the next document again,
	// because new documents may have been added.
	maxScrubWait = time.Hour
	// scrubErrorDelay is the delay after an error.
	scrubErrorDelay = time.Minute
	// maxQueued is the maximum number of documents queued for verification because a part
	// of them was sent. If the queue is full, a document is queued by its next request.
	maxQueued = 256
)

// NewScrubber returns the scrubber of a vault and loads its progress. If every is 0, the
// scrubber verifies only queued documents.
func NewScrubber(v *vault.Vault, every time.Duration) *Scrubber {
	s := &Scrubber{vault: v, period: every, queue: make(chan blobstore.Digest, maxQueued), queued: map[blobstore.Digest]bool{}}
	s.load()
	v.Scrub = s
	return s
}

// load reads the progress and the known damage from scrubStateFile.
func (s *Scrubber) load() {
	raw, err := os.ReadFile(filepath.Join(s.vault.Dir, scrubStateFile))
	if err == nil {
		err = json.Unmarshal(raw, &s.record)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.vault.Log.Warn("can't read scrub.json; the scrub starts over", "error", err)
		}
		s.record = scrubRecord{}
	}
	damaged := map[blobstore.Digest]storage.Damage{}
	for _, damage := range s.record.Damaged[:min(len(s.record.Damaged), storage.MaxDamagedBlobs)] {
		if digest, err := blobstore.ParseDigest(damage.Digest); err == nil {
			damaged[digest] = damage
		}
	}
	s.record.Damaged = nil
	s.vault.DamagedBlobs.ByDigest = damaged
}

// Save writes scrubStateFile. If that fails, it logs the error.
func (s *Scrubber) Save() {
	if s.vault.Store.CheckFile() != nil {
		return // if the data directory is gone, don't create a file in its place
	}
	s.saveMu.Lock()
	defer s.saveMu.Unlock()
	s.mu.Lock()
	record := s.record
	s.savedAt, s.dirty = time.Now(), false
	s.mu.Unlock()
	record.Damaged = s.vault.DamagedBlobs.List()
	raw, err := json.Marshal(record)
	if err == nil {
		err = durable.WriteLine(filepath.Join(s.vault.Dir, scrubStateFile), raw)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // tests remove the directory
		s.vault.Log.Warn("can't write scrub.json", "error", err)
	}
}

// saveIfDue saves the progress if it has changed and either the last save was long ago or
// the next wait is long.
func (s *Scrubber) saveIfDue(wait time.Duration) {
	s.mu.Lock()
	due := s.dirty && (wait > scrubErrorDelay || time.Since(s.savedAt) > saveInterval)
	s.mu.Unlock()
	if due {
		s.Save()
	}
}

// State returns the progress of the scrub.
func (s *Scrubber) State() ScrubState {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := ScrubState{Every: s.period, Started: s.record.StartedAt, Completed: s.record.CompletedAt, Progress: roundFraction(s.record.After)}
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

// roundFraction returns the fraction of a round, 0 to 1, that is done when the given digest
// has been read.
func roundFraction(digest *blobstore.Digest) float64 {
	if digest == nil {
		return 0
	}
	return float64(binary.BigEndian.Uint64(digest[:8])) / math.MaxUint64
}

// Enqueue schedules a document for verification. It does nothing if the queue is full.
func (s *Scrubber) Enqueue(digest blobstore.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued[digest] {
		return
	}
	select {
	case s.queue <- digest:
		s.queued[digest] = true
	default: // the queue is full
	}
}

// recheckDamaged verifies the documents that are known to be damaged.
func (s *Scrubber) recheckDamaged(ctx context.Context) {
	for _, damage := range s.vault.DamagedBlobs.List() {
		if digest, err := blobstore.ParseDigest(damage.Digest); err == nil {
			s.verify(ctx, digest)
		}
	}
}

// RunQueue verifies the queued documents one by one until ctx ends.
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

// verify reads and checks a document unless its last record was deleted.
func (s *Scrubber) verify(ctx context.Context, digest blobstore.Digest) {
	err := s.vault.WithFileOfBlob(ctx, digest, func(file model.File) {
		if err := s.vault.VerifyBlob(ctx, digest, file); err != nil && ctx.Err() == nil {
			s.vault.Log.Warn("document not verified", "file", file.ID, "error", err)
		}
		s.vault.LogDamage(ctx, digest) // in case an earlier attempt to log it failed
	})
	if err != nil && ctx.Err() == nil {
		s.vault.Log.Warn("document not verified", "sha256", digest.String(), "error", err)
	}
}

// Run reads all documents, round after round, until ctx ends. It returns immediately if the
// period is 0.
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
				s.vault.Log.Error("scrub failed", "error", err)
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
		start := time.Now()
		s.step(ctx, next)
		took = time.Since(start)
	}
}

// scrubItem is the next document of a round, or the end of the round.
type scrubItem struct {
	digest     blobstore.Digest
	file       model.File
	endOfRound bool
}

// nextItem returns the next document and the time to wait before reading it. took is the
// duration of the last read.
func (s *Scrubber) nextItem(ctx context.Context, took time.Duration) (next scrubItem, wait time.Duration, err error) {
	now := s.vault.Now()
	s.mu.Lock()
	if s.record.StartedAt.IsZero() {
		s.record.StartedAt, s.dirty = now, true
	}
	after := s.record.After
	// If the clock was set back, calculate the start of the round from the progress.
	round := s.period * roundNumerator / roundDenominator
	if s.record.StartedAt.After(now) {
		s.record.StartedAt = now.Add(-time.Duration(roundFraction(after) * float64(round)))
	}
	if s.record.CompletedAt.After(now) {
		s.record.CompletedAt = now
	}
	started := s.record.StartedAt
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
	position := 1.0
	if !next.endOfRound {
		position = roundFraction(&next.digest)
	}
	due := started.Add(time.Duration(position * float64(round))).Sub(now)
	interval := time.Duration((position - roundFraction(after)) * float64(round))
	return next, max(min(due, interval), restFactor*took), nil
}

// step verifies the next document or ends the round.
func (s *Scrubber) step(ctx context.Context, next scrubItem) {
	if next.endOfRound {
		s.mu.Lock()
		now := s.vault.Now()
		s.record = scrubRecord{StartedAt: now, CompletedAt: now}
		s.mu.Unlock()
		s.vault.Log.Info("scrub completed", "damaged", s.vault.DamagedBlobs.Count())
		s.Save()
		return
	}
	err := s.vault.VerifyBlob(ctx, next.digest, next.file)
	if ctx.Err() != nil {
		return // after a restart, the document is read again
	}
	if err != nil {
		s.vault.Log.Warn("document not verified", "file", next.file.ID, "error", err)
	}
	s.vault.LogDamage(ctx, next.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.After, s.dirty = &next.digest, true
}
