package archive

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"deedkeep/app/durable"
)

// SnapshotWriter adds one snapshot. It holds the lock of writers; whoever begins it must
// Close it. First every document is planned, then Start, then every document is added
// in ascending order of digest, then Finish makes the snapshot visible.
type SnapshotWriter struct {
	a       *Archive
	pace    func(context.Context)
	release func()
	info    Info
	have    map[[32]byte]kept // by name
	need    int64             // bytes that are to be written
	fresh   uint64            // files that are to be written
	copied  int64             // of those
	written int64             // with database and manifest
	queue   queue
	lines   *manifestWriter
	out     *output // of the manifest
}

// kept is a blob that is there.
type kept struct {
	sum  [32]byte
	size int64
}

// NewSnapshot takes the lock of writers (ErrLocked), removes what an earlier one left when
// it was cut off, and looks at what is there. pace, which may be nil, is called before
// every piece of work and may take its time.
func (a *Archive) NewSnapshot(ctx context.Context, pace func(context.Context)) (*SnapshotWriter, error) {
	if a.opts.Vault == "" {
		return nil, fmt.Errorf("%s: %w: it is not known whose vault adds to it", a.dir, ErrForeign)
	}
	release, err := a.lockWriting()
	if err != nil {
		return nil, err
	}
	if pace == nil {
		pace = func(context.Context) {}
	}
	s := &SnapshotWriter{a: a, pace: pace, release: release, have: map[[32]byte]kept{}}
	s.queue = queue{a: a, pace: pace, shards: map[string]bool{}}
	if err := errors.Join(a.clean(), s.look(ctx), s.name()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// name gives the snapshot its name: the moment, or, when the clock went back, the
// second after the newest, so that names go on sorting by age.
func (s *SnapshotWriter) name() error {
	names, err := s.a.Snapshots()
	if err != nil {
		return err
	}
	now := s.a.opts.Now().UTC()
	at := now.Truncate(time.Second)
	if len(names) > 0 {
		if last, _ := ParseSnapshot(names[len(names)-1]); !at.After(last) {
			at = last.Add(time.Second)
		}
	}
	s.info = Info{
		Manifest: manifestVersion, Archive: s.a.head.Archive, Vault: s.a.head.Vault,
		Snapshot: at.Format(snapshotForm), CreatedAt: now.Truncate(time.Microsecond),
	}
	return nil
}

// look lists the blobs that are there.
func (s *SnapshotWriter) look(ctx context.Context) error {
	return s.a.walkBlobs(ctx, func(b blobFile, size int64) error {
		var key, sum [32]byte
		if _, err := hex.Decode(key[:], []byte(b.name)); err != nil {
			return err
		}
		if _, err := hex.Decode(sum[:], []byte(b.sum)); err != nil {
			return err
		}
		s.have[key] = kept{sum, size}
		return nil
	}, nil)
}

func nameKey(name string) (key [32]byte) {
	_, _ = hex.Decode(key[:], []byte(name)) // of our own making
	return key
}

// find gives the entry of a document that is there in its full length.
func (s *SnapshotWriter) find(d Digest, size int64) (Entry, bool) {
	name, whole := s.a.form.name(d)
	found, ok := s.have[nameKey(name)]
	if !ok || found.size != s.a.form.stored(size) {
		return Entry{}, false
	}
	e := Entry{Digest: d.String(), Size: size}
	if !whole {
		e.File, e.Stored = blobFile{name, hex.EncodeToString(found.sum[:])}.file(), found.size
	}
	return e, true
}

// Plan counts a document of the snapshot.
func (s *SnapshotWriter) Plan(d Digest, size int64) {
	s.info.Blobs++
	s.info.Bytes += size
	s.info.Stored += s.a.form.stored(size)
	if _, there := s.find(d, size); !there {
		s.need += s.a.form.stored(size)
		s.fresh++
	}
}

// blockWaste is what a file takes beyond its bytes, and roomForLines what an entry of
// a manifest takes at most.
const (
	blockWaste   = 4096
	roomForLines = 320
)

// Start writes the database at path, after it has made sure that there is room for
// all that is planned (ErrDiskFull), and begins the manifest. Of info it takes what only
// the vault knows: the counts of records, Version, Schema and Secret.
func (s *SnapshotWriter) Start(ctx context.Context, info Info, path string) error {
	own := s.info
	s.info = info
	s.info.Manifest, s.info.Archive, s.info.Vault, s.info.Snapshot, s.info.CreatedAt = own.Manifest, own.Archive, own.Vault, own.Snapshot, own.CreatedAt
	s.info.Blobs, s.info.Bytes, s.info.Stored = own.Blobs, own.Bytes, own.Stored
	if err := s.room(path); err != nil {
		return err
	}
	if err := s.database(ctx, path); err != nil {
		return err
	}
	out, err := s.a.newOutput(true)
	if err != nil {
		return err
	}
	s.out = out
	s.lines, err = newManifestWriter(out, s.info)
	return wrote(err)
}

func (s *SnapshotWriter) room(path string) error {
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
	need := uint64(s.need) + uint64(database.Size()) + s.info.Blobs*roomForLines + s.fresh*blockWaste + s.a.opts.Reserve
	if free < need {
		return fmt.Errorf("%s: %w: this snapshot may need %s, and %s are free", s.a.dir, ErrDiskFull, humanSize(need), humanSize(free))
	}
	return nil
}

func humanSize(n uint64) string {
	const mega = 1 << 20
	if n < 10*mega {
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d MB", n/mega)
}

// Add takes a document into the snapshot; open gives its bytes where they are not in
// the archive yet. ErrSourceDamaged when they are not what the digest says: the snapshot can
// then not be finished, but others may be added, so that their bytes are there.
func (s *SnapshotWriter) Add(ctx context.Context, d Digest, size int64, open func() (io.ReadCloser, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, there := s.find(d, size)
	if !there {
		var err error
		if e, err = s.copy(ctx, d, size, open); err != nil {
			return err
		}
	}
	return wrote(s.lines.add(e))
}

func (s *SnapshotWriter) copy(ctx context.Context, d Digest, size int64, open func() (io.ReadCloser, error)) (Entry, error) {
	src, err := open()
	if err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrSourceDamaged, err)
	}
	defer src.Close() //nolint:errcheck // only read from
	out, err := s.a.newOutput(false)
	if err != nil {
		return Entry{}, err
	}
	content, err := out.fill(ctx, src, s.pace)
	if err == nil && (content.digest != d || content.size != size) {
		err = fmt.Errorf("%w: %d bytes with the digest %s are there, %d are on record", ErrSourceDamaged, content.size, content.digest, size)
	}
	if err != nil {
		return Entry{}, errors.Join(err, out.drop())
	}
	name, whole := s.a.form.name(d)
	file := blobFile{name, out.sum()}
	s.written += out.size
	s.copied += out.size
	s.have[nameKey(name)] = kept{nameKey(file.sum), out.size}
	e := Entry{Digest: d.String(), Size: size}
	if !whole {
		e.File, e.Stored = file.file(), out.size
	}
	return e, s.queue.put(ctx, out, blobPath(file.file()))
}

func (s *SnapshotWriter) database(ctx context.Context, path string) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read from
	out, err := s.a.newOutput(false)
	if err != nil {
		return err
	}
	content, err := out.pack(ctx, src, s.pace)
	if err != nil {
		return errors.Join(err, out.drop())
	}
	file := s.info.Snapshot + "." + out.sum() + databaseExt
	s.info.Database = Database{File: file, Stored: out.size, Size: content.size, Digest: content.digest.String()}
	s.written += out.size
	return s.queue.put(ctx, out, []string{snapsDir, file})
}

// Commit makes the snapshot visible, once all that it names was synced, and says how
// many bytes the session wrote.
func (s *SnapshotWriter) Commit(ctx context.Context) (info Info, written int64, err error) {
	if s.lines.count != s.info.Blobs {
		return Info{}, 0, fmt.Errorf("%d of %d documents were added", s.lines.count, s.info.Blobs)
	}
	if err := wrote(s.lines.close()); err != nil {
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
	if err := errors.Join(s.queue.put(ctx, out, path), s.queue.flush(ctx)); err != nil {
		return Info{}, 0, err
	}
	return s.info, s.written, wrote(durable.SyncDirIfSupported(s.a.path(snapsDir)))
}

// Close gives the lock back. Of a snapshot that was not finished, the documents that
// were copied stay for the next one.
func (s *SnapshotWriter) Close() error {
	err := s.queue.leave()
	if s.out != nil {
		err = errors.Join(err, s.out.drop())
		s.out = nil
	}
	s.release()
	return err
}

const (
	queueFiles  = 64
	queueBytes  = 64 << 20
	syncsAtOnce = 8
)

// queue holds files that are written and not yet synced: several are synced at the
// same time, which costs a journalling file system little more than one.
type queue struct {
	a      *Archive
	pace   func(context.Context)
	files  []queued
	bytes  int64
	shards map[string]bool // folders with new names
}

type queued struct {
	out  *output
	path []string
}

func (q *queue) put(ctx context.Context, out *output, path []string) error {
	q.files = append(q.files, queued{out, path})
	if q.bytes += out.size; len(q.files) < queueFiles && q.bytes < queueBytes {
		return nil
	}
	return q.flush(ctx)
}

// flush syncs the files and gives them their names.
func (q *queue) flush(ctx context.Context) error {
	q.pace(ctx)
	var all sync.WaitGroup
	gate := make(chan struct{}, syncsAtOnce)
	errs := make([]error, len(q.files))
	for i, f := range q.files {
		gate <- struct{}{}
		all.Go(func() {
			errs[i] = f.out.sync()
			<-gate
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return wrote(err)
	}
	if err := ownFolders(q.a.dir); err != nil {
		return err
	}
	for len(q.files) > 0 {
		f := q.files[0]
		folder := q.a.path(f.path[:len(f.path)-1]...)
		if !q.shards[folder] {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return wrote(err)
			}
			if err := ownFolder(folder); err != nil {
				return err
			}
			q.shards[folder] = true
		}
		if err := os.Rename(f.out.path, q.a.path(f.path...)); err != nil {
			return wrote(err)
		}
		q.files = q.files[1:]
	}
	q.bytes = 0
	return nil
}

// syncShards makes the new names survive a power cut.
func (q *queue) syncShards() error {
	for folder := range q.shards {
		if err := durable.SyncDirIfSupported(folder); err != nil {
			return wrote(err)
		}
	}
	q.shards = map[string]bool{}
	return wrote(errors.Join(durable.SyncDirIfSupported(q.a.path(blobsDir)), durable.SyncDirIfSupported(q.a.path(snapsDir))))
}

// leave keeps the documents and drops the rest; where they cannot be kept, all.
func (q *queue) leave() (err error) {
	if len(q.files) == 0 {
		return nil
	}
	blobs := q.files[:0:0]
	for _, f := range q.files {
		if f.path[0] == blobsDir {
			blobs = append(blobs, f)
		} else {
			err = errors.Join(err, f.out.drop())
		}
	}
	q.files = blobs
	err = errors.Join(err, q.flush(context.Background()), q.syncShards())
	for _, f := range q.files {
		err = errors.Join(err, f.out.drop())
	}
	q.files = nil
	return err
}

// Progress is how many bytes of documents were written, of how many.
func (s *SnapshotWriter) Progress() (p struct{ Done, Total int64 }) {
	p.Done, p.Total = s.copied, s.need
	return p
}
