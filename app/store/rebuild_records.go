package store

import (
	"bytes"
	"encoding/binary"

	"deedkeep/app/model"
)

// rebuildLists regenerates the list indexes of a table. If count is not nil, it is called
// for each record to update the counters.
func rebuildLists[T any](r *rebuilder, l *indexedTable[T], count func(t *Tx, id uint64, v *T) error) error {
	return eachRecord(r, l.table, func(t *Tx, id uint64, v *T) error {
		if count != nil {
			if err := count(t, id, v); err != nil {
				return err
			}
		}
		return l.reindex(t, nil, v)
	})
}

func (r *rebuilder) rebuildAbstracts() error {
	return rebuildLists(r, &abstracts, func(t *Tx, _ uint64, a *model.Abstract) error {
		t.countTransition(CountAbstracts, false, a.Trashed == nil)
		return nil
	})
}

func (r *rebuilder) rebuildOrders() error {
	return rebuildLists(r, &orders, func(t *Tx, _ uint64, o *model.Order) error {
		t.countTransition(CountOrders, false, o.Trashed == nil)
		return nil
	})
}

func (r *rebuilder) rebuildEvents() error { return rebuildLists(r, &events, nil) }

func (r *rebuilder) rebuildFiles() error {
	err := rebuildLists(r, &files, func(t *Tx, id uint64, f *model.File) error {
		if digest, ok := decodeDigest(f); !ok {
			r.addFinding(files.typeName, id, "digest is not a valid SHA-256 hash")
		} else if err := putKeyOnly(t.bucket(bucketFileDigests), append(digest, encodeUint64(id)...)); err != nil {
			return err
		}
		return t.updateFileCounters(nil, f, false, true)
	})
	if err != nil {
		return err
	}
	err = r.removeStale(bucketFileDigests, func(t *Tx, key, _ []byte) bool {
		id, _ := idSuffix(key)
		f, found, err := files.find(t, id)
		digest, _ := decodeDigest(&f)
		return err == nil && (!found || !bytes.Equal(key, append(digest, encodeUint64(id)...)))
	})
	if err != nil {
		return err
	}
	return r.removeStale(bucketFailed, func(t *Tx, key, _ []byte) bool {
		id, ok := decodeUint64(key)
		f, found, err := files.find(t, id)
		return !ok || err == nil && (!found || f.Failure == "" || f.Trashed != nil)
	})
}

// rebuildFolders corrects the index of folder names.
func (r *rebuilder) rebuildFolders() error {
	return rebuildNames(r, folders, bucketFolderNames, func(f *model.Folder) []byte { return folderNameKey(f.ParentID, f.Name) },
		func(t *Tx) { t.addCount(CountFolders, 1) })
}

// rebuildNames corrects a unique index of names. It calls count for each record.
func rebuildNames[T any](r *rebuilder, b table[T], index []byte, nameKey func(*T) []byte, count func(*Tx)) error {
	ownsName := func(t *Tx, id uint64, key []byte) (bool, error) {
		v, found, err := b.find(t, id)
		return found && bytes.Equal(key, nameKey(&v)), err
	}
	err := eachRecord(r, b, func(t *Tx, id uint64, v *T) error {
		count(t)
		names, key := t.bucket(index), nameKey(v)
		if other, exists := decodeUint64(names.Get(key)); exists && other != id {
			if owns, err := ownsName(t, other, key); owns && err == nil {
				r.addFinding(b.typeName, id, "%s %d has the same name", b.typeName, other)
				return nil
			}
		}
		return names.Put(key, encodeUint64(id))
	})
	if err != nil {
		return err
	}
	return r.removeStale(index, func(t *Tx, key, value []byte) bool {
		id, ok := decodeUint64(value)
		owns, err := ownsName(t, id, key)
		return !ok || err == nil && !owns
	})
}

func (r *rebuilder) rebuildTasks() error {
	return eachRecord(r, tasks, func(t *Tx, _ uint64, _ *model.ProcessingTask) error {
		t.addCount(CountTasks, 1)
		return nil
	})
}

func (r *rebuilder) rebuildKeys() error {
	err := eachRecord(r, keys, func(t *Tx, id uint64, k *model.Key) error {
		hash, ok := hashOfKey(k)
		if !ok {
			r.addFinding(keys.typeName, id, "hash is not a valid SHA-256 hash")
			return nil
		}
		return t.bucket(bucketKeyHashes).Put(hash, encodeUint64(id))
	})
	if err != nil {
		return err
	}
	return r.removeStale(bucketKeyHashes, func(t *Tx, key, value []byte) bool {
		id, ok := decodeUint64(value)
		k, found, err := keys.find(t, id)
		hash, _ := hashOfKey(&k)
		return !ok || err == nil && (!found || !bytes.Equal(hash, key))
	})
}

func (r *rebuilder) rebuildStoredResponses() error {
	err := eachHashed(r, bucketStoredResponses, "replay", func(t *Tx, slot []byte, response *model.StoredResponse) error {
		return putKeyOnly(t.bucket(bucketStoredResponseTimes), responseTimeKey(response.At, slot))
	})
	if err != nil {
		return err
	}
	return r.removeStale(bucketStoredResponseTimes, func(t *Tx, key, _ []byte) bool {
		if len(key) != responseTimeKeySize {
			return true
		}
		response, found, err := t.StoredResponse([32]byte(key[8:]))
		return err == nil && (!found || sortableMicros(response.At) != binary.BigEndian.Uint64(key))
	})
}

// rebuildUsers corrects the index of usernames, which remains usable so that users can sign
// in.
func (r *rebuilder) rebuildUsers() error {
	return rebuildNames(r, users, bucketUserNames, func(u *model.User) []byte { return userNameKey(u.Name) }, func(*Tx) {})
}

// rebuildSessions regenerates the index of sessions by user.
func (r *rebuilder) rebuildSessions() error {
	err := eachHashed(r, bucketSessions, "session", func(t *Tx, key []byte, s *model.Session) error {
		return putKeyOnly(t.bucket(bucketSessionUsers), sessionUserKey(s.UserID, key))
	})
	if err != nil {
		return err
	}
	return r.removeStale(bucketSessionUsers, func(t *Tx, key, _ []byte) bool {
		if len(key) != 40 {
			return true
		}
		user, _ := decodeUint64(key[:8])
		s, found, err := t.Session(key[8:])
		return err == nil && (!found || s.UserID != user)
	})
}

// rebuildInstruments regenerates the indexes of instruments.
func (r *rebuilder) rebuildInstruments() error {
	return rebuildLists(r, &instruments, func(t *Tx, id uint64, i *model.Instrument) error {
		t.countTransition(CountInstruments, false, i.Trashed == nil)
		if err := t.updateRefs(&model.Instrument{ID: id}, i); err != nil {
			return err
		}
		return t.putRunsheetRow(i)
	})
}

// rebuildTitleWork regenerates the indexes of abstracts by order and by user.
func (r *rebuilder) rebuildTitleWork() error {
	return eachRecord(r, titleWork, func(t *Tx, _ uint64, w *model.TitleWork) error {
		if open, err := t.needsWork(w.AbstractID); err == nil { // a damaged abstract is reported elsewhere
			if err := t.updateUserAbstracts(w, w, open); err != nil {
				return err
			}
		}
		if w.OrderID == 0 {
			return nil
		}
		return putKeyOnly(t.bucket(bucketOrderAbstracts), orderAbstractKey(w))
	})
}

// rebuildNotes regenerates the index of notes by record, and the entries of notes in the trash.
func (r *rebuilder) rebuildNotes() error {
	return eachRecord(r, notes, func(t *Tx, _ uint64, n *model.Note) error {
		if err := t.updateNoteTrash(&model.Note{}, n); err != nil {
			return err
		}
		return putKeyOnly(t.bucket(bucketRecordNotes), noteKey(n))
	})
}
