package control

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

func TestPipeBuffersWrites(t *testing.T) {
	near, far := pipe()
	for _, end := range []net.Conn{near, far} { // both ends write before either reads
		if n, err := end.Write(make([]byte, pipeBuffer)); n != pipeBuffer || err != nil {
			t.Fatalf("Write = %d, %v, want %d", n, err, pipeBuffer)
		}
	}
	if err := near.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatalf("set write deadline: %v", err)
	}
	if n, err := near.Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write to a full buffer = %d, %v, want 0, %v", n, err, os.ErrDeadlineExceeded)
	}
	if err := near.Close(); err != nil {
		t.Fatalf("close near end: %v", err)
	}
	if all, err := io.ReadAll(far); len(all) != pipeBuffer || err != nil {
		t.Errorf("read after Close: got %d bytes, %v, want %d", len(all), err, pipeBuffer)
	}
	if _, err := far.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write after the other end closed = %v, want %v", err, io.ErrClosedPipe)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Read after Close = %v, want %v", err, io.ErrClosedPipe)
	}
	if err := near.SetDeadline(time.Time{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("SetDeadline after Close = %v, want %v", err, io.ErrClosedPipe)
	}
}

func TestPipeWritesMoreThanItsBuffer(t *testing.T) {
	near, far := pipe()
	sent := bytes.Repeat([]byte("deed"), pipeBuffer)
	done := make(chan error, 1)
	go func() {
		_, err := near.Write(sent)
		done <- errors.Join(err, near.Close())
	}()
	got, err := io.ReadAll(far)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("read %d bytes, %v, want the %d bytes written", len(got), err, len(sent))
	}
	if err := <-done; err != nil {
		t.Errorf("write and close: %v", err)
	}
}

func TestPipeDeadlines(t *testing.T) {
	near, far := pipe()
	if err := near.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatalf("set past read deadline: %v", err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read with a past deadline = %v, want %v", err, os.ErrDeadlineExceeded)
	}
	var late net.Error
	_, err := near.Read(make([]byte, 1))
	if !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("second Read with a past deadline = %v, want a timeout", err)
	}
	if err := near.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatalf("set read deadline: %v", err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read with a future deadline = %v, want %v", err, os.ErrDeadlineExceeded)
	}
	if err := near.SetReadDeadline(time.Time{}); err != nil {
		t.Fatalf("clear read deadline: %v", err)
	}
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatalf("write: %v", err)
	}
	if n, err := near.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("Read without a deadline = %d, %v, want 1", n, err)
	}
}

// A blocked read returns when a deadline is set or the pipe is closed. http.Server needs both.
func TestPipeUnblocksReader(t *testing.T) {
	for name, unblock := range map[string]func(near, far net.Conn) error{
		"own close":         func(near, _ net.Conn) error { return near.Close() },
		"other end's close": func(_, far net.Conn) error { return far.Close() },
		"deadline":          func(near, _ net.Conn) error { return near.SetReadDeadline(time.Unix(1, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pipe()
			ended := make(chan error, 1)
			go func() {
				_, err := near.Read(make([]byte, 1))
				ended <- err
			}()
			if err := unblock(near, far); err != nil {
				t.Fatalf("unblock: %v", err)
			}
			select {
			case err := <-ended:
				if err == nil {
					t.Error("Read succeeded, want an error")
				}
			case <-time.After(10 * time.Second):
				t.Fatal("Read still waits after 10 s")
			}
		})
	}
}
