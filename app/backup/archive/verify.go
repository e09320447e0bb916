package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// VerifyReport is what a Verify went through. Findings is damage; Orphans are files that no
// snapshot names, Leftovers what a writer that was cut off has left: neither is.
type VerifyReport struct {
	Snapshots, Blobs   int
	Bytes              int64 // read, as they lie there
	Orphans, Leftovers int
	Findings           []Finding
	// NotDecrypted: the bytes were held against their sums; what is inside could not be
	// looked at, because no passphrase or identity was given.
	NotDecrypted bool
}

// Finding is one damage: of what kind ("snapshot", "document", "database", "key"),
// which one, and what is wrong with it.
type Finding struct{ Kind, Subject, Problem string }

// Verify reads every byte of one snapshot (a name or Latest), or of all when name is
// "". The error is about the verification, never about what it found.
func (a *Archive) Verify(ctx context.Context, name string, progress func(done, total int64)) (VerifyReport, error) {
	v := &verifier{a: a, ctx: ctx, progress: progress, named: map[string]bool{}, seen: map[string]bool{}}
	release, err := a.LockForReading()
	if err != nil {
		return v.r, err
	}
	defer release()
	if err := a.Unlock(); err != nil {
		v.r.NotDecrypted = true
		if a.opts.Decryption != (Decryption{}) || !errors.Is(err, ErrDecrypt) {
			v.find("key", keyName, err)
		}
	}
	names, err := a.chosen(name)
	if err != nil {
		return v.r, v.fatal(err)
	}
	whole, err := v.manifests(names)
	if err != nil {
		return v.r, err
	}
	for _, one := range v.plan {
		if err := ctx.Err(); err != nil {
			return v.r, err
		}
		one()
	}
	if name == "" && whole {
		err = v.orphans()
	}
	return v.r, errors.Join(err, ctx.Err())
}

// chosen is the one snapshot of that name, or all.
func (a *Archive) chosen(name string) ([]string, error) {
	if name == "" {
		return a.Snapshots()
	}
	name, _, err := a.find(name)
	return []string{name}, err
}

type verifier struct {
	a           *Archive
	ctx         context.Context
	progress    func(done, total int64)
	r           VerifyReport
	plan        []func()
	named, seen map[string]bool // files of blobs
	done, total int64
}

func (v *verifier) find(kind, subject string, err error) {
	v.r.Findings = append(v.r.Findings, Finding{kind, subject, err.Error()})
}

// fatal makes damage that ends the verification a finding.
func (v *verifier) fatal(err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	v.find("backup", v.a.dir, err)
	return nil
}

// manifests reads them and plans what is to be read; whole is false where one is
// damaged. One that only another key opens is an error.
func (v *verifier) manifests(names []string) (whole bool, err error) {
	whole = true
	for _, name := range names {
		v.r.Snapshots++
		info, err := v.a.Manifest(name, func(e Entry) error {
			v.named[e.File] = true
			if !v.seen[e.File] {
				v.seen[e.File] = true
				v.total += e.Stored
				v.plan = append(v.plan, func() { v.blob(name, e) })
			}
			return v.ctx.Err()
		})
		if errors.Is(err, ErrDecrypt) || v.ctx.Err() != nil {
			return false, err
		}
		if err != nil {
			whole = false
			v.find("snapshot", name, err)
			continue
		}
		v.total += info.Database.Stored
		v.plan = append(v.plan, func() { v.database(info) })
	}
	return whole, nil
}

func (v *verifier) blob(snapshot string, e Entry) {
	v.r.Blobs++
	err := v.read(e.Stored, func() (io.ReadCloser, error) {
		b, _ := v.a.parseBlobFile(e.File) // Manifest has looked at it
		if v.r.NotDecrypted {
			return v.a.sealedReader(blobPath(e.File), b.sum, e.Stored)
		}
		return v.a.Blob(e)
	})
	if err != nil && v.ctx.Err() == nil { // interrupted is not damaged
		v.find("document", e.Digest, fmt.Errorf("of snapshot %s: %w; remove %s by hand, and the next backup copies the document anew where the vault still has it",
			snapshot, err, v.a.path(blobPath(e.File)...)))
	}
}

func (v *verifier) database(info Info) {
	err := v.read(info.Database.Stored, func() (io.ReadCloser, error) {
		if v.r.NotDecrypted {
			_, sum, _ := parseSnapFile(info.Database.File) // Manifest has looked at it
			return v.a.sealedReader([]string{snapsDir, info.Database.File}, sum, info.Database.Stored)
		}
		return v.a.Database(info)
	})
	if err != nil && v.ctx.Err() == nil {
		v.find("database", info.Snapshot, err)
	}
}

func (v *verifier) read(size int64, open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err == nil {
		_, err = io.Copy(io.Discard, &stopping{v.ctx, r})
		err = errors.Join(err, r.Close())
	}
	if v.ctx.Err() != nil {
		return v.ctx.Err()
	}
	v.done += size
	v.r.Bytes += size
	v.progress(v.done, v.total)
	return err
}

// sealedReader reads a file as it lies there, when what is inside cannot be read.
func (a *Archive) sealedReader(path []string, sum string, stored int64) (io.ReadCloser, error) {
	outside := &Archive{dir: a.dir, head: a.head, form: plain{}, opts: a.opts}
	return outside.reader(path, sum, stored, sum, stored, false)
}

// stopping is a reader that ends with its context.
type stopping struct {
	ctx context.Context
	io.Reader
}

func (s *stopping) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}

func (v *verifier) orphans() error {
	err := v.a.walkBlobs(v.ctx, func(b blobFile, _ int64) error {
		if !v.named[b.file()] {
			v.r.Orphans++
		}
		return nil
	}, func(string) error {
		v.r.Leftovers++
		return nil
	})
	if err != nil {
		return err
	}
	manifests, databases, err := v.a.snapshotFiles()
	if err != nil {
		return v.fatal(err)
	}
	for _, name := range databases {
		if snapshot, _, _ := parseSnapFile(name); manifests[snapshot] == "" {
			v.r.Leftovers++
		}
	}
	entries, err := os.ReadDir(v.a.path(tmpDir))
	v.r.Leftovers += len(entries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
