package blobstore

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"
	"sync/atomic"

	"deedkeep/app/blob/disk"
)

const (
	chunkSize         = 256 << 10 // files up to this size are staged without goroutines
	maxChunks         = 4         // per upload, to limit memory to 1 MiB for a file of any size
	writeBackInterval = 8 << 20   // bytes between two calls of File.WriteBack
	maxEmptyReads     = 100       // consecutive reads without data or error before giving up, as in bufio
)

// chunk is a buffer that passes through a pipeline. It can be reused after both the
// hashing and the writing goroutine have released it.
type chunk struct {
	data [chunkSize]byte
	n    int
	refs atomic.Int32
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func newChunk() *chunk { return chunks.Get().(*chunk) }

func (c *chunk) bytes() []byte { return c.data[:c.n] }

// fill reads from r until the chunk is full or r ends. end reports whether r has ended.
func (c *chunk) fill(ctx context.Context, r io.Reader) (end bool, err error) {
	c.n = 0
	for empty := 0; c.n < chunkSize; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := r.Read(c.data[c.n:])
		c.n += n
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, sourceError(err)
		case n > 0:
			empty = 0
		default:
			if empty++; empty == maxEmptyReads {
				return false, sourceError(io.ErrNoProgress)
			}
		}
	}
	return false, nil
}

// pipeline reads, hashes, and writes one file concurrently. The caller reads into chunks,
// one goroutine hashes them, and another one writes them.
type pipeline struct {
	file        disk.File
	hash, write chan *chunk
	free        chan *chunk
	allocated   int // number of chunks taken from the pool
	failed      atomic.Bool
	wg          sync.WaitGroup

	// Set by the goroutines. Valid after finish.
	digest Digest
	err    error
}

// startPipeline starts the goroutines. The caller has already filled one chunk.
func startPipeline(f disk.File) *pipeline {
	p := &pipeline{
		file: f, allocated: 1,
		hash:  make(chan *chunk, maxChunks),
		write: make(chan *chunk, maxChunks),
		free:  make(chan *chunk, maxChunks),
	}
	p.wg.Go(p.hashAll)
	p.wg.Go(p.writeAll)
	return p
}

// next returns a chunk to read into. It waits for a free chunk if necessary.
func (p *pipeline) next() *chunk {
	select {
	case c := <-p.free:
		return c
	default:
	}
	if p.allocated < maxChunks {
		p.allocated++
		return newChunk()
	}
	return <-p.free
}

func (p *pipeline) send(c *chunk) {
	c.refs.Store(2)
	p.hash <- c
	p.write <- c
}

func (p *pipeline) done(c *chunk) {
	if c.refs.Add(-1) == 0 {
		p.free <- c
	}
}

// finish waits for both goroutines. send must not be called after it.
func (p *pipeline) finish() {
	close(p.hash)
	close(p.write)
	p.wg.Wait()
	for range len(p.free) {
		chunks.Put(<-p.free)
	}
}

func (p *pipeline) hashAll() {
	h := sha256.New()
	for c := range p.hash {
		h.Write(c.bytes())
		p.done(c)
	}
	h.Sum(p.digest[:0])
}

func (p *pipeline) writeAll() {
	var written, hinted int64
	for c := range p.write {
		// After a failure, continue to receive chunks so that the reader never blocks.
		if p.err == nil {
			if _, p.err = p.file.Write(c.bytes()); p.err != nil {
				p.failed.Store(true)
			}
			written += int64(c.n)
		}
		p.done(c)
		if p.err == nil && written-hinted >= writeBackInterval {
			p.file.WriteBack(hinted, written-hinted)
			hinted = written
		}
	}
}
