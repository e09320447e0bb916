package store

import "deedkeep/app/title"

// AddEvent appends to the log, chained to the entry before it, whose head is read
// in the same transaction. Seq, Prev and Hash are set here.
func (t *Tx) AddEvent(e title.Event) error {
	last, err := t.lastEvent()
	if err != nil {
		return err
	}
	if e.Seq, err = events.next(t); err != nil {
		return err
	}
	if e, err = e.Seal(last.Hash); err != nil {
		return err
	}
	if err := events.put(t, e.Seq, e); err != nil {
		return err
	}
	t.head = &e
	return nil
}

func (t *Tx) lastEvent() (e title.Event, err error) {
	if t.head != nil {
		return *t.head, nil
	}
	key, raw := t.bucket(bucketEvents).Cursor().Last()
	if key == nil {
		return e, nil
	}
	err = decode(bucketEvents, key, raw, &e)
	return e, err
}
