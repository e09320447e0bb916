package control

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// MemoryListener is a listener whose callers are in the same process: the door of a command that opened the vault
// itself. No other process can reach it, and it needs no port, file or token.
type MemoryListener struct {
	calls  chan net.Conn
	done   chan struct{}
	closed sync.Once
}

// ListenMemory opens a listener in memory; Close stops it.
func ListenMemory() *MemoryListener {
	return &MemoryListener{calls: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next Dial; net.ErrClosed after Close.
func (m *MemoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-m.calls:
		return conn, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Dial waits until the connection is accepted; it gives ErrNoServer after Close and the context's error when that ends.
func (m *MemoryListener) Dial(ctx context.Context) (net.Conn, error) {
	near, far := pipe()
	select {
	case m.calls <- far:
		return near, nil
	case <-m.done:
		return nil, ErrNoServer
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// RoundTripper speaks HTTP, at BaseURL, to whoever serves this listener.
func (m *MemoryListener) RoundTripper() http.RoundTripper { return newHTTPTransport(m.Dial) }

// Close ends Accept and Dial; connections that were accepted live on. A second Close gives net.ErrClosed.
func (m *MemoryListener) Close() error {
	err := net.ErrClosed
	m.closed.Do(func() {
		close(m.done)
		err = nil
	})
	return err
}

// Addr is the address `memory` of the network `memory`.
func (m *MemoryListener) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }
