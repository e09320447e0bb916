package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"deedkeep/app/model"
)

// relist makes the lists of a noun, and counts its records.
func relist[T any](r *rebuilder, l *listing[T], count func(t *Tx, id uint64, v *T) error) error {
	return remake(r, l.table, func(t *Tx, id uint64, v *T) error {
		if count != nil {
			if err := count(t, id, v); err != nil {
				return err
			}
		}
		return l.reindex(t, nil, v)
	})
}

func (r *rebuilder) abstracts() error {
	return relist(r, &abstracts, func(t *Tx, _ uint64, a *model.Abstract) error {
		t.step(CountAbstracts, false, a.Trashed == nil)
		return nil
	})
}

func (r *rebuilder) orders() error {
	return relist(r, &orders, func(t *Tx, _ uint64, o *model.Order) error {
		t.step(CountOrders, false, o.Trashed == nil)
		return nil
	})
}

func (r *rebuilder) events() error { return relist(r, &events, nil) }

func (r *rebuilder) files() error {
	err := relist(r, &files, func(t *Tx, id uint64, f *model.File) error {
		if digest, ok := digestOf(f); !ok {
			r.find(files.noun, id, "its digest is no SHA-256")
		} else if err := mark(t.bucket(bucketFileDigests), append(digest, number(id)...)); err != nil {
			return err
		}
		return t.countFile(nil, f, false, true)
	})
	if err != nil {
		return err
	}
	err = r.mend(bucketFileDigests, func(t *Tx, key, _ []byte) bool {
		id, _ := tail(key)
		f, known, err := files.find(t, id)
		digest, _ := digestOf(&f)
		return err == nil && (!known || !bytes.Equal(key, append(digest, number(id)...)))
	})
	if err != nil {
		return err
	}
	return r.mend(bucketFailed, func(t *Tx, key, _ []byte) bool {
		id, ok := numberOf(key)
		f, known, err := files.find(t, id)
		return !ok || err == nil && (!known || f.Failure == "" || f.Trashed != nil)
	})
}

func (r *rebuilder) folders() error {
	holds := func(t *Tx, id uint64, key []byte) (holds bool, err error) {
		f, known, err := folders.find(t, id)
		return known && bytes.Equal(key, folderNameKey(f.ParentID, f.Name)), err
	}
	err := remake(r, folders, func(t *Tx, id uint64, f *model.Folder) error {
		t.add(CountFolders, 1)
		names, key := t.bucket(bucketFolderNames), folderNameKey(f.ParentID, f.Name)
		if other, taken := numberOf(names.Get(key)); taken && other != id {
			if theirs, err := holds(t, other, key); theirs && err == nil {
				r.find(folders.noun, id, "folder %d has its name", other)
				return nil
			}
		}
		return names.Put(key, number(id))
	})
	if err != nil {
		return err
	}
	return r.mend(bucketFolderNames, func(t *Tx, key, value []byte) bool {
		id, ok := numberOf(value)
		theirs, err := holds(t, id, key)
		return !ok || err == nil && !theirs
	})
}

func (r *rebuilder) tasks() error {
	return remake(r, tasks, func(t *Tx, _ uint64, _ *model.Task) error {
		t.add(CountTasks, 1)
		return nil
	})
}

func (r *rebuilder) keys() error {
	err := remake(r, keys, func(t *Tx, id uint64, k *model.Key) error {
		hash, ok := hashOfKey(k)
		if !ok {
			r.find(keys.noun, id, "its hash is no SHA-256")
			return nil
		}
		return t.bucket(bucketKeyHashes).Put(hash, number(id))
	})
	if err != nil {
		return err
	}
	return r.mend(bucketKeyHashes, func(t *Tx, key, value []byte) bool {
		id, ok := numberOf(value)
		k, known, err := keys.find(t, id)
		hash, _ := hashOfKey(&k)
		return !ok || err == nil && (!known || !bytes.Equal(hash, key))
	})
}

func (r *rebuilder) replays() error {
	err := r.entries(bucketReplays, func(t *Tx, slot, raw []byte) error {
		var kept model.Replay
		if err := decode(bucketReplays, slot, raw, &kept); err != nil {
			r.find("replay", fmt.Sprintf("%x", slot), "%v", err)
			return nil
		}
		return mark(t.bucket(bucketReplayTimes), replayKey(kept.At, slot))
	})
	if err != nil {
		return err
	}
	return r.mend(bucketReplayTimes, func(t *Tx, key, _ []byte) bool {
		if len(key) != replayKeySize {
			return true
		}
		kept, known, err := t.StoredResponse([32]byte(key[8:]))
		return err == nil && (!known || micros(kept.At) != binary.BigEndian.Uint64(key))
	})
}
