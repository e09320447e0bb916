package store

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"deedkeep/app/title"
)

func TestReplays(t *testing.T) {
	s := openNew(t)
	kept := func(n int) title.Replay {
		return title.Replay{Request: digest(n), Status: 201, Header: map[string]string{"Location": "x"}, Body: []byte{'{', 0xFF, byte(n)}, At: testTime.Add(time.Duration(n) * time.Hour)}
	}
	slot := func(n byte) [32]byte { return [32]byte{9 - n, 31: n} }
	update(t, s, func(tx *Tx) (err error) {
		for n := range byte(5) {
			err = errors.Join(err, tx.PutReplay(slot(n), kept(int(n))))
		}
		return errors.Join(err, tx.PutReplay(slot(1), kept(7))) // in place of another
	})
	left := func(want ...byte) {
		t.Helper()
		view(t, s, func(tx *Tx) error {
			for n := range byte(9) {
				r, found, err := tx.Replay(slot(n))
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
			n, err := tx.PruneReplays(testTime.Add(time.Duration(hours)*time.Hour), limit)
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
