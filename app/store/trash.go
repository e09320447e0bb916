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
var trash = indexedTable[TrashEntry]{
	table:       table[TrashEntry]{typeName: "trash entry"},
	indexLayout: indexLayout{indexBucket: bucketTrash, columnTags: "w"},
	columns:     []indexColumn[TrashEntry]{{name: ColumnKind, value: func(e *TrashEntry) columnValue { return columnValue{prefix: e.Type} }}},
	fields: func(e *TrashEntry) indexFields {
		return indexFields{created: sortableMicros(e.At), id: typedID(e.Type, e.ID)}
	},
	loadEntry: func(_ *Tx, id, created uint64) (TrashEntry, bool, error) {
		noun := typeNameOf(id)
		return TrashEntry{noun, id & (1<<typeShift - 1), timeFromMicros(created)}, noun != "" && noun != FilesOfAbstract, nil
	},
	size: trashEntrySize,
}

// trashEntrySize counts the record, whose heading is shown.
func trashEntrySize(t *Tx, e *TrashEntry) int {
	switch e.Type {
	case "abstract":
		return abstracts.storedSize(t, e.ID)
	case "order":
		return orders.storedSize(t, e.ID)
	}
	return files.storedSize(t, e.ID)
}

// In the trash the number of a record is led by a byte that says of which noun; the last
// is of the feed of changes alone.
const typeShift = 56

var typeNames = []string{"", "abstract", "order", "file", FilesOfAbstract}

func typedID(noun string, id uint64) uint64 {
	for i, known := range typeNames {
		if known == noun {
			return uint64(i)<<typeShift | id
		}
	}
	return id
}

// typeNameOf is "" for what nothing here wrote.
func typeNameOf(id uint64) string {
	if at := int(id >> typeShift); at < len(typeNames) {
		return typeNames[at]
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
	if t.isRebuilding() {
		return nil, errRebuilding
	}
	end := binary.BigEndian.AppendUint64([]byte{tagCreated}, sortableMicros(at))
	from := []byte{tagCreated}
	if behind.Type != "" {
		from = binary.BigEndian.AppendUint64(from, sortableMicros(behind.At))
		from = append(binary.BigEndian.AppendUint64(from, typedID(behind.Type, behind.ID)), 0)
	}
	c := t.bucket(bucketTrash).Cursor()
	for k, _ := c.Seek(from); k != nil && string(k) < string(end) && len(list) < limit; k, _ = c.Next() {
		if len(k) != 1+keySuffixSize {
			continue // Check reports it
		}
		id, created := binary.BigEndian.Uint64(k[9:]), binary.BigEndian.Uint64(k[1:])
		if e, ok, _ := trash.loadEntry(t, id, created); ok {
			list = append(list, e)
		}
	}
	return list, nil
}

// parseTrashedWith names a record there: With of a file that went along with its abstract.
func parseTrashedWith(with string) (noun string, id uint64) {
	v := parseValue(with)
	return v.prefix, v.number
}

// trashedWith reports whether a file is in the trash along with an abstract.
func trashedWith(f *model.File, abstract uint64) bool {
	if f.Trashed == nil {
		return false
	}
	noun, id := parseTrashedWith(f.Trashed.With)
	return noun == abstracts.typeName && id == abstract
}
