package store

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"deedkeep/app/model"
)

func TestReplays(t *testing.T) {
	s := openNew(t)
	kept := func(n int) model.StoredResponse {
		return model.StoredResponse{RequestHash: digest(n), Status: 201, Header: map[string]string{"Location": "x"}, Body: []byte{'{', 0xFF, byte(n)}, At: testTime.Add(time.Duration(n) * time.Hour)}
	}
	slot := func(n byte) [32]byte { return [32]byte{9 - n, 31: n} }
	update(t, s, func(tx *Tx) (err error) {
		for n := range byte(5) {
			err = errors.Join(err, tx.PutStoredResponse(slot(n), kept(int(n))))
		}
		return errors.Join(err, tx.PutStoredResponse(slot(1), kept(7))) // in place of another
	})
	left := func(want ...byte) {
		t.Helper()
		view(t, s, func(tx *Tx) error {
			for n := range byte(9) {
				r, found, err := tx.StoredResponse(slot(n))
				wanted := false
				for _, w := range want {
					wanted = wanted || w == n
				}
				at := int(n)
				if n == 1 {
					at = 7
				}
				if err != nil || found != wanted || found && !reflect.DeepEqual(r, kept(at)) {
					t.Errorf("%d: %+v, %v, %v", n, r, found, err)
				}
			}
			return nil
		})
	}
	prune := func(hours, limit, want int) {
		t.Helper()
		update(t, s, func(tx *Tx) error {
			n, err := tx.PruneStoredResponses(testTime.Add(time.Duration(hours)*time.Hour), limit)
			if n != want {
				t.Errorf("pruned %d, want %d", n, want)
			}
			return err
		})
	}
	left(0, 1, 2, 3, 4)
	prune(0, 9, 0)
	prune(1, 9, 1)
	left(1, 2, 3, 4)
	prune(4, 1, 1)
	left(1, 3, 4)
	prune(7, 9, 2)
	left(1)
	prune(8, 9, 1)
	left()
}

// What answers say again and again is kept once.
func TestReplaysAreCompressed(t *testing.T) {
	s := openNew(t)
	long := model.StoredResponse{RequestHash: digest(1), Status: 201, Body: bytes.Repeat([]byte(`{"id":1,"filename":"deed.pdf"},`), 10_000), At: testTime}
	slot := [32]byte{1}
	update(t, s, func(tx *Tx) error { return tx.PutStoredResponse(slot, long) })
	view(t, s, func(tx *Tx) error {
		if n := len(tx.bucket(bucketStoredResponses).Get(slot[:])); n > len(long.Body)/50 {
			t.Errorf("%d bytes are kept of %d", n, len(long.Body))
		}
		r, found, err := tx.StoredResponse(slot)
		if !found || !reflect.DeepEqual(r, long) {
			t.Errorf("%d bytes came back, %v", len(r.Body), found)
		}
		return err
	})
	update(t, s, func(tx *Tx) error { // as it was written before
		raw, err := encodeRecord(bucketStoredResponses, slot[:], long)
		return errors.Join(err, tx.bucket(bucketStoredResponses).Put(slot[:], raw))
	})
	view(t, s, func(tx *Tx) error {
		r, found, err := tx.StoredResponse(slot)
		if !found || !reflect.DeepEqual(r, long) {
			t.Errorf("%d bytes came back of the old form, %v", len(r.Body), found)
		}
		return err
	})
	cut := responseRecord{StoredResponse: model.StoredResponse{RequestHash: digest(1), Status: 201, At: testTime}, Packed: []byte("no gzip")}
	update(t, s, func(tx *Tx) error {
		raw, err := encodeRecord(bucketStoredResponses, slot[:], cut)
		return errors.Join(err, tx.bucket(bucketStoredResponses).Put(slot[:], raw))
	})
	view(t, s, func(tx *Tx) error {
		if _, found, err := tx.StoredResponse(slot); found || !errors.Is(err, ErrDamaged) {
			t.Errorf("%v, %v", found, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		_, err := tx.PruneStoredResponses(testTime.Add(time.Hour), 9)
		return err
	})
}
