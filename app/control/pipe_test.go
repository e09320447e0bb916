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

func TestPipeHoldsWhatIsWritten(t *testing.T) {
	near, far := pipe()
	for _, end := range []net.Conn{near, far} { // Both write before either reads.
		if n, err := end.Write(make([]byte, pipeBuffer)); n != pipeBuffer || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if err := near.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := near.Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("over the room: %d, %v", n, err)
	}
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(far); len(all) != pipeBuffer || err != nil {
		t.Errorf("after Close: %d bytes, %v", len(all), err)
	}
	if _, err := far.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write to a closed end: %v", err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read of a closed end: %v", err)
	}
	if err := near.SetDeadline(time.Time{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("deadline of a closed end: %v", err)
	}
}

func TestPipeCarriesMoreThanItHolds(t *testing.T) {
	near, far := pipe()
	sent := bytes.Repeat([]byte("deed"), pipeBuffer)
	done := make(chan error, 1)
	go func() {
		_, err := near.Write(sent)
		done <- errors.Join(err, near.Close())
	}()
	got, err := io.ReadAll(far)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestPipeDeadlines(t *testing.T) {
	near, far := pipe()
	if err := near.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past deadline: %v", err)
	}
	var late net.Error
	_, err := near.Read(make([]byte, 1))
	if !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("%v is no timeout", err)
	}
	if err := near.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("deadline to come: %v", err)
	}
	if err := near.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := near.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("without deadline: %d, %v", n, err)
	}
}

// A waiting read ends when a deadline is set or the pipe is closed; http.Server needs both.
func TestPipeWakesAReader(t *testing.T) {
	for name, wake := range map[string]func(near, far net.Conn) error{
		"own close":   func(near, _ net.Conn) error { return near.Close() },
		"their close": func(_, far net.Conn) error { return far.Close() },
		"deadline":    func(near, _ net.Conn) error { return near.SetReadDeadline(time.Unix(1, 0)) },
	} {
		near, far := pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := near.Read(make([]byte, 1))
			ended <- err
		}()
		if err := wake(near, far); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: the read succeeded", name)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the read goes on", name)
		}
	}
}
