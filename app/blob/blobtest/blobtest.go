// Package blobtest tests engines of app/blob: every engine has to pass Run.
package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"deedkeep/app/blob"
)

// Open opens an empty engine that takes files from the folder tmp.
type Open func(t *testing.T, tmp string) blob.Engine

// Run tests an engine.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, blob.Engine, string){
		"read": testRead, "replace": testReplace, "missing": testMissing, "list": testList, "same file": testSameFile,
		"failed put": testFailedPut, "concurrent": testConcurrent,
	} {
		t.Run(name, func(t *testing.T) {
			tmp := filepath.Join(t.TempDir(), "tmp")
			test(t, open(t, tmp), tmp)
		})
	}
}

// write writes a file for Put and returns its path.
func write(t *testing.T, tmp string, content []byte) string {
	t.Helper()
	f, err := os.CreateTemp(tmp, "*")
	if err == nil {
		_, err = f.Write(content)
		err = errors.Join(err, f.Chmod(0o400), f.Close())
	}
	if err != nil {
		t.Fatalf("write %d bytes: %v", len(content), err)
	}
	return f.Name()
}

// put puts content as the blob of its digest.
func put(t *testing.T, e blob.Engine, tmp string, content []byte) blob.Digest {
	t.Helper()
	d, path := blob.Digest(sha256.Sum256(content)), write(t, tmp, content)
	if err := errors.Join(e.Put(t.Context(), d, path), e.Sync(t.Context(), d)); err != nil {
		t.Fatalf("Put and Sync: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file after Put: %v, want %v", err, fs.ErrNotExist)
	}
	return d
}

// openBlob opens a blob until the end of the test.
func openBlob(t *testing.T, e blob.Engine, d blob.Digest) (blob.Reader, blob.State) {
	t.Helper()
	r, err := e.Open(t.Context(), d)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	state, err := r.State()
	if err != nil {
		t.Fatalf("State: %v", err)
	}
	return r, state
}

func testRead(t *testing.T, e blob.Engine, tmp string) {
	for _, content := range [][]byte{nil, []byte("a deed"), bytes.Repeat([]byte("0123456789"), 30_000)} {
		d := put(t, e, tmp, content)
		r, state := openBlob(t, e, d)
		r.Uncache()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
			t.Errorf("ReadAll() = %d bytes, %v; want %d", len(got), err, len(content))
		}
		size, err := r.Seek(0, io.SeekEnd)
		if err != nil || size != int64(len(content)) || state.Size != size {
			t.Errorf("end = %d, %v, size in State() = %d; want %d", size, err, state.Size, len(content))
		}
		p := make([]byte, 4)
		if n, err := r.ReadAt(p, 2); len(content) > 6 && (err != nil || !bytes.Equal(p[:n], content[2:6])) {
			t.Errorf("ReadAt(2) = %q, %v; want %q", p[:n], err, content[2:6])
		}
		if n, err := r.ReadAt(p, size); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("ReadAt at the end = %d, %v; want 0, EOF", n, err)
		}
		stat, err := e.Stat(t.Context(), d)
		if err != nil || stat.Size != size || stat.Modified != state.Modified || stat.Modified == 0 {
			t.Errorf("Stat() = %+v, %v; want the size and time of %+v", stat, err, state)
		}
		if again, err := r.State(); err != nil || again != state {
			t.Errorf("State() after reading = %+v, %v; want %+v", again, err, state)
		}
	}
}

// testReplace checks that a damaged blob can be replaced, and that open readers don't notice it.
func testReplace(t *testing.T, e blob.Engine, tmp string) {
	content := []byte("intact")
	d := blob.Digest(sha256.Sum256(content))
	if err := e.Put(t.Context(), d, write(t, tmp, []byte("damage"))); err != nil {
		t.Fatalf("Put: %v", err)
	}
	old, before := openBlob(t, e, d)
	err := e.Put(t.Context(), d, write(t, tmp, content))
	if errors.Is(err, blob.ErrInUse) {
		return // the engine says that it can't replace an open blob
	}
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	r, after := openBlob(t, e, d)
	if got, err := io.ReadAll(r); err != nil || string(got) != "intact" {
		t.Errorf("ReadAll() of the new blob = %q, %v", got, err)
	}
	if got, err := io.ReadAll(old); err != nil || string(got) != "damage" {
		t.Errorf("ReadAll() of the old blob = %q, %v", got, err)
	}
	if before == after {
		t.Errorf("State() = %+v for both blobs, want two states", after)
	}
}

func testMissing(t *testing.T, e blob.Engine, tmp string) {
	d := put(t, e, tmp, []byte("deleted"))
	if err := e.Delete(t.Context(), d); err != nil {
		t.Fatalf("Delete: %v", err)
	}
	_, openErr := e.Open(t.Context(), d)
	_, statErr := e.Stat(t.Context(), d)
	for name, err := range map[string]error{"Open": openErr, "Stat": statErr, "Delete": e.Delete(t.Context(), d)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of a deleted blob = %v, want %v", name, err, fs.ErrNotExist)
		}
	}
}

func testList(t *testing.T, e blob.Engine, tmp string) {
	want := []blob.Entry{}
	for i := range 20 {
		content := bytes.Repeat([]byte("x"), i)
		want = append(want, blob.Entry{Digest: put(t, e, tmp, content), Size: int64(i)})
	}
	slices.SortFunc(want, func(a, b blob.Entry) int { return bytes.Compare(a.Digest[:], b.Digest[:]) })
	got := []blob.Entry{}
	err := e.List(t.Context(), func(entry blob.Entry) error { got = append(got, entry); return nil }, nil)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("List() = %v, %v; want %v", got, err, want)
	}
	stop := errors.New("stop")
	if err := e.List(t.Context(), func(blob.Entry) error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("List() = %v, want %v", err, stop)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.List(ctx, func(blob.Entry) error { return nil }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("List() = %v, want %v", err, context.Canceled)
	}
}

// testSameFile puts another name of a file that is a blob already, as an upload does that is committed twice.
func testSameFile(t *testing.T, e blob.Engine, tmp string) {
	content := []byte("linked")
	d, path, link := blob.Digest(sha256.Sum256(content)), write(t, tmp, content), filepath.Join(tmp, "link")
	if err := os.Link(path, link); err != nil {
		t.Fatalf("os.Link: %v", err)
	}
	for _, name := range []string{path, link} {
		if err := e.Put(t.Context(), d, name); err != nil {
			t.Fatalf("Put: %v", err)
		}
	}
	r, _ := openBlob(t, e, d)
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
		t.Errorf("ReadAll() = %q, %v; want %q", got, err, content)
	}
}

func testFailedPut(t *testing.T, e blob.Engine, tmp string) {
	d := put(t, e, tmp, []byte("kept"))
	if err := e.Put(t.Context(), d, filepath.Join(tmp, "missing")); err == nil {
		t.Error("Put() of a missing file = nil, want an error")
	}
	if state, err := e.Stat(t.Context(), d); err != nil || state.Size != 4 {
		t.Errorf("Stat() after a failed Put = %+v, %v; want 4 bytes", state, err)
	}
}

func testConcurrent(t *testing.T, e blob.Engine, tmp string) {
	var wg sync.WaitGroup
	for i := range 8 {
		path, same := write(t, tmp, []byte(strconv.Itoa(i))), write(t, tmp, []byte("same"))
		wg.Go(func() {
			own, shared := blob.Digest(sha256.Sum256([]byte(strconv.Itoa(i)))), blob.Digest(sha256.Sum256([]byte("same")))
			err := errors.Join(e.Put(t.Context(), own, path), e.Put(t.Context(), shared, same), e.Sync(t.Context(), own, shared))
			if err != nil {
				t.Errorf("Put and Sync: %v", err)
			}
			if state, err := e.Stat(t.Context(), shared); err != nil || state.Size != 4 {
				t.Errorf("Stat() = %+v, %v; want 4 bytes", state, err)
			}
		})
	}
	wg.Wait()
}
