package store

import (
	"encoding/binary"
	"time"

	"deedkeep/app/model"
)

// TrashEntry identifies a record in the trash. At is the time it was deleted, with
// microsecond precision.
type TrashEntry struct {
	Type string // "abstract", "order", "file", "instrument", or "note"
	ID   uint64
	At   time.Time
}

// trash is the list of records in the trash, without files that were deleted along with
// their abstract. It has no bucket for records, because the index contains everything it
// needs.
var trash = indexedTable[TrashEntry]{
	table:       table[TrashEntry]{typeName: "trash entry"},
	indexLayout: indexLayout{indexBucket: bucketTrash, columnTags: "w"},
	columns:     []indexColumn[TrashEntry]{{name: model.ColumnKind, value: func(e *TrashEntry) columnValue { return columnValue{text: e.Type} }}},
	fields: func(e *TrashEntry) indexFields {
		return indexFields{created: sortableMicros(e.At), id: typedID(e.Type, e.ID)}
	},
	loadEntry: func(_ *Tx, id, created uint64) (TrashEntry, bool, error) {
		typeName := typeNameOf(id)
		return TrashEntry{typeName, id & (1<<typeShift - 1), timeFromMicros(created)}, isRecordType(typeName), nil
	},
	size: trashEntrySize,
}

// trashEntrySize returns the stored size of the deleted record, which is read to show its
// title.
func trashEntrySize(t *Tx, e *TrashEntry, _ int) int {
	switch e.Type {
	case "abstract":
		return abstracts.storedSize(t, e.ID)
	case "order":
		return orders.storedSize(t, e.ID)
	case "instrument":
		return instruments.storedSize(t, e.ID)
	case "note":
		return notes.storedSize(t, e.ID)
	}
	return files.storedSize(t, e.ID)
}

// A typed ID has the record type in its highest byte. Typed IDs are used by the trash index
// and the change feed.
const typeShift = 56

// typeNames contains the record types by their number in a typed ID. FilesOfAbstract and
// InstrumentsOfType occur only in the change feed.
var typeNames = []string{"", "abstract", "order", "file", FilesOfAbstract, "instrument", InstrumentsOfType, "note"}

// isRecordType reports whether a name in typeNames is the type of a single record.
func isRecordType(name string) bool {
	return name != "" && name != FilesOfAbstract && name != InstrumentsOfType
}

// typedID returns a record's ID combined with its type.
func typedID(typeName string, id uint64) uint64 {
	for i, known := range typeNames {
		if known == typeName {
			return uint64(i)<<typeShift | id
		}
	}
	return id
}

// typeNameOf returns the record type in a typed ID, or "" if it is invalid.
func typeNameOf(id uint64) string {
	if i := int(id >> typeShift); i < len(typeNames) {
		return typeNames[i]
	}
	return ""
}

// ListTrash returns a page of the records in the trash, sorted by time of deletion. It
// doesn't include files that were deleted along with their abstract. It supports a filter
// by model.ColumnKind, which is the record type, and the sort order model.SortCreated, which is the
// time of deletion.
func (t *Tx) ListTrash(q Query) (Page[TrashEntry], error) { return trash.list(t, q) }

// TrashedBefore returns up to limit records that were deleted before a time, oldest first.
// It starts after the given entry, or at the beginning if that is the zero entry.
func (t *Tx) TrashedBefore(at time.Time, after TrashEntry, limit int) (list []TrashEntry, err error) {
	if t.isRebuilding() {
		return nil, errRebuilding
	}
	end := binary.BigEndian.AppendUint64([]byte{tagCreated}, sortableMicros(at))
	from := []byte{tagCreated}
	if after.Type != "" {
		from = binary.BigEndian.AppendUint64(from, sortableMicros(after.At))
		from = append(binary.BigEndian.AppendUint64(from, typedID(after.Type, after.ID)), 0)
	}
	c := t.bucket(bucketTrash).Cursor()
	for k, _ := c.Seek(from); k != nil && string(k) < string(end) && len(list) < limit; k, _ = c.Next() {
		if len(k) != 1+keySuffixSize {
			continue // invalid key; Check reports it
		}
		id, created := binary.BigEndian.Uint64(k[9:]), binary.BigEndian.Uint64(k[1:])
		if e, ok, _ := trash.loadEntry(t, id, created); ok {
			list = append(list, e)
		}
	}
	return list, nil
}

// parseTrashedWith parses Trashed.With, which identifies the record that a file was deleted
// along with.
func parseTrashedWith(with string) (typeName string, id uint64) {
	v := parseValue(with)
	return v.text, v.number
}

// trashedWith reports whether a file was deleted along with an abstract.
func trashedWith(f *model.File, abstract uint64) bool {
	if f.Trashed == nil {
		return false
	}
	typeName, id := parseTrashedWith(f.Trashed.With)
	return typeName == abstracts.typeName && id == abstract
}
