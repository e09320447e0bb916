package store

import (
	"encoding/binary"
	"time"

	"deedkeep/app/model"
)

// TrashEntry is a record in the trash, and since when, to the microsecond.
type TrashEntry struct {
	Type string // "abstract", "order" or "file"
	ID   uint64
	At   time.Time
}

// trash lists what is in the trash by itself. It has no records of its own: the
// index says it all.
var trash = listing[TrashEntry]{
	table:   table[TrashEntry]{noun: "trash entry"},
	layout:  layout{bucket: bucketTrash, tags: "w"},
	columns: []column[TrashEntry]{{name: ColumnKind, of: func(e *TrashEntry) value { return value{text: e.Type} }}},
	card:    func(e *TrashEntry) card { return card{created: micros(e.At), id: nounID(e.Type, e.ID)} },
	fetch: func(_ *Tx, id, created uint64) (TrashEntry, bool, error) {
		noun := nounOf(id)
		return TrashEntry{noun, id & (1<<nounShift - 1), timeOf(created)}, noun != "" && noun != FilesOfAbstract, nil
	},
	weigh: weighTrash,
}

// weighTrash counts the record, whose heading is shown.
func weighTrash(t *Tx, e *TrashEntry) int {
	switch e.Type {
	case "abstract":
		return abstracts.stored(t, e.ID)
	case "order":
		return orders.stored(t, e.ID)
	}
	return files.stored(t, e.ID)
}

// In the trash the number of a record is led by a byte that says of which noun; the last
// is of the feed of changes alone.
const nounShift = 56

var trashNouns = []string{"", "abstract", "order", "file", FilesOfAbstract}

func nounID(noun string, id uint64) uint64 {
	for i, known := range trashNouns {
		if known == noun {
			return uint64(i)<<nounShift | id
		}
	}
	return id
}

// nounOf is "" for what nothing here wrote.
func nounOf(id uint64) string {
	if at := int(id >> nounShift); at < len(trashNouns) {
		return trashNouns[at]
	}
	return ""
}

// ListTrash gives a page of the trash, in the order things went there. A file that
// went along with its abstract is not listed. It takes ColumnKind, which is the
// noun, and SortCreated, which is the time it went there.
func (t *Tx) ListTrash(q Query) (Page[TrashEntry], error) { return trash.list(t, q) }

// TrashedBefore gives at most limit entries that went into the trash before a time,
// the oldest first: those behind an entry, or from the first on where that is zero.
func (t *Tx) TrashedBefore(at time.Time, behind TrashEntry, limit int) (list []TrashEntry, err error) {
	if t.rebuilding() {
		return nil, errRebuilding
	}
	end := binary.BigEndian.AppendUint64([]byte{tagCreated}, micros(at))
	from := []byte{tagCreated}
	if behind.Type != "" {
		from = binary.BigEndian.AppendUint64(from, micros(behind.At))
		from = append(binary.BigEndian.AppendUint64(from, nounID(behind.Type, behind.ID)), 0)
	}
	c := t.bucket(bucketTrash).Cursor()
	for k, _ := c.Seek(from); k != nil && string(k) < string(end) && len(list) < limit; k, _ = c.Next() {
		if len(k) != 1+indexTail {
			continue // Check reports it
		}
		id, created := binary.BigEndian.Uint64(k[9:]), binary.BigEndian.Uint64(k[1:])
		if e, ok, _ := trash.fetch(t, id, created); ok {
			list = append(list, e)
		}
	}
	return list, nil
}

// inTrash names a record there: With of a file that went along with its abstract.
func inTrash(with string) (noun string, id uint64) {
	v := valueOf(with)
	return v.text, v.number
}

// goesWith reports whether a file is in the trash along with an abstract.
func goesWith(f *model.File, abstract uint64) bool {
	if f.Trashed == nil {
		return false
	}
	noun, id := inTrash(f.Trashed.With)
	return noun == abstracts.noun && id == abstract
}
