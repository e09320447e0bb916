package reader

import "container/list"

// lane is what waits of one class.
type lane struct {
	ring    *list.List // of *line: the owners who wait
	byOwner map[string]*list.Element
	waiting int
}

// line is what waits of one owner.
type line struct {
	owner   string
	tickets *list.List // of *ticket
}

// ticket is one call that waits.
type ticket struct {
	class  Class
	owner  string
	place  *list.Element // in its line
	called chan struct{} // closed when granted or turned away
	err    error         // ErrBusy: turned away
}

// add puts t at the end of its owner's line.
func (l *lane) add(t *ticket) {
	e := l.byOwner[t.owner]
	if e == nil {
		e = l.ring.PushBack(&line{owner: t.owner, tickets: list.New()})
		l.byOwner[t.owner] = e
	}
	t.place = e.Value.(*line).tickets.PushBack(t)
	l.waiting++
}

// remove takes t out of its line, wherever it stands.
func (l *lane) remove(t *ticket) {
	e := l.byOwner[t.owner]
	tickets := e.Value.(*line).tickets
	tickets.Remove(t.place)
	l.waiting--
	if tickets.Len() == 0 {
		l.ring.Remove(e)
		delete(l.byOwner, t.owner)
	}
}

// next takes the oldest ticket of the first owner who may have a slot, who then
// is the last of the owners; nil when there is none.
func (l *lane) next(may func(owner string) bool) *ticket {
	for e := l.ring.Front(); e != nil; e = e.Next() {
		line := e.Value.(*line)
		if !may(line.owner) {
			continue
		}
		t := line.tickets.Front().Value.(*ticket)
		l.ring.MoveToBack(e)
		l.remove(t)
		return t
	}
	return nil
}

// makeRoom turns the youngest ticket of the longest line away when that line is
// longer than the owner's would be: a flood drowns nobody but itself.
func (l *lane) makeRoom(owner string) bool {
	own := 0
	if e := l.byOwner[owner]; e != nil {
		own = e.Value.(*line).tickets.Len()
	}
	var longest *list.List
	for e := l.ring.Front(); e != nil; e = e.Next() {
		if tickets := e.Value.(*line).tickets; longest == nil || tickets.Len() > longest.Len() {
			longest = tickets
		}
	}
	if longest == nil || longest.Len() <= own+1 {
		return false
	}
	t := longest.Back().Value.(*ticket)
	l.remove(t)
	t.err = ErrBusy
	close(t.called)
	return true
}
