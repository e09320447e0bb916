package server_test

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"deedkeep/app/apitypes"
)

func keyDraft(n int) apitypes.KeyCreate { return apitypes.KeyCreate{Name: fmt.Sprintf("maker %d", n)} }

// once tells when something was read for the first time.
type once struct {
	read chan struct{}
	once sync.Once
}

func newOnce() *once { return &once{read: make(chan struct{})} }

func (o *once) tell(r io.Reader) io.Reader { return tellingReader{r, o} }

type tellingReader struct {
	io.Reader
	o *once
}

func (t tellingReader) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.o.once.Do(func() { close(t.o.read) })
	return n, err
}

// waitFor polls a condition that has no notification.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for !holds() {
		if time.Now().After(end) {
			t.Fatal("it did not happen in ten seconds")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
