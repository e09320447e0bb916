package blobstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/blob/disk"
)

// newDiskStore opens a store that syncs.
func newDiskStore(b *testing.B) *Store {
	b.Helper()
	dir := b.TempDir()
	s, err := Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"), Options{})
	if err != nil {
		b.Fatalf("Open: %v", err)
	}
	return s
}

// serialCommit is the baseline for the pipeline. It reads, hashes, writes, syncs, and
// renames the file, and then syncs the directory, one step after another.
func serialCommit(s *Store, r io.Reader) (d Digest, err error) {
	f, err := os.CreateTemp(s.tmp, "")
	if err != nil {
		return d, err
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(h, f), r); err != nil {
		return d, err
	}
	if err := f.Sync(); err != nil {
		return d, err
	}
	if err := f.Close(); err != nil {
		return d, err
	}
	h.Sum(d[:0])
	if err := os.Rename(f.Name(), s.path(d)); err != nil {
		return d, err
	}
	return d, disk.OSFiles().SyncDir(filepath.Dir(s.path(d)))
}

func pipelinedCommit(b *testing.B, s *Store, r io.Reader) (Digest, error) {
	st, err := s.Stage(b.Context(), r, -1)
	if err != nil {
		return Digest{}, err
	}
	release, err := s.Commit(b.Context(), st)
	release()
	return st.Digest(), err
}

// plainReader hides all methods of a reader except Read, like a request body.
type plainReader struct{ io.Reader }

var serial atomic.Uint64

// document returns body with a unique prefix, so that every document is a different blob.
func document(body []byte) io.Reader {
	head := binary.BigEndian.AppendUint64(nil, serial.Add(1))
	return plainReader{io.MultiReader(bytes.NewReader(head), bytes.NewReader(body))}
}

// BenchmarkCommit stores one document in each of n goroutines per round. Rounds alternate
// between the baseline and the pipeline, so that noise on the machine affects both
// equally. It reports the fastest round of each in milliseconds, and their ratio.
func BenchmarkCommit(b *testing.B) {
	for _, mb := range []int{1, 10, 100} {
		for _, n := range []int{1, 8} {
			b.Run(fmt.Sprintf("%dMB/%d", mb, n), func(b *testing.B) {
				s := newDiskStore(b)
				body := sample(mb<<20, 70)
				ours, straight := time.Hour, time.Hour
				for i := range b.N {
					for j := range 2 {
						if (i+j)%2 == 0 {
							ours = min(ours, round(b, s, n, body, func(r io.Reader) (Digest, error) { return pipelinedCommit(b, s, r) }))
						} else {
							straight = min(straight, round(b, s, n, body, func(r io.Reader) (Digest, error) { return serialCommit(s, r) }))
						}
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(ours.Seconds()*1000, "ours-ms")
				b.ReportMetric(straight.Seconds()*1000, "serial-ms")
				b.ReportMetric(float64(straight)/float64(ours), "serial/ours")
			})
		}
	}
}

func round(b *testing.B, s *Store, n int, body []byte, keep func(io.Reader) (Digest, error)) time.Duration {
	b.Helper()
	digests := make([]Digest, n)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Go(func() {
			d, err := keep(document(body))
			if err != nil {
				b.Errorf("keep: %v", err)
			}
			digests[i] = d
		})
	}
	wg.Wait()
	took := time.Since(start)
	for _, d := range digests {
		if err := os.Remove(s.path(d)); err != nil {
			b.Fatalf("remove file: %v", err)
		}
	}
	return took
}
