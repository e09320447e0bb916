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
)

// output is a file of the archive on its way: sealed, summed and counted as it is
// written to tmp.
type output struct {
	path string
	file *os.File
	hash hash.Hash
	seal io.WriteCloser
	size int64 // bytes in the file
	done bool  // the seal is closed
}

// TmpDir is the directory of what is being written, created where it is missing. What a
// crash leaves there, the next Session removes.
func (a *Archive) TmpDir() (string, error) {
	dir := a.path(tmpDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", wrote(err)
	}
	return dir, ownFolder(dir)
}

func (a *Archive) newOutput(manifest bool) (*output, error) {
	dir, err := a.TmpDir()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "*")
	if err != nil {
		return nil, wrote(err)
	}
	o := &output{path: f.Name(), file: f, hash: sha256.New()}
	if o.seal, err = a.form.seal(o.raw(), manifest); err != nil {
		return nil, errors.Join(wrote(err), o.drop())
	}
	return o, nil
}

// raw is the file itself, beneath the seal.
func (o *output) raw() io.Writer { return rawOutput{o} }

type rawOutput struct{ o *output }

func (r rawOutput) Write(p []byte) (int, error) {
	n, err := r.o.file.Write(p)
	r.o.hash.Write(p[:n])
	r.o.size += int64(n)
	return n, err
}

func (o *output) Write(p []byte) (int, error) { return o.seal.Write(p) }

// content is what was read while a file was made.
type content struct {
	digest Digest
	size   int64
}

const pieceSize = 1 << 20

// fill takes src to its end.
func (o *output) fill(ctx context.Context, src io.Reader, pace func(context.Context)) (content, error) {
	c, err := pour(ctx, o, src, pace)
	if err == nil {
		err = o.close()
	}
	return c, err
}

// pack takes src to its end, compressed.
func (o *output) pack(ctx context.Context, src io.Reader, pace func(context.Context)) (content, error) {
	zip, err := zstd.NewWriter(o, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return content{}, err
	}
	c, err := pour(ctx, zip, src, pace)
	if err = errors.Join(err, wrote(zip.Close())); err == nil {
		err = o.close()
	}
	return c, err
}

func pour(ctx context.Context, dst io.Writer, src io.Reader, pace func(context.Context)) (content, error) {
	var c content
	h := sha256.New()
	piece := make([]byte, pieceSize)
	for {
		pace(ctx)
		if err := ctx.Err(); err != nil {
			return c, err
		}
		n, err := io.ReadFull(src, piece)
		h.Write(piece[:n])
		c.size += int64(n)
		if _, err := dst.Write(piece[:n]); err != nil {
			return c, wrote(err)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			c.digest = Digest(h.Sum(nil))
			return c, nil
		}
		if err != nil {
			return c, fmt.Errorf("%w: %w", ErrSourceDamaged, err)
		}
	}
}

// close ends the seal; nothing can be written after it.
func (o *output) close() error {
	if o.done {
		return nil
	}
	o.done = true
	return wrote(o.seal.Close())
}

func (o *output) sum() string { return hex.EncodeToString(o.hash.Sum(nil)) }

// sync makes the file durable and closes it.
func (o *output) sync() error {
	f := o.file
	if f == nil {
		return nil
	}
	o.file = nil
	return errors.Join(f.Sync(), f.Close())
}

// drop removes the file, wherever it got to.
func (o *output) drop() error {
	var err error
	if o.file != nil {
		err = o.file.Close()
		o.file = nil
	}
	if gone := os.Remove(o.path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
