package archive

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/durable"
)

// SnapshotWriter adds one snapshot to an archive. It holds the write lock. The caller
// calls Plan for every document and PlanText for its OCR results, then Start, then Add for
// every document in ascending order of digest, then AddText in the same order, and then
// Commit, which makes the snapshot visible. The caller must always call Close.
type SnapshotWriter struct {
	a            *Archive
	throttle     func(context.Context)
	release      func()
	info         Info
	label        string
	existing     map[[32]byte]existingBlob // by name
	bytesToWrite int64                     // planned bytes that are not in the archive yet
	newFiles     uint64                    // planned files that are not in the archive yet
	copied       int64                     // number of document bytes written
	written      int64                     // number of bytes written, including database and manifest
	previous     time.Time                 // time of the newest snapshot; zero if there is none
	missing      []string                  // see Missing
	queue        syncQueue
	lines        *manifestWriter
	out          *outputFile // the manifest
}

// existingBlob is a blob that is already in the archive.
type existingBlob struct {
	sum  [32]byte
	size int64
}

// NewSnapshot acquires the write lock (ErrLocked), removes files left by an interrupted
// writer, and lists the existing blobs. It calls throttle before every unit of work;
// throttle may block to slow the writer down, or be nil.
func (a *Archive) NewSnapshot(ctx context.Context, throttle func(context.Context)) (*SnapshotWriter, error) {
	if a.opts.Vault == "" {
		return nil, fmt.Errorf("%s: %w: the vault is unknown", a.dir, ErrForeign)
	}
	release, err := a.lockForWriting()
	if err != nil {
		return nil, err
	}
	if throttle == nil {
		throttle = func(context.Context) {}
	}
	s := &SnapshotWriter{a: a, throttle: throttle, release: release, existing: map[[32]byte]existingBlob{}}
	s.queue = syncQueue{a: a, throttle: throttle, shards: map[string]bool{}}
	if s.missing, err = a.Missing(); errors.Is(err, ErrDamaged) {
		err = nil // Commit replaces the list
	}
	if err := errors.Join(err, a.removeLeftovers(), s.listBlobs(ctx), s.setName()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Missing returns the names of the snapshots that vanished from the archive (see
// Archive.Missing).
func (s *SnapshotWriter) Missing() []string { return s.missing }

// Previous returns the time of the newest snapshot in the archive. It is zero if there is
// none.
func (s *SnapshotWriter) Previous() time.Time { return s.previous }

// Contains reports whether the archive already has the content of a document.
func (s *SnapshotWriter) Contains(d blobstore.Digest, size int64) bool {
	_, exists := s.existingEntry(d, size)
	return exists
}

// setName names the snapshot after the current time. If the clock was set back, it adds
// one second to the newest name instead, so that names still sort by age. It doesn't reuse
// the name of a missing snapshot.
func (s *SnapshotWriter) setName() error {
	names, err := s.a.Snapshots()
	if err != nil {
		return err
	}
	names = slices.Sorted(slices.Values(append(names, s.missing...)))
	now := s.a.opts.Now().UTC()
	at := now.Truncate(time.Second)
	if len(names) > 0 {
		if s.previous, _ = ParseSnapshot(names[len(names)-1]); !at.After(s.previous) {
			at = s.previous.Add(time.Second)
		}
	}
	s.info = Info{
		Manifest: manifestVersion, Archive: s.a.header.Archive, Vault: s.a.header.Vault,
		Snapshot: at.Format(snapshotLayout), CreatedAt: now.Truncate(time.Microsecond),
	}
	return nil
}

// listBlobs lists the blobs in the archive.
func (s *SnapshotWriter) listBlobs(ctx context.Context) error {
	return s.a.walkBlobs(ctx, func(b blobFile, size int64) error {
		s.existing[nameKey(b.name)] = existingBlob{nameKey(b.sum), size}
		return nil
	}, nil)
}

func nameKey(name string) (key [32]byte) {
	_, _ = hex.Decode(key[:], []byte(name)) // always valid
	return key
}

// existingEntry returns the entry of a document if its blob is already in the archive and
// has the expected length.
func (s *SnapshotWriter) existingEntry(d blobstore.Digest, size int64) (e Entry, ok bool) {
	name, isComplete := s.a.format.blobName(d)
	blob, ok := s.existing[nameKey(name)]
	if !ok || blob.size != s.a.format.storedSize(size) {
		return Entry{}, false
	}
	e = Entry{Digest: d.String(), Size: size}
	if !isComplete {
		e.File, e.Stored = blobFile{name, hex.EncodeToString(blob.sum[:])}.fileName(), blob.size
	}
	return e, true
}

// Plan adds a document to the size of the planned snapshot.
func (s *SnapshotWriter) Plan(d blobstore.Digest, size int64) {
	s.info.Blobs++
	s.info.Bytes += size
	s.info.Stored += s.a.format.storedSize(size)
	if _, exists := s.existingEntry(d, size); !exists {
		s.bytesToWrite += s.a.format.storedSize(size)
		s.newFiles++
	}
}

// PlanText adds OCR results with the digest d to the size of the planned snapshot.
func (s *SnapshotWriter) PlanText(d blobstore.Digest, size int64) {
	s.info.Manifest = textManifestVersion
	if _, exists := s.existingEntry(d, size); !exists {
		s.bytesToWrite += s.a.format.storedSize(size)
		s.newFiles++
	}
}

// Upper bounds in bytes: the disk space that a file needs in addition to its size, and
// the size of a manifest entry.
const (
	maxBlockWaste = 4096
	maxEntrySize  = 320
)

// Start checks that there is enough free space for all planned documents (ErrDiskFull),
// writes the database at path to the archive, and begins the manifest. It uses only those
// fields of info that the package can't determine: the counts of records, Version,
// Schema, and Secret.
func (s *SnapshotWriter) Start(ctx context.Context, info Info, path string) error {
	planned := s.info
	s.info = info
	s.info.Manifest, s.info.Archive, s.info.Vault = planned.Manifest, planned.Archive, planned.Vault
	s.info.Snapshot, s.info.CreatedAt = planned.Snapshot, planned.CreatedAt
	s.info.Blobs, s.info.Bytes, s.info.Stored = planned.Blobs, planned.Bytes, planned.Stored
	if err := s.checkFreeSpace(path); err != nil {
		return err
	}
	if err := s.writeDatabase(ctx, path); err != nil {
		return err
	}
	out, err := s.a.newOutputFile(true)
	if err != nil {
		return err
	}
	s.out = out
	s.lines, err = newManifestWriter(out, s.info)
	return writeError(err)
}

func (s *SnapshotWriter) checkFreeSpace(path string) error {
	if s.a.opts.FreeSpace == nil {
		return nil
	}
	database, err := os.Stat(path)
	if err != nil {
		return err
	}
	free, err := s.a.opts.FreeSpace(s.a.dir)
	if err != nil {
		return err
	}
	need := uint64(s.bytesToWrite) + uint64(database.Size()) +
		s.info.Blobs*maxEntrySize + s.newFiles*maxBlockWaste + s.a.opts.Reserve
	if free < need {
		return fmt.Errorf("%s: %w: this backup needs up to %s, but only %s are free", s.a.dir, ErrDiskFull, humanSize(need), humanSize(free))
	}
	return nil
}

func humanSize(n uint64) string {
	const megabyte = 1 << 20
	if n < 10*megabyte {
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d MB", n/megabyte)
}

// Add adds a document. If the archive doesn't have its content yet, Add calls open to
// read it. It returns ErrSourceDamaged if the content doesn't match the digest. In that
// case, Commit will fail, but other documents may still be added, so that their blobs are
// stored.
func (s *SnapshotWriter) Add(ctx context.Context, d blobstore.Digest, size int64, open func() (io.ReadCloser, error)) error {
	e, err := s.stored(ctx, d, size, open)
	if err != nil {
		return err
	}
	return writeError(s.lines.add(e))
}

// stored returns the entry of a content, which it copies if the archive doesn't have it yet.
func (s *SnapshotWriter) stored(ctx context.Context, d blobstore.Digest, size int64, open func() (io.ReadCloser, error)) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	if e, exists := s.existingEntry(d, size); exists {
		return e, nil
	}
	return s.copyBlob(ctx, d, size, open)
}

// AddText adds the OCR results of a document, whose own digest is text. It returns
// ErrSourceDamaged like Add, but the results may then be left out of the snapshot.
func (s *SnapshotWriter) AddText(ctx context.Context, text, d blobstore.Digest, size int64, open func() (io.ReadCloser, error)) error {
	e, err := s.stored(ctx, d, size, open)
	if err != nil {
		return err
	}
	e.Text = text.String()
	return writeError(s.lines.add(e))
}

func (s *SnapshotWriter) copyBlob(ctx context.Context, d blobstore.Digest, size int64, open func() (io.ReadCloser, error)) (Entry, error) {
	src, err := open()
	if err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrSourceDamaged, err)
	}
	defer src.Close() //nolint:errcheck // only read from
	out, err := s.a.newOutputFile(false)
	if err != nil {
		return Entry{}, err
	}
	content, err := out.copyFrom(ctx, src, s.throttle)
	if err == nil && (content.digest != d || content.size != size) {
		err = fmt.Errorf("%w: digest mismatch: read %d bytes with SHA-256 %s, expected %d bytes", ErrSourceDamaged, content.size, content.digest, size)
	}
	if err != nil {
		return Entry{}, errors.Join(err, out.discard())
	}
	name, _ := s.a.format.blobName(d)
	file := blobFile{name, out.sum()}
	s.written += out.size
	s.copied += out.size
	s.existing[nameKey(name)] = existingBlob{nameKey(file.sum), out.size}
	e, ok := s.existingEntry(d, size)
	if !ok {
		return e, errors.Join(fmt.Errorf("wrong stored size: %d bytes of content, %d bytes stored", size, out.size), out.discard())
	}
	return e, s.queue.add(ctx, out, blobPath(file.fileName()))
}

func (s *SnapshotWriter) writeDatabase(ctx context.Context, path string) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read from
	out, err := s.a.newOutputFile(false)
	if err != nil {
		return err
	}
	content, err := out.compressFrom(ctx, src, s.throttle)
	if err != nil {
		return errors.Join(err, out.discard())
	}
	file := s.info.Snapshot + "." + out.sum() + databaseExt
	s.info.Database = Database{File: file, Stored: out.size, Size: content.size, Digest: content.digest.String()}
	s.written += out.size
	return s.queue.add(ctx, out, []string{snapsDir, file})
}

// Commit makes the snapshot visible after syncing everything that it references. It
// returns the number of bytes written.
func (s *SnapshotWriter) Commit(ctx context.Context) (info Info, written int64, err error) {
	if s.lines.count != s.info.Blobs {
		return Info{}, 0, fmt.Errorf("backup is incomplete: %d of %d documents added", s.lines.count, s.info.Blobs)
	}
	if err := writeError(s.lines.close()); err != nil {
		return Info{}, 0, err
	}
	if err := s.out.close(); err != nil {
		return Info{}, 0, err
	}
	if err := errors.Join(s.queue.flush(ctx), s.queue.syncShards()); err != nil {
		return Info{}, 0, err
	}
	if err := ctx.Err(); err != nil {
		return Info{}, 0, err
	}
	out := s.out
	s.out = nil
	s.written += out.size
	path := []string{snapsDir, s.info.Snapshot + "." + out.sum() + manifestExt}
	if err := errors.Join(s.queue.add(ctx, out, path), s.queue.flush(ctx)); err != nil {
		return Info{}, 0, err
	}
	if err := writeError(durable.SyncDirIfSupported(s.a.path(snapsDir))); err != nil {
		return Info{}, 0, err
	}
	return s.info, s.written, s.updateContents()
}

// Close releases the lock. If the snapshot was not committed, its blobs stay in the
// archive for the next snapshot.
func (s *SnapshotWriter) Close() error {
	err := s.queue.finishBlobs()
	if s.out != nil {
		err = errors.Join(err, s.out.discard())
		s.out = nil
	}
	s.release()
	return err
}

const (
	maxQueuedFiles = 64
	maxQueuedBytes = 64 << 20
	maxSyncs       = 8
)

// syncQueue contains files that are written but not yet synced. It syncs several files at
// the same time. On a journaling file system, this costs little more than syncing one.
type syncQueue struct {
	a        *Archive
	throttle func(context.Context)
	files    []queuedFile
	bytes    int64
	shards   map[string]bool // folders with new files that aren't synced yet
}

type queuedFile struct {
	out  *outputFile
	path []string
}

func (q *syncQueue) add(ctx context.Context, out *outputFile, path []string) error {
	q.files = append(q.files, queuedFile{out, path})
	if q.bytes += out.size; len(q.files) < maxQueuedFiles && q.bytes < maxQueuedBytes {
		return nil
	}
	return q.flush(ctx)
}

// flush syncs the files in the queue and then renames them.
func (q *syncQueue) flush(ctx context.Context) error {
	q.throttle(ctx)
	var wg sync.WaitGroup
	gate := make(chan struct{}, maxSyncs)
	errs := make([]error, len(q.files))
	for i, f := range q.files {
		gate <- struct{}{}
		wg.Go(func() {
			errs[i] = f.out.sync()
			<-gate
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return writeError(err)
	}
	if err := checkFolders(q.a.dir); err != nil {
		return err
	}
	for len(q.files) > 0 {
		f := q.files[0]
		folder := q.a.path(f.path[:len(f.path)-1]...)
		if !q.shards[folder] {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return writeError(err)
			}
			if err := checkFolder(folder); err != nil {
				return err
			}
			q.shards[folder] = true
		}
		if err := os.Rename(f.out.path, q.a.path(f.path...)); err != nil {
			return writeError(err)
		}
		q.files = q.files[1:]
	}
	q.bytes = 0
	return nil
}

// syncShards syncs the folders, which makes the renames durable.
func (q *syncQueue) syncShards() error {
	for folder := range q.shards {
		if err := durable.SyncDirIfSupported(folder); err != nil {
			return writeError(err)
		}
	}
	q.shards = map[string]bool{}
	return writeError(errors.Join(durable.SyncDirIfSupported(q.a.path(blobsDir)), durable.SyncDirIfSupported(q.a.path(snapsDir))))
}

// finishBlobs stores the blobs in the queue and discards other files. After an error, it
// discards all files.
func (q *syncQueue) finishBlobs() (err error) {
	if len(q.files) == 0 {
		return nil
	}
	blobs := q.files[:0:0]
	for _, f := range q.files {
		if f.path[0] == blobsDir {
			blobs = append(blobs, f)
		} else {
			err = errors.Join(err, f.out.discard())
		}
	}
	q.files = blobs
	err = errors.Join(err, q.flush(context.Background()), q.syncShards())
	for _, f := range q.files {
		err = errors.Join(err, f.out.discard())
	}
	q.files = nil
	return err
}

// Progress returns the number of document bytes written and the total number to write.
func (s *SnapshotWriter) Progress() (p struct{ Done, Total int64 }) {
	p.Done, p.Total = s.copied, s.bytesToWrite
	return p
}
