//go:build root && linux

package blockdev

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// sector is what a disk writes completely or not at all.
const sector = 512

// Recording is every write and flush of a disk since Record, in their order.
type Recording struct {
	disk    *Disk
	before  *os.File // what the disk held
	entries []entry
}

// entry is a write, or a flush when it has no data.
type entry struct {
	offset int64
	data   []byte
}

// Record begins a recording; a disk has one at a time.
func (d *Disk) Record(t testing.TB) *Recording {
	t.Helper()
	before, err := newMemory(d.size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := before.Close(); err != nil {
			t.Error(err)
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

// add is called with the disk's lock held.
func (r *Recording) add(what byte, offset int64, data []byte) {
	e := entry{offset: offset}
	if what == opWrite {
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

// Len is how many writes and flushes there are so far: a moment to cut the power at.
func (r *Recording) Len() int {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	return len(r.entries)
}

// Flushes are the moments right after each flush.
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

// Replayer rebuilds what the disk held at moments of its recording, each later than the
// one before. It may be used after the end of the recording, several at the same time.
type Replayer struct {
	r       *Recording
	flushed *os.File // what was certainly there at the last flush
	at      int      // entries in it
	target  *Disk
}

// Replayer gives a player with a disk of its own, without a file system until Play.
func (r *Recording) Replayer(t testing.TB) *Replayer {
	t.Helper()
	p := &Replayer{r: r, target: NewPlain(t, r.disk.size)}
	p.target.kind = r.disk.kind
	var err error
	if p.flushed, err = newMemory(r.disk.size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.flushed.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := copyData(p.flushed, r.before, r.disk.size); err != nil {
		t.Fatal(err)
	}
	return p
}

// Replay puts on the player's disk, which must not be mounted, what a power failure after
// the first moment entries leaves: all that was written before the last flush, and of
// the writes since a choice by chance, some torn at a sector: so a later one may be
// there while an earlier one is not. Without chance all writes are there.
func (p *Replayer) Replay(moment int, chance *rand.Rand) (*Disk, error) {
	if moment < p.at || moment > len(p.r.entries) {
		return nil, errors.New("no moment that lies ahead")
	}
	last := p.at
	for i := p.at; i < moment; i++ {
		if p.r.entries[i].data == nil {
			last = i + 1
		}
	}
	for ; p.at < last; p.at++ {
		if err := p.r.entries[p.at].write(p.flushed); err != nil {
			return nil, err
		}
	}
	to := p.target
	if err := copyData(to.memory, p.flushed, to.size); err != nil {
		return nil, err
	}
	share := 1.0
	if chance != nil {
		share = chance.Float64()
	}
	for _, e := range p.r.entries[last:moment] {
		if chance != nil {
			if chance.Float64() >= share {
				continue
			}
			if n := len(e.data) / sector; n > 1 && chance.IntN(4) == 0 {
				e = e.torn(chance.IntN(n), chance.IntN(n))
			}
		}
		if err := e.write(to.memory); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// torn is the write without its sectors before one and from another on.
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
