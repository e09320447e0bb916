package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"

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
			r.addFinding(files.typeName, id, "its digest is not a SHA-256")
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
	ownsName := func(t *Tx, id uint64, key []byte) (ownsName bool, err error) {
		f, found, err := folders.find(t, id)
		return found && bytes.Equal(key, folderNameKey(f.ParentID, f.Name)), err
	}
	err := eachRecord(r, folders, func(t *Tx, id uint64, f *model.Folder) error {
		t.addCount(CountFolders, 1)
		names, key := t.bucket(bucketFolderNames), folderNameKey(f.ParentID, f.Name)
		if other, exists := decodeUint64(names.Get(key)); exists && other != id {
			if owns, err := ownsName(t, other, key); owns && err == nil {
				r.addFinding(folders.typeName, id, "folder %d has its name", other)
				return nil
			}
		}
		return names.Put(key, encodeUint64(id))
	})
	if err != nil {
		return err
	}
	return r.removeStale(bucketFolderNames, func(t *Tx, key, value []byte) bool {
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
			r.addFinding(keys.typeName, id, "its hash is not a SHA-256")
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
	err := r.eachEntry(bucketStoredResponses, func(t *Tx, slot, raw []byte) error {
		var response model.StoredResponse
		if err := decodeRecord(bucketStoredResponses, slot, raw, &response); err != nil {
			r.addFinding("replay", fmt.Sprintf("%x", slot), "%v", err)
			return nil
		}
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
	err := eachRecord(r, users, func(t *Tx, id uint64, u *model.User) error {
		names, key := t.bucket(bucketUserNames), userNameKey(u.Name)
		if other, exists := decodeUint64(names.Get(key)); exists && other != id {
			if otherUser, found, err := users.find(t, other); err == nil && found && bytes.Equal(key, userNameKey(otherUser.Name)) {
				r.addFinding(users.typeName, id, "user %d has its name", other)
				return nil
			}
		}
		return names.Put(key, encodeUint64(id))
	})
	if err != nil {
		return err
	}
	return r.removeStale(bucketUserNames, func(t *Tx, key, value []byte) bool {
		id, ok := decodeUint64(value)
		u, found, err := users.find(t, id)
		return !ok || err == nil && (!found || !bytes.Equal(key, userNameKey(u.Name)))
	})
}

// rebuildSessions regenerates the index of sessions by user.
func (r *rebuilder) rebuildSessions() error {
	err := r.eachEntry(bucketSessions, func(t *Tx, key, raw []byte) error {
		var s model.Session
		if err := decodeRecord(bucketSessions, key, raw, &s); err != nil {
			r.addFinding("session", hex.EncodeToString(key), "%v", err)
			return nil
		}
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
