package control

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// MemoryListener is a listener for clients in the same process. Commands that open the vault themselves use it. Other
// processes can't connect, so it needs no port, file, or token.
type MemoryListener struct {
	calls  chan net.Conn
	done   chan struct{}
	closed sync.Once
}

// ListenMemory returns an in-memory listener. Close stops it.
func ListenMemory() *MemoryListener {
	return &MemoryListener{calls: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next Dial. It returns net.ErrClosed after Close.
func (m *MemoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-m.calls:
		return conn, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Dial waits until the connection is accepted. It returns ErrNoServer if the listener is closed. If ctx ends first,
// it returns the error of ctx.
func (m *MemoryListener) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.calls <- far:
		return near, nil
	case <-m.done:
		return nil, ErrNoServer
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// RoundTripper returns a transport that sends HTTP requests for BaseURL to this listener.
func (m *MemoryListener) RoundTripper() http.RoundTripper { return newHTTPTransport(m.Dial) }

// Close ends Accept and Dial. Accepted connections stay open. A second Close returns net.ErrClosed.
func (m *MemoryListener) Close() error {
	err := net.ErrClosed
	m.closed.Do(func() {
		close(m.done)
		err = nil
	})
	return err
}

// Addr returns the address "memory" of the network "memory".
func (m *MemoryListener) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }
