package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"deedkeep/app/blobstore"
)

// outputFile is an archive file being written to the tmp directory. Write encrypts the
// content if the archive is encrypted. The bytes written to the file are hashed and
// counted.
type outputFile struct {
	path    string
	file    *os.File
	hash    hash.Hash
	content io.WriteCloser
	size    int64 // number of bytes in the file
	closed  bool  // the content writer is closed
}

// TmpDir returns the directory for files being written. It creates the directory if
// needed. The next writer removes files that a crash left there.
func (a *Archive) TmpDir() (string, error) {
	dir := a.path(tmpDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", writeError(err)
	}
	return dir, checkFolder(dir)
}

func (a *Archive) newOutputFile(manifest bool) (*outputFile, error) {
	dir, err := a.TmpDir()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "*")
	if err != nil {
		return nil, writeError(err)
	}
	o := &outputFile{path: f.Name(), file: f, hash: sha256.New()}
	if o.content, err = a.format.newWriter(rawOutput{o}, manifest); err != nil {
		return nil, errors.Join(writeError(err), o.discard())
	}
	return o, nil
}

// rawOutput writes the bytes in the file.
type rawOutput struct{ o *outputFile }

func (r rawOutput) Write(p []byte) (int, error) {
	n, err := r.o.file.Write(p)
	r.o.hash.Write(p[:n])
	r.o.size += int64(n)
	return n, err
}

func (o *outputFile) Write(p []byte) (int, error) { return o.content.Write(p) }

// content describes the source of a file.
type content struct {
	digest blobstore.Digest
	size   int64
}

const chunkSize = 1 << 20

// copyFrom copies src to the file until src ends.
func (o *outputFile) copyFrom(ctx context.Context, src io.Reader, throttle func(context.Context)) (content, error) {
	c, err := copyAndHash(ctx, o, src, throttle)
	if err == nil {
		err = o.close()
	}
	return c, err
}

// compressFrom compresses src and writes it to the file until src ends.
func (o *outputFile) compressFrom(ctx context.Context, src io.Reader, throttle func(context.Context)) (content, error) {
	zip, err := zstd.NewWriter(o, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return content{}, err
	}
	c, err := copyAndHash(ctx, zip, src, throttle)
	if err = errors.Join(err, writeError(zip.Close())); err == nil {
		err = o.close()
	}
	return c, err
}

func copyAndHash(ctx context.Context, dst io.Writer, src io.Reader, throttle func(context.Context)) (content, error) {
	var c content
	h := sha256.New()
	chunk := make([]byte, chunkSize)
	for {
		throttle(ctx)
		if err := ctx.Err(); err != nil {
			return c, err
		}
		n, err := io.ReadFull(src, chunk)
		h.Write(chunk[:n])
		c.size += int64(n)
		if _, err := dst.Write(chunk[:n]); err != nil {
			return c, writeError(err)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			c.digest = blobstore.Digest(h.Sum(nil))
			return c, nil
		}
		if err != nil {
			return c, fmt.Errorf("%w: %w", ErrSourceDamaged, err)
		}
	}
}

// close writes the end of the content. It doesn't close the file.
func (o *outputFile) close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	return writeError(o.content.Close())
}

func (o *outputFile) sum() string { return hex.EncodeToString(o.hash.Sum(nil)) }

// sync makes the file durable and closes it.
func (o *outputFile) sync() error {
	f := o.file
	if f == nil {
		return nil
	}
	o.file = nil
	return errors.Join(f.Sync(), f.Close())
}

// discard closes and removes the file.
func (o *outputFile) discard() error {
	var err error
	if o.file != nil {
		err = o.file.Close()
		o.file = nil
	}
	if removeErr := os.Remove(o.path); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}
