package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// VerifyReport is the result of Verify. Findings lists the damage. Orphans are blobs that
// no snapshot references, and Leftovers are files left by an interrupted writer. Neither
// of them is damage.
type VerifyReport struct {
	Snapshots, Blobs   int
	Bytes              int64 // number of bytes read
	Orphans, Leftovers int
	Findings           []Finding
	// NotDecrypted reports that only the checksums of files were verified, because no
	// passphrase or identity was given.
	NotDecrypted bool
}

// Finding is one damaged item: its type ("snapshot", "document", "text",
// "database", "key", "backup"), its name, and the problem.
type Finding struct{ Kind, Subject, Problem string }

// Verify reads every byte of one snapshot, or of all snapshots if name is empty. name may
// be Latest. Damage is listed in the report and doesn't cause an error.
func (a *Archive) Verify(ctx context.Context, name string, progress func(done, total int64)) (VerifyReport, error) {
	v := &verifier{a: a, ctx: ctx, progress: progress, referenced: map[string]bool{}, planned: map[string]bool{}}
	release, err := a.LockForReading()
	if err != nil {
		return v.r, err
	}
	defer release()
	if err := a.Unlock(); err != nil {
		v.r.NotDecrypted = true
		if a.opts.Decryption != (Decryption{}) || !errors.Is(err, ErrDecrypt) {
			v.addFinding("key", keyName, err)
		}
	}
	names, err := a.snapshotNames(name)
	if err != nil {
		return v.r, v.damageAsFinding(err)
	}
	complete, err := v.manifests(names)
	if err != nil {
		return v.r, err
	}
	for _, verify := range v.plan {
		if err := ctx.Err(); err != nil {
			return v.r, err
		}
		verify()
	}
	if name == "" {
		err = v.missing()
	}
	if name == "" && complete {
		err = errors.Join(err, v.countOrphans())
	}
	return v.r, errors.Join(err, ctx.Err())
}

// snapshotNames returns the name of one snapshot, or of all snapshots if name is empty.
func (a *Archive) snapshotNames(name string) ([]string, error) {
	if name == "" {
		return a.Snapshots()
	}
	name, _, err := a.findSnapshot(name)
	return []string{name}, err
}

type verifier struct {
	a                   *Archive
	ctx                 context.Context
	progress            func(done, total int64)
	r                   VerifyReport
	plan                []func()
	referenced, planned map[string]bool // names of blob files
	done, total         int64
}

func (v *verifier) addFinding(kind, subject string, err error) {
	v.r.Findings = append(v.r.Findings, Finding{kind, subject, err.Error()})
}

// damageAsFinding turns damage that ends the verification into a finding. It returns any
// other error.
func (v *verifier) damageAsFinding(err error) error {
	if err == nil || !errors.Is(err, ErrDamaged) {
		return err
	}
	v.addFinding("backup", v.a.dir, err)
	return nil
}

// manifests reads the manifests and plans which files to read. complete is false if a
// manifest is damaged. It returns an error if a manifest can't be decrypted.
func (v *verifier) manifests(names []string) (complete bool, err error) {
	complete = true
	for _, name := range names {
		v.r.Snapshots++
		info, err := v.a.Manifest(name, func(e Entry) error {
			v.referenced[e.File] = true
			if !v.planned[e.File] {
				v.planned[e.File] = true
				v.total += e.Stored
				v.plan = append(v.plan, func() { v.blob(name, e) })
			}
			return v.ctx.Err()
		})
		if errors.Is(err, ErrDecrypt) || v.ctx.Err() != nil {
			return false, err
		}
		if err != nil {
			complete = false
			v.addFinding("snapshot", name, err)
			continue
		}
		v.total += info.Database.Stored
		v.plan = append(v.plan, func() { v.database(info) })
	}
	return complete, nil
}

// missing adds a finding for each snapshot that vanished.
func (v *verifier) missing() error {
	names, err := v.a.Missing()
	for _, name := range names {
		v.addFinding("snapshot", name, ErrVanished)
	}
	return v.damageAsFinding(err)
}

func (v *verifier) blob(snapshot string, e Entry) {
	if e.Text == "" {
		v.r.Blobs++
	}
	err := v.read(e.Stored, func() (io.ReadCloser, error) {
		b, _ := v.a.parseBlobFile(e.File) // validated by Manifest
		if v.r.NotDecrypted {
			return v.a.storedReader(v.ctx, blobPath(e.File), b.sum, e.Stored)
		}
		return v.a.Blob(v.ctx, e)
	})
	switch {
	case err == nil || v.ctx.Err() != nil: // a cancellation is not damage
	case e.Text != "":
		v.addFinding("text", e.Text, fmt.Errorf("backup %s: %w; the document is not affected, and a restore reads its pages again. "+
			"Move %s to another directory, and the next backup copies the text again", snapshot, err, v.a.path(blobPath(e.File)...)))
	default:
		v.addFinding("document", e.Digest, fmt.Errorf("backup %s: %w; move %s to another directory, "+
			"and the next backup copies the document again if it is still stored",
			snapshot, err, v.a.path(blobPath(e.File)...)))
	}
}

func (v *verifier) database(info Info) {
	err := v.read(info.Database.Stored, func() (io.ReadCloser, error) {
		if v.r.NotDecrypted {
			_, sum, _ := parseDatabaseFile(info.Database.File) // validated by Manifest
			return v.a.storedReader(v.ctx, []string{snapsDir, info.Database.File}, sum, info.Database.Stored)
		}
		return v.a.database(v.ctx, info)
	})
	if err != nil && v.ctx.Err() == nil {
		v.addFinding("database", info.Snapshot, err)
	}
}

func (v *verifier) read(size int64, open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err == nil {
		_, err = io.Copy(io.Discard, r)
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

// storedReader reads a file without decrypting it.
func (a *Archive) storedReader(ctx context.Context, path []string, sum string, stored int64) (io.ReadCloser, error) {
	plain := &Archive{dir: a.dir, header: a.header, format: plainFormat{}, opts: a.opts}
	return plain.newVerifiedReader(ctx, path, sum, stored, sum, stored, false)
}

func (v *verifier) countOrphans() error {
	err := v.a.walkBlobs(v.ctx, func(b blobFile, _ int64) error {
		if !v.referenced[b.fileName()] {
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
		return v.damageAsFinding(err)
	}
	for _, name := range databases {
		if snapshot, _, _ := parseDatabaseFile(name); manifests[snapshot] == "" {
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
