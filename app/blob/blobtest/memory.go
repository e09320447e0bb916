package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"deedkeep/app/blob"
)

// Memory is an engine in memory. It shows that app/blobstore needs nothing of the local disk that isn't in blob.Engine.
type Memory struct {
	mu    sync.Mutex
	blobs map[blob.Digest]memoryBlob
	puts  uint64
}

type memoryBlob struct {
	content []byte
	state   blob.State
}

type memoryReader struct {
	*bytes.Reader
	state blob.State
}

func (r memoryReader) State() (blob.State, error) { return r.state, nil }

func (r memoryReader) Uncache() {}

func (r memoryReader) Close() error { return nil }

// Put implements blob.Engine.
func (m *Memory) Put(_ context.Context, d blob.Digest, path string) error {
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs == nil {
		m.blobs = map[blob.Digest]memoryBlob{}
	}
	m.puts++
	m.blobs[d] = memoryBlob{content, blob.State{Size: int64(len(content)), Modified: 1, Version: [3]uint64{m.puts}}}
	return nil
}

// Sync implements blob.Engine.
func (m *Memory) Sync(ctx context.Context, digests ...blob.Digest) error {
	var err error
	for _, d := range digests {
		_, missing := m.Stat(ctx, d)
		err = errors.Join(err, missing)
	}
	return err
}

func (m *Memory) find(d blob.Digest) (memoryBlob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, found := m.blobs[d]; found {
		return b, nil
	}
	return memoryBlob{}, fmt.Errorf("blob %s: %w", d, fs.ErrNotExist)
}

// Open implements blob.Engine.
func (m *Memory) Open(_ context.Context, d blob.Digest) (blob.Reader, error) {
	b, err := m.find(d)
	if err != nil {
		return nil, err
	}
	return memoryReader{bytes.NewReader(b.content), b.state}, nil
}

// Stat implements blob.Engine.
func (m *Memory) Stat(_ context.Context, d blob.Digest) (blob.State, error) {
	b, err := m.find(d)
	return b.state, err
}

// Delete implements blob.Engine.
func (m *Memory) Delete(ctx context.Context, d blob.Digest) error {
	_, err := m.Stat(ctx, d)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, d)
	return err
}

// List implements blob.Engine.
func (m *Memory) List(ctx context.Context, visit func(blob.Entry) error, _ func(string) error) error {
	m.mu.Lock()
	digests := slices.SortedFunc(maps.Keys(m.blobs), func(a, b blob.Digest) int { return bytes.Compare(a[:], b[:]) })
	m.mu.Unlock()
	for _, d := range digests {
		if err := ctx.Err(); err != nil {
			return err
		}
		state, err := m.Stat(ctx, d)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = visit(blob.Entry{Digest: d, Size: state.Size})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
