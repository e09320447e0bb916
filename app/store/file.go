package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

var files = indexedTable[model.File]{
	table:       table[model.File]{bucketFiles, "file"},
	indexLayout: indexLayout{indexBucket: bucketFileIndex, columnTags: "afoq"},
	columns: []indexColumn[model.File]{
		{name: ColumnAbstract, value: func(f *model.File) columnValue { return columnValue{number: f.AbstractID} }},
		{name: ColumnFolder, value: func(f *model.File) columnValue { return columnValue{number: f.FolderID} }, counted: true},
		{name: ColumnUnassigned, value: func(f *model.File) columnValue { return boolValue(f.FolderID == 0 && f.AbstractID == 0) }},
		{name: ColumnProcessing, value: func(f *model.File) columnValue { return boolValue(f.Processing) }},
	},
	fields:  func(f *model.File) indexFields { return indexFields{created: sortableMicros(f.CreatedAt), id: f.ID} },
	trashed: func(f *model.File) *model.Trashed { return f.Trashed },
}

// NewFileID gives the next number of a file.
func (t *Tx) NewFileID() (uint64, error) { return files.nextID(t) }

// File reads one; NotFound when absent or in the trash.
func (t *Tx) File(id uint64) (model.File, error) { return files.getLive(t, id) }

// FileIncludingTrash reads one, in the trash or not; NotFound when absent.
func (t *Tx) FileIncludingTrash(id uint64) (model.File, error) { return files.get(t, id) }

// ListFiles gives a page of the files, without those in the trash. It takes
// ColumnFolder, ColumnAbstract, ColumnUnassigned and ColumnProcessing, and SortCreated.
func (t *Tx) ListFiles(q Query) (Page[model.File], error) { return files.list(t, q) }

// PutFile writes one, new or changed. Its bytes never change: another digest or
// size than before is an error.
func (t *Tx) PutFile(f model.File) error {
	old, known, err := files.find(t, f.ID)
	switch {
	case err != nil:
		return err
	case known && (old.Digest != f.Digest || old.Size != f.Size):
		return fmt.Errorf("put file %d: its bytes cannot change", f.ID)
	case !known:
		digest, ok := decodeDigest(&f)
		if !ok || f.Size < 0 {
			return fmt.Errorf("put file %d: its digest is no SHA-256, or its size is none", f.ID)
		}
		if err := putKeyOnly(t.bucket(bucketFileDigests), append(digest, encodeUint64(f.ID)...)); err != nil {
			return fmt.Errorf("index file %d: %w", f.ID, err)
		}
	}
	if err := t.updateFileCounters(&old, &f, known, true); err != nil {
		return fmt.Errorf("index file %d: %w", f.ID, err)
	}
	t.bumpFolderVersions(&old, &f, known, true)
	return files.save(t, f.ID, &old, known, &f)
}

// RemoveFile takes one away for good, in the trash or not, with its tasks; NotFound
// when absent. An abstract that lists it is not touched, nor are its bytes.
func (t *Tx) RemoveFile(id uint64) error {
	old, err := files.get(t, id)
	if err != nil {
		return err
	}
	if digest, ok := decodeDigest(&old); ok {
		if err := t.bucket(bucketFileDigests).Delete(append(digest, encodeUint64(id)...)); err != nil {
			return fmt.Errorf("index file %d: %w", id, err)
		}
	}
	if err := t.updateFileCounters(&old, &model.File{ID: id}, true, false); err != nil {
		return fmt.Errorf("index file %d: %w", id, err)
	}
	t.bumpFolderVersions(&old, &model.File{}, true, false)
	if old.Processing { // else no task waits
		if err := t.removeTasksOfFile(id); err != nil {
			return err
		}
	}
	return files.purge(t, id, &old)
}

// decodeDigest is the digest in bytes, with room for a number behind it.
func decodeDigest(f *model.File) (digest []byte, ok bool) {
	digest, err := hex.AppendDecode(make([]byte, 0, 40), []byte(f.Digest))
	return digest, err == nil && len(digest) == 32 && hex.EncodeToString(digest) == f.Digest
}

// updateFileCounters keeps the counters and the index of failures.
func (t *Tx) updateFileCounters(old, f *model.File, was, is bool) error {
	t.countTransition(CountFileRecords, was, is)
	was, is = was && old.Trashed == nil, is && f.Trashed == nil
	t.countTransition(CountFiles, was, is)
	if was {
		t.addCount(CountBytes, -old.Size)
	}
	if is {
		t.addCount(CountBytes, f.Size)
	}
	t.countTransition(CountTextChecked, was && old.TextPages != nil, is && f.TextPages != nil)
	t.countTransition(CountWithoutText, was && hasNoText(old), is && hasNoText(f))
	was, is = was && old.Failure != "", is && f.Failure != ""
	t.countTransition(CountFailed, was, is)
	switch {
	case is && !was:
		return putKeyOnly(t.bucket(bucketFailed), encodeUint64(f.ID))
	case was && !is:
		return t.bucket(bucketFailed).Delete(encodeUint64(old.ID))
	}
	return nil
}

func hasNoText(f *model.File) bool { return f.TextPages != nil && *f.TextPages == 0 }

// FailedFiles reads at most limit files whose processing failed, from number from on,
// without those whose record is damaged and those in the trash.
func (t *Tx) FailedFiles(from uint64, limit int) (list []model.File, err error) {
	c := t.bucket(bucketFailed).Cursor()
	for k, _ := c.Seek(encodeUint64(from)); k != nil && len(list) < limit; k, _ = c.Next() {
		id, _ := decodeUint64(k)
		file, err := files.get(t, id)
		switch {
		case errors.Is(err, ErrDamaged), errs.KindOf(err) == errs.NotFound:
			// Those behind it need not wait; Check reports it.
		case err != nil:
			return list, err
		default:
			list = append(list, file)
		}
	}
	return list, nil
}

// ScanFiles reads at most limit files from number from on, those in the trash too;
// the first damaged record among them is its error.
func (t *Tx) ScanFiles(from uint64, limit int) (list []model.File, err error) {
	files.each(t, from, func(_ uint64, f model.File, e error) bool {
		if e != nil {
			err = e
			return false
		}
		list = append(list, f)
		return len(list) < limit
	})
	return list, err
}

// DigestInUse reports whether a file has these bytes, in the trash or not.
func (t *Tx) DigestInUse(digest [32]byte) bool {
	k, _ := t.bucket(bucketFileDigests).Cursor().Seek(digest[:])
	return bytes.HasPrefix(k, digest[:])
}

// maxFilesPerDigest bounds how many files of the same bytes FileByDigest looks through.
const maxFilesPerDigest = 16

// NextDigest gives the first digest behind one (nil: the first of all) and a file that
// has these bytes, as FileByDigest does. ok is false where there is none.
func (t *Tx) NextDigest(after []byte) (digest [32]byte, file model.File, ok bool) {
	if after != nil {
		after = append(bytes.Clone(after), bytes.Repeat([]byte{0xff}, 8)...) // no number of a file is that high
	}
	c := t.bucket(bucketFileDigests).Cursor()
	k, _ := c.Seek(after)
	for k != nil && len(k) != 40 {
		k, _ = c.Next() // Check reports it
	}
	if k == nil {
		return digest, file, false
	}
	file, ok = t.FileByDigest([32]byte(k))
	return [32]byte(k), file, ok
}

// FileByDigest gives a file that has these bytes: one that is not in the trash, if one
// of the first few is not. Where no record of them can be read, or says so, it has
// nothing but a number, and a size of -1. ok is false where there is none.
func (t *Tx) FileByDigest(digest [32]byte) (file model.File, ok bool) {
	c := t.bucket(bucketFileDigests).Cursor()
	looked := 0
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]) && looked < maxFilesPerDigest; k, _ = c.Next() {
		looked++
		id, _ := decodeUint64(k[32:])
		one, err := files.get(t, id)
		if err != nil || one.Digest != hex.EncodeToString(digest[:]) {
			one = model.File{ID: id, Size: -1} // Check reports it
		}
		if one.Size >= 0 && one.Trashed == nil {
			return one, true
		}
		if !ok || file.Size < 0 {
			file, ok = one, true
		}
	}
	return file, ok
}

// FileRecordCount counts the records of files that are there, damaged ones too, whatever
// the counter says.
func (t *Tx) FileRecordCount() (n uint64) {
	c := t.bucket(bucketFiles).Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}

// ListFilesByID is ListAbstractsByID for files.
func (t *Tx) ListFilesByID(ids []uint64, q Query) (Page[model.File], int, error) {
	return files.listByIDs(t, ids, q)
}

// FindFileByDigest gives the first live file of these bytes that fits; found is false
// where none does.
func (t *Tx) FindFileByDigest(digest [32]byte, fits func(model.File) bool) (file model.File, found bool, err error) {
	c := t.bucket(bucketFileDigests).Cursor()
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]); k, _ = c.Next() {
		id, ok := decodeUint64(k[len(digest):])
		if !ok {
			return file, false, fmt.Errorf("%s: a key of %d bytes: %w", bucketFileDigests, len(k), ErrDamaged)
		}
		if file, found, err = files.find(t, id); err != nil || found && file.Trashed == nil && fits(file) {
			return file, found, err
		}
	}
	return model.File{}, false, nil
}
