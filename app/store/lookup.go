package store

import (
	"bytes"
	"fmt"

	"deedkeep/app/model"
)

// ScanAbstracts reads at most limit abstracts from number from on, those in the trash
// too; the first damaged record among them is its error.
func (t *Tx) ScanAbstracts(from uint64, limit int) ([]model.Abstract, error) {
	return scanTable(t, abstracts.table, from, limit)
}

// ScanOrders is ScanAbstracts for orders.
func (t *Tx) ScanOrders(from uint64, limit int) ([]model.Order, error) {
	return scanTable(t, orders.table, from, limit)
}

// ScanEvents reads at most limit entries of the log from number from on.
func (t *Tx) ScanEvents(from uint64, limit int) ([]model.Event, error) {
	return scanTable(t, events.table, from, limit)
}

func scanTable[T any](t *Tx, b table[T], from uint64, limit int) (list []T, err error) {
	b.each(t, from, func(_ uint64, v T, e error) bool {
		if e != nil {
			err = e
			return false
		}
		list = append(list, v)
		return len(list) < limit
	})
	return list, err
}

// FolderByName is the number of the folder of this name below a parent (0: the root),
// compared without case; found is false where there is none.
func (t *Tx) FolderByName(parent uint64, name string) (id uint64, found bool) {
	return decodeUint64(t.bucket(bucketFolderNames).Get(folderNameKey(parent, name)))
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

// ScanIDs gives at most limit numbers of abstracts, orders or files from one on, of
// those in the trash and the damaged ones too. The noun is as in Change.
func (t *Tx) ScanIDs(noun string, from uint64, limit int) (list []uint64) {
	bucket := map[string][]byte{abstracts.typeName: bucketAbstracts, orders.typeName: bucketOrders, files.typeName: bucketFiles}[noun]
	c := t.bucket(bucket).Cursor()
	for key, _ := c.Seek(encodeUint64(from)); key != nil && len(list) < limit; key, _ = c.Next() {
		if id, ok := decodeUint64(key); ok { // Check reports a key that is none
			list = append(list, id)
		}
	}
	return list
}

// EventHash is the hash of an entry of the log; "" where there is none, or it is damaged.
func (t *Tx) EventHash(seq uint64) string {
	e, err := events.get(t, seq)
	if err != nil {
		return ""
	}
	return e.Hash
}
