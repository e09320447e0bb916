package blobstore

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"
	"sync/atomic"
)

const (
	chunkSize = 256 << 10 // up to this size a file is staged without goroutines
	chunksMax = 4         // of one upload: 1 MiB of memory, however large the file
	writeBack = 8 << 20   // bytes between two hints to start writing
	idleReads = 100       // reads without bytes or error before we give up, as in bufio
)

// chunk is a buffer on its way through a pipeline; it is free again when both
// the hashing and the writing goroutine are done with it.
type chunk struct {
	data  [chunkSize]byte
	n     int
	users atomic.Int32
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func newChunk() *chunk { return chunks.Get().(*chunk) }

func (c *chunk) bytes() []byte { return c.data[:c.n] }

// fill reads until the chunk is full or r is at its end.
func (c *chunk) fill(ctx context.Context, r io.Reader) (end bool, err error) {
	c.n = 0
	for idle := 0; c.n < chunkSize; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := r.Read(c.data[c.n:])
		c.n += n
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, source(err)
		case n > 0:
			idle = 0
		default:
			if idle++; idle == idleReads {
				return false, source(io.ErrNoProgress)
			}
		}
	}
	return false, nil
}

// pipeline lets reading, hashing and writing of one file overlap: the caller
// reads into chunks, one goroutine hashes them, one writes them.
type pipeline struct {
	file        File
	hash, write chan *chunk
	free        chan *chunk
	made        int // chunks taken from the pool
	failed      atomic.Bool
	wg          sync.WaitGroup

	// Set by the goroutines, read after finish.
	digest Digest
	err    error
}

// startPipeline begins with the chunk that the caller has filled already.
func startPipeline(f File) *pipeline {
	p := &pipeline{
		file: f, made: 1,
		hash:  make(chan *chunk, chunksMax),
		write: make(chan *chunk, chunksMax),
		free:  make(chan *chunk, chunksMax),
	}
	p.wg.Go(p.hashAll)
	p.wg.Go(p.writeAll)
	return p
}

// next waits for a chunk to read into.
func (p *pipeline) next() *chunk {
	select {
	case c := <-p.free:
		return c
	default:
	}
	if p.made < chunksMax {
		p.made++
		return newChunk()
	}
	return <-p.free
}

func (p *pipeline) send(c *chunk) {
	c.users.Store(2)
	p.hash <- c
	p.write <- c
}

func (p *pipeline) done(c *chunk) {
	if c.users.Add(-1) == 0 {
		p.free <- c
	}
}

// finish waits for both goroutines; no send may follow.
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
	var written, started int64
	for c := range p.write {
		// After a failure chunks still flow, so that the reader never waits.
		if p.err == nil {
			if _, p.err = p.file.Write(c.bytes()); p.err != nil {
				p.failed.Store(true)
			}
			written += int64(c.n)
		}
		p.done(c)
		if p.err == nil && written-started >= writeBack {
			p.file.WriteBack(started, written-started)
			started = written
		}
	}
}
