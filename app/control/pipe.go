package control

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeBuffer is the number of bytes that can be buffered in one direction before writes block.
const pipeBuffer = 64 << 10

// pipe returns the two ends of an in-memory connection. Unlike net.Pipe, it buffers writes, so there is no deadlock
// if both sides write first.
func pipe() (near, far net.Conn) {
	there, back := newStream(), newStream()
	return &pipeEnd{in: back, out: there}, &pipeEnd{in: there, out: back}
}

type pipeEnd struct {
	in, out *stream
}

func (e *pipeEnd) Read(p []byte) (int, error)  { return e.in.read(p) }
func (e *pipeEnd) Write(p []byte) (int, error) { return e.out.write(p) }

// Close closes this end. The other end can still read the bytes that were written before. After that, its reads
// return io.EOF. Its writes return io.ErrClosedPipe.
func (e *pipeEnd) Close() error {
	e.out.closeWriter()
	e.in.closeReader()
	return nil
}

func (e *pipeEnd) LocalAddr() net.Addr  { return memoryAddr{} }
func (e *pipeEnd) RemoteAddr() net.Addr { return memoryAddr{} }

func (e *pipeEnd) SetDeadline(t time.Time) error {
	return errors.Join(e.SetReadDeadline(t), e.SetWriteDeadline(t))
}
func (e *pipeEnd) SetReadDeadline(t time.Time) error  { return e.in.setDeadline(&e.in.reader, t) }
func (e *pipeEnd) SetWriteDeadline(t time.Time) error { return e.out.setDeadline(&e.out.writer, t) }

// stream is one direction of a pipe. It is a bounded buffer between a writer and a reader.
type stream struct {
	mu             sync.Mutex
	changed        *sync.Cond
	data           []byte
	reader, writer side
}

type side struct {
	closed, expired bool
	timer           *time.Timer
}

func newStream() *stream {
	s := new(stream)
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.reader.closed:
			return 0, io.ErrClosedPipe
		case s.reader.expired:
			return 0, os.ErrDeadlineExceeded
		case len(s.data) > 0:
			n := copy(p, s.data)
			s.data = s.data[n:]
			s.changed.Broadcast()
			return n, nil
		case s.writer.closed:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for {
		switch {
		case s.writer.closed || s.reader.closed:
			return written, io.ErrClosedPipe
		case s.writer.expired:
			return written, os.ErrDeadlineExceeded
		case written == len(p):
			return written, nil
		case len(s.data) < pipeBuffer:
			part := p[written:min(len(p), written+pipeBuffer-len(s.data))]
			s.data = append(s.data, part...)
			written += len(part)
			s.changed.Broadcast()
			if written == len(p) {
				return written, nil
			}
			continue
		}
		s.changed.Wait()
	}
}

func (s *stream) closeWriter() { s.close(&s.writer) }

func (s *stream) closeReader() { s.close(&s.reader) }

func (s *stream) close(which *side) {
	s.mu.Lock()
	defer s.mu.Unlock()
	which.closed = true
	which.stopTimer()
	s.changed.Broadcast()
}

func (s *stream) setDeadline(which *side, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if which.closed {
		return io.ErrClosedPipe
	}
	which.stopTimer()
	wait := time.Until(t)
	which.expired = !t.IsZero() && wait <= 0
	if !t.IsZero() && wait > 0 {
		which.timer = s.alarm(which, wait)
	}
	s.changed.Broadcast()
	return nil
}

// alarm marks the side as late after wait unless its deadline has changed by then.
func (s *stream) alarm(which *side, wait time.Duration) *time.Timer {
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		s.mu.Lock() // setDeadline holds the lock until timer is assigned
		defer s.mu.Unlock()
		if which.timer == timer {
			which.expired = true
			s.changed.Broadcast()
		}
	})
	return timer
}

func (w *side) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}
