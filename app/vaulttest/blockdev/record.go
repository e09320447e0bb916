//go:build root && linux

package blockdev

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// sector is the size of a block that a disk writes atomically.
const sector = 512

// Recording contains the writes and flushes of a disk since Record, in sequence.
type Recording struct {
	disk    *Disk
	before  *os.File // content of the disk at the start
	entries []entry
}

// entry is a write, or a flush if data is nil.
type entry struct {
	offset int64
	data   []byte
}

// Record starts a recording. A disk can have only one at a time.
func (d *Disk) Record(t testing.TB) *Recording {
	t.Helper()
	before, err := newMemory(d.size)
	if err != nil {
		t.Fatalf("memory for a recording: %v", err)
	}
	t.Cleanup(func() {
		if err := before.Close(); err != nil {
			t.Errorf("close the memory of a recording: %v", err)
		}
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := copyData(before, d.memory, d.size); err != nil {
		t.Fatalf("copy the disk: %v", err)
	}
	d.recording = &Recording{disk: d, before: before}
	return d.recording
}

// add appends an entry to the recording. The caller must hold the disk's lock.
func (r *Recording) add(op byte, offset int64, data []byte) {
	e := entry{offset: offset}
	if op == opWrite {
		e.data = slices.Clone(data)
	}
	r.entries = append(r.entries, e)
}

// Stop ends the recording.
func (r *Recording) Stop() {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	r.disk.recording = nil
}

// Len returns the number of writes and flushes so far, which is a position for Replay.
func (r *Recording) Len() int {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	return len(r.entries)
}

// Flushes returns the position after each flush.
func (r *Recording) Flushes() []int {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	var all []int
	for i, e := range r.entries {
		if e.data == nil {
			all = append(all, i+1)
		}
	}
	return all
}

// Replayer rebuilds the content of a disk at increasing positions of a recording. The recording must be stopped.
// Several replayers can be used concurrently.
type Replayer struct {
	r       *Recording
	flushed *os.File // content at the last flush
	at      int      // number of entries in flushed
	target  *Disk
}

// Replayer returns a replayer with its own disk. The disk has no file system until Replay is called.
func (r *Recording) Replayer(t testing.TB) *Replayer {
	t.Helper()
	p := &Replayer{r: r, target: NewPlain(t, r.disk.size)}
	p.target.kind = r.disk.kind
	var err error
	if p.flushed, err = newMemory(r.disk.size); err != nil {
		t.Fatalf("memory for a replayer: %v", err)
	}
	t.Cleanup(func() {
		if err := p.flushed.Close(); err != nil {
			t.Errorf("close the memory of a replayer: %v", err)
		}
	})
	if err := copyData(p.flushed, r.before, r.disk.size); err != nil {
		t.Fatalf("copy the disk: %v", err)
	}
	return p
}

// Replay writes to the replayer's disk what might be left after a power failure at a position of the recording: every
// write before the last flush, and a random selection of the writes since then, some of them torn between sectors. A
// later write may be present even if an earlier one is missing. If rng is nil, all writes are present. The disk must
// not be mounted.
func (re *Replayer) Replay(position int, rng *rand.Rand) (*Disk, error) {
	if position < re.at || position > len(re.r.entries) {
		return nil, errors.New("position before the previous one or after the end")
	}
	last := re.at
	for i := re.at; i < position; i++ {
		if re.r.entries[i].data == nil {
			last = i + 1
		}
	}
	for ; re.at < last; re.at++ {
		if err := re.r.entries[re.at].write(re.flushed); err != nil {
			return nil, err
		}
	}
	to := re.target
	if err := copyData(to.memory, re.flushed, to.size); err != nil {
		return nil, err
	}
	share := 1.0
	if rng != nil {
		share = rng.Float64()
	}
	for _, e := range re.r.entries[last:position] {
		if rng != nil {
			if rng.Float64() >= share {
				continue
			}
			if n := len(e.data) / sector; n > 1 && rng.IntN(4) == 0 {
				e = e.torn(rng.IntN(n), rng.IntN(n))
			}
		}
		if err := e.write(to.memory); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// torn returns the part of the write from sector a to sector b, inclusive. a and b can be in either order.
func (e entry) torn(a, b int) entry {
	from, to := min(a, b)*sector, (max(a, b)+1)*sector
	return entry{offset: e.offset + int64(from), data: e.data[from:to]}
}

func (e entry) write(to *os.File) error {
	if e.data == nil {
		return nil
	}
	_, err := to.WriteAt(e.data, e.offset)
	return err
}
