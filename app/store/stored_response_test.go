package store

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"deedkeep/app/model"
)

func TestStoredResponses(t *testing.T) {
	s := openNew(t)
	response := func(n int) model.StoredResponse {
		return model.StoredResponse{RequestHash: digest(n), Status: 201, Header: map[string]string{"Location": "x"},
			Body: []byte{'{', 0xFF, byte(n)}, At: testTime.Add(time.Duration(n) * time.Hour)}
	}
	slot := func(n byte) [32]byte { return [32]byte{9 - n, 31: n} }
	update(t, s, func(tx *Tx) (err error) {
		for n := range byte(5) {
			err = errors.Join(err, tx.PutStoredResponse(slot(n), response(int(n))))
		}
		return errors.Join(err, tx.PutStoredResponse(slot(1), response(7))) // replaces the previous one
	})
	checkRemaining := func(want ...byte) {
		t.Helper()
		view(t, s, func(tx *Tx) error {
			for n := range byte(9) {
				r, found, err := tx.StoredResponse(slot(n))
				expected := false
				for _, w := range want {
					expected = expected || w == n
				}
				at := int(n)
				if n == 1 {
					at = 7
				}
				if err != nil || found != expected || found && !reflect.DeepEqual(r, response(at)) {
					t.Errorf("response %d: got %+v, %v, %v; want found %v", n, r, found, err, expected)
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
	checkRemaining(0, 1, 2, 3, 4)
	prune(0, 9, 0)
	prune(1, 9, 1)
	checkRemaining(1, 2, 3, 4)
	prune(4, 1, 1)
	checkRemaining(1, 3, 4)
	prune(7, 9, 2)
	checkRemaining(1)
	prune(8, 9, 1)
	checkRemaining()
}

// Long responses are compressed.
func TestStoredResponsesAreCompressed(t *testing.T) {
	s := openNew(t)
	long := model.StoredResponse{RequestHash: digest(1), Status: 201, Body: bytes.Repeat([]byte(`{"id":1,"filename":"deed.pdf"},`), 10_000),
		At: testTime}
	slot := [32]byte{1}
	update(t, s, func(tx *Tx) error { return tx.PutStoredResponse(slot, long) })
	view(t, s, func(tx *Tx) error {
		if n := len(tx.bucket(bucketStoredResponses).Get(slot[:])); n > len(long.Body)/50 {
			t.Errorf("got %d stored bytes for %d, want 2%% at most", n, len(long.Body))
		}
		r, found, err := tx.StoredResponse(slot)
		if !found || !reflect.DeepEqual(r, long) {
			t.Errorf("got %d bytes, found %v; want the same response", len(r.Body), found)
		}
		return err
	})
	update(t, s, func(tx *Tx) error { // not compressed, as older versions wrote it
		raw, err := encodeRecord(bucketStoredResponses, slot[:], long)
		return errors.Join(err, tx.bucket(bucketStoredResponses).Put(slot[:], raw))
	})
	view(t, s, func(tx *Tx) error {
		r, found, err := tx.StoredResponse(slot)
		if !found || !reflect.DeepEqual(r, long) {
			t.Errorf("old format: got %d bytes, found %v; want the same response", len(r.Body), found)
		}
		return err
	})
	damaged := responseRecord{StoredResponse: model.StoredResponse{RequestHash: digest(1), Status: 201, At: testTime},
		Compressed: []byte("no gzip")}
	update(t, s, func(tx *Tx) error {
		raw, err := encodeRecord(bucketStoredResponses, slot[:], damaged)
		return errors.Join(err, tx.bucket(bucketStoredResponses).Put(slot[:], raw))
	})
	view(t, s, func(tx *Tx) error {
		if _, found, err := tx.StoredResponse(slot); found || !errors.Is(err, ErrDamaged) {
			t.Errorf("invalid gzip: got %v, %v; want ErrDamaged", found, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		_, err := tx.PruneStoredResponses(testTime.Add(time.Hour), 9)
		return err
	})
}

// A purge also removes the values that a record had before its last change.
func TestPurgeRemovesUndo(t *testing.T) {
	s := openNew(t)
	order, abstract := model.Order{ID: 1, Number: "T-1", Status: "new", Version: 1}, model.Abstract{ID: 1, Version: 1}
	slots := [][32]byte{UndoSlot("order:1", ""), UndoSlot("abstract:1", ""), UndoSlot("abstract:1", "names_run"),
		UndoSlot("abstract:1", "requirements"), UndoSlot("abstract:1", "assignment")}
	update(t, s, func(tx *Tx) error {
		err := errors.Join(tx.PutOrder(order), tx.PutAbstract(abstract), tx.PutTitleWork(model.TitleWork{AbstractID: 1}))
		for _, slot := range slots {
			err = errors.Join(err, tx.PutStoredResponse(slot, model.StoredResponse{Body: []byte(`{}`), At: testTime}))
		}
		return errors.Join(err, tx.PutStoredResponse([32]byte{7}, model.StoredResponse{Body: []byte(`{}`), At: testTime}))
	})
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.RemoveOrder(1), tx.RemoveTitleRecords(1), tx.RemoveAbstract(1))
	})
	view(t, s, func(tx *Tx) error {
		for n, slot := range slots {
			if _, found, err := tx.StoredResponse(slot); found || err != nil {
				t.Errorf("slot %d: found %v, %v; want nothing", n, found, err)
			}
		}
		if _, found, err := tx.StoredResponse([32]byte{7}); !found || err != nil {
			t.Errorf("other response: found %v, %v; want it", found, err)
		}
		return nil
	})
}
