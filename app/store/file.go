package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"deedkeep/app/title"
)

// NewFileID gives the next number of a file.
func (t *Tx) NewFileID() (uint64, error) { return files.next(t) }

// File reads one; NotFound when absent.
func (t *Tx) File(id uint64) (title.File, error) { return files.get(t, id) }

// PutFile writes one, new or changed. Its bytes never change: another digest or
// size than before is an error.
func (t *Tx) PutFile(f title.File) error {
	old, known, err := files.find(t, f.ID)
	switch {
	case err != nil:
		return err
	case known && (old.Digest != f.Digest || old.Size != f.Size):
		return fmt.Errorf("put file %d: its bytes cannot change", f.ID)
	case !known:
		digest, err := hex.DecodeString(f.Digest)
		if err != nil || len(digest) != 32 || hex.EncodeToString(digest) != f.Digest || f.Size < 0 {
			return fmt.Errorf("put file %d: its digest is no SHA-256, or its size is none", f.ID)
		}
		if err := mark(t.bucket(bucketFileDigests), append(digest, number(f.ID)...)); err != nil {
			return fmt.Errorf("index file %d: %w", f.ID, err)
		}
		if err := t.add(CountFiles, 1); err != nil {
			return err
		}
		if err := t.add(CountBytes, f.Size); err != nil {
			return err
		}
	}
	if err := t.putFailed(f.ID, old.Failure != "", f.Failure != ""); err != nil {
		return fmt.Errorf("index file %d: %w", f.ID, err)
	}
	return files.put(t, f.ID, f)
}

// putFailed moves a file into or out of the index of failures.
func (t *Tx) putFailed(id uint64, was, is bool) error {
	switch {
	case is && !was:
		return errors.Join(mark(t.bucket(bucketFailed), number(id)), t.add(CountFailed, 1))
	case was && !is:
		return errors.Join(t.bucket(bucketFailed).Delete(number(id)), t.add(CountFailed, -1))
	}
	return nil
}

// Failed reads at most limit files whose processing failed, from number from on,
// without those whose record is damaged.
func (t *Tx) Failed(from uint64, limit int) (list []title.File, err error) {
	c := t.bucket(bucketFailed).Cursor()
	for k, _ := c.Seek(number(from)); k != nil && len(list) < limit; k, _ = c.Next() {
		id, _ := numberOf(k)
		file, err := files.get(t, id)
		switch {
		case errors.Is(err, ErrDamaged), title.KindOf(err) == title.NotFound:
			// Those behind it need not wait; Check reports it.
		case err != nil:
			return list, err
		default:
			list = append(list, file)
		}
	}
	return list, nil
}

// FilesFrom reads at most limit files from number from on; the first damaged record
// among them is its error.
func (t *Tx) FilesFrom(from uint64, limit int) (list []title.File, err error) {
	files.each(t, from, func(_ uint64, f title.File, e error) bool {
		if e != nil {
			err = e
			return false
		}
		list = append(list, f)
		return len(list) < limit
	})
	return list, err
}

// DigestInUse reports whether a file has these bytes.
func (t *Tx) DigestInUse(digest [32]byte) bool {
	k, _ := t.bucket(bucketFileDigests).Cursor().Seek(digest[:])
	return bytes.HasPrefix(k, digest[:])
}
