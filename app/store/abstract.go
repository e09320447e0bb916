package store

import "deedkeep/app/title"

// NewAbstractID gives the next number of an abstract.
func (t *Tx) NewAbstractID() (uint64, error) { return abstracts.next(t) }

// Abstract reads one; NotFound when absent.
func (t *Tx) Abstract(id uint64) (title.Abstract, error) { return abstracts.get(t, id) }

// PutAbstract writes one, new or changed.
func (t *Tx) PutAbstract(a title.Abstract) error {
	if !abstracts.has(t, a.ID) {
		if err := t.add(CountAbstracts, 1); err != nil {
			return err
		}
	}
	return abstracts.put(t, a.ID, a)
}
