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
		{name: model.ColumnAbstract, value: func(f *model.File) columnValue { return columnValue{number: f.AbstractID} }},
		{name: model.ColumnFolder, value: func(f *model.File) columnValue { return columnValue{number: f.FolderID} }, counted: true},
		{name: model.ColumnUnassigned, value: func(f *model.File) columnValue {
			return boolValue(f.FolderID == 0 &&
				f.AbstractID == 0)
		}},
		{name: model.ColumnProcessing, value: func(f *model.File) columnValue { return boolValue(f.Processing) }},
	},
	fields:  func(f *model.File) indexFields { return indexFields{created: sortableMicros(f.CreatedAt), id: f.ID} },
	trashed: func(f *model.File) *model.Trashed { return f.Trashed },
}

// NewFileID returns the ID for a new file.
func (t *Tx) NewFileID() (uint64, error) { return files.nextID(t) }

// File returns a live file. The error has kind errs.NotFound if it doesn't exist or is in
// the trash.
func (t *Tx) File(id uint64) (model.File, error) { return files.getLive(t, id) }

// FileIncludingTrash returns a file that may be in the trash. The error has kind
// errs.NotFound if it doesn't exist.
func (t *Tx) FileIncludingTrash(id uint64) (model.File, error) { return files.get(t, id) }

// ListFiles returns a page of live files. It supports filters by model.ColumnFolder,
// model.ColumnAbstract, model.ColumnUnassigned, and model.ColumnProcessing, and the sort order model.SortCreated.
func (t *Tx) ListFiles(q Query) (Page[model.File], error) { return files.list(t, q) }

// PutFile creates or updates a file. It returns an error if the digest or the size of an
// existing file is different, because the content of a file never changes. It also returns an
// error if the end of its retention period becomes earlier, or if the file leaves its abstract
// (see PutMovedFile).
func (t *Tx) PutFile(f model.File) error {
	old, existed, err := files.find(t, f.ID)
	if err == nil && existed && old.Leaves(f) {
		err = fmt.Errorf("put file %d: file can't leave its abstract without its retention period", f.ID)
	}
	if err != nil {
		return err
	}
	return t.putFile(&old, &f, existed)
}

// PutMovedFile is like PutFile, but the file may leave its abstract. The caller has set
// RetainedUntil to the end of the retention period that the file had there.
func (t *Tx) PutMovedFile(f model.File) error {
	old, err := files.get(t, f.ID)
	if err != nil {
		return err
	}
	return t.putFile(&old, &f, true)
}

// putFile writes a file and its index entries.
func (t *Tx) putFile(old, f *model.File, existed bool) error {
	switch {
	case existed && (old.Digest != f.Digest || old.Size != f.Size):
		return fmt.Errorf("put file %d: file content can't change", f.ID)
	case existed && f.RetainedUntil.Before(old.RetainedUntil):
		return fmt.Errorf("put file %d: the retention period can't become shorter", f.ID)
	case !existed:
		digest, ok := decodeDigest(f)
		if !ok || f.Size < 0 {
			return fmt.Errorf("put file %d: invalid SHA-256 digest or size", f.ID)
		}
		if err := putKeyOnly(t.bucket(bucketFileDigests), append(digest, encodeUint64(f.ID)...)); err != nil {
			return fmt.Errorf("index file %d: %w", f.ID, err)
		}
	}
	if err := t.updateFileCounters(old, f, existed, true); err != nil {
		return fmt.Errorf("index file %d: %w", f.ID, err)
	}
	t.bumpFolderVersions(old, f, existed, true)
	return files.save(t, f.ID, old, existed, f)
}

// RemoveFile permanently deletes a file, live or in the trash, along with its tasks. The
// error has kind errs.NotFound if the file doesn't exist. RemoveFile doesn't change the
// abstract that lists the file, nor does it delete the file's content.
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
	if old.Processing { // a file that isn't Processing has no tasks
		if err := t.removeTasksOfFile(id); err != nil {
			return err
		}
	}
	return files.purge(t, id, &old)
}

// decodeDigest returns the content digest in binary form. The slice has enough capacity to
// append an ID.
func decodeDigest(f *model.File) (digest []byte, ok bool) {
	digest, err := hex.AppendDecode(make([]byte, 0, 40), []byte(f.Digest))
	return digest, err == nil && len(digest) == 32 && hex.EncodeToString(digest) == f.Digest
}

// updateFileCounters updates the counters, the index of failed files, and the OCR queue. existed says
// whether the file existed before the change, and exists says whether it exists after it.
func (t *Tx) updateFileCounters(old, f *model.File, existed, exists bool) error {
	t.countTransition(CountFileRecords, existed, exists)
	if err := t.updateOCRQueue(old, f, existed, exists); err != nil {
		return err
	}
	existed, exists = existed && old.Trashed == nil, exists && f.Trashed == nil
	t.countTransition(CountFiles, existed, exists)
	if existed {
		t.addCount(CountBytes, -old.Size)
	}
	if exists {
		t.addCount(CountBytes, f.Size)
	}
	t.countTransition(CountTextChecked, existed && old.TextPages != nil, exists && f.TextPages != nil)
	t.countTransition(CountWithoutText, existed && hasNoText(old), exists && hasNoText(f))
	existed, exists = existed && old.Failure != "", exists && f.Failure != ""
	t.countTransition(CountFailed, existed, exists)
	switch {
	case exists && !existed:
		return putKeyOnly(t.bucket(bucketFailed), encodeUint64(f.ID))
	case existed && !exists:
		return t.bucket(bucketFailed).Delete(encodeUint64(old.ID))
	}
	return nil
}

// hasNoText reports whether the pages of a file were checked and none has text.
func hasNoText(f *model.File) bool { return f.TextPages != nil && *f.TextPages == 0 }

// FailedFiles returns up to limit live files whose processing failed, in ID order, starting
// with ID from. It skips damaged records.
func (t *Tx) FailedFiles(from uint64, limit int) (list []model.File, err error) {
	c := t.bucket(bucketFailed).Cursor()
	for k, _ := c.Seek(encodeUint64(from)); k != nil && len(list) < limit; k, _ = c.Next() {
		id, _ := decodeUint64(k)
		file, err := files.get(t, id)
		switch {
		case errors.Is(err, ErrDamaged), errs.KindOf(err) == errs.NotFound:
			// Skip the file so that it doesn't hide the ones after it. Check reports it.
		case err != nil:
			return list, err
		default:
			list = append(list, file)
		}
	}
	return list, nil
}

// ScanFiles returns up to limit files in ID order, starting with ID from and including
// those in the trash. It stops with an error at the first damaged record.
func (t *Tx) ScanFiles(from uint64, limit int) ([]model.File, error) {
	return scanTable(t, files.table, from, limit)
}

// DigestInUse reports whether any file, live or in the trash, has this content digest.
func (t *Tx) DigestInUse(digest [32]byte) bool {
	k, _ := t.bucket(bucketFileDigests).Cursor().Seek(digest[:])
	return bytes.HasPrefix(k, digest[:])
}

// maxFilesPerDigest is the maximum number of files with the same content that FileByDigest
// reads.
const maxFilesPerDigest = 16

// NextDigest returns the first content digest after the given one, or the very first one if
// after is nil. It also returns a file with that content, chosen like in FileByDigest. ok
// is false if there are no more digests.
func (t *Tx) NextDigest(after []byte) (digest [32]byte, file model.File, ok bool) {
	if after != nil {
		after = append(bytes.Clone(after), bytes.Repeat([]byte{0xff}, 8)...) // file IDs are never this high
	}
	c := t.bucket(bucketFileDigests).Cursor()
	k, _ := c.Seek(after)
	for k != nil && len(k) != 40 {
		k, _ = c.Next() // Check reports invalid keys
	}
	if k == nil {
		return digest, file, false
	}
	file, ok = t.FileByDigest([32]byte(k))
	return [32]byte(k), file, ok
}

// FileByDigest returns a file with this content digest, preferably a live one. It reads
// only the first maxFilesPerDigest files. If none of their records can be read or has this
// digest, the returned file has only an ID and a size of -1. ok is false if there is no
// file with this digest.
func (t *Tx) FileByDigest(digest [32]byte) (file model.File, ok bool) {
	c := t.bucket(bucketFileDigests).Cursor()
	count := 0
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]) && count < maxFilesPerDigest; k, _ = c.Next() {
		count++
		id, _ := decodeUint64(k[32:])
		candidate, err := files.get(t, id)
		if err != nil || candidate.Digest != hex.EncodeToString(digest[:]) {
			candidate = model.File{ID: id, Size: -1} // Check reports damaged records and wrong index entries
		}
		if candidate.Size >= 0 && candidate.Trashed == nil {
			return candidate, true
		}
		if !ok || file.Size < 0 {
			file, ok = candidate, true
		}
	}
	return file, ok
}

// FileRecordCount counts the file records, including damaged ones. It doesn't use the
// stored counter.
func (t *Tx) FileRecordCount() (n uint64) {
	c := t.bucket(bucketFiles).Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		n++
	}
	return n
}

// ListFilesByID is like ListAbstractsByID but for files.
func (t *Tx) ListFilesByID(ids []uint64, q Query, matches func(*model.File) bool) (Page[model.File], int, error) {
	return files.listByIDs(t, ids, q, matches)
}

// FilesByDigest returns all files, including those in the trash, that have this content digest.
func (t *Tx) FilesByDigest(digest [32]byte) (list []model.File, err error) {
	c := t.bucket(bucketFileDigests).Cursor()
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]); k, _ = c.Next() {
		id, ok := decodeUint64(k[len(digest):])
		if !ok {
			return list, fmt.Errorf("%s: invalid key of %d bytes: %w", bucketFileDigests, len(k), ErrDamaged)
		}
		file, found, err := files.find(t, id)
		if err != nil {
			return list, err
		}
		if found {
			list = append(list, file)
		}
	}
	return list, nil
}

// FindFileByDigest returns the first live file that has this content digest and for which
// matches returns true.
func (t *Tx) FindFileByDigest(digest [32]byte, matches func(model.File) bool) (file model.File, found bool, err error) {
	c := t.bucket(bucketFileDigests).Cursor()
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]); k, _ = c.Next() {
		id, ok := decodeUint64(k[len(digest):])
		if !ok {
			return file, false, fmt.Errorf("%s: invalid key of %d bytes: %w", bucketFileDigests, len(k), ErrDamaged)
		}
		if file, found, err = files.find(t, id); err != nil || found && file.Trashed == nil && matches(file) {
			return file, found, err
		}
	}
	return model.File{}, false, nil
}
