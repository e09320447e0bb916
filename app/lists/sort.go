package lists

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// setSorts sets the sort order of each column. indexes maps column names to the indexes that sort them. All other columns are
// sorted in memory. Columns that only files have get no sort order.
func (t *Table[T]) setSorts(indexes map[string]model.Sort) {
	for n := range t.Columns {
		c := &t.Columns[n]
		if c.index = indexes[c.Name]; c.index != "" {
			c.Sort = string(c.index)
		} else if !slices.Contains(t.hidden, c.Name) {
			c.Sort = c.Name
		}
	}
}

// Sort sets the sort order of a query. text is Column.Sort, after "-" for descending. It returns false if there is no such
// sort order. Without an index, blank values are always last.
func (t Table[T]) Sort(q *vault.Query, text string) bool {
	name, down := strings.CutPrefix(text, "-")
	at := -1
	for n, c := range t.Columns {
		if c.Sort == name && name != "" && (at < 0 || c.index != "") {
			at = n
		}
	}
	if at < 0 {
		return false
	}
	column := t.Columns[at]
	q.Sort, q.Descending, q.Keys = column.index, down, nil
	if column.index != "" {
		return true
	}
	q.Keys = func(tx *store.Tx, stored any) ([][]byte, error) {
		rows, err := t.rows(tx, stored, column.Name)
		keys := make([][]byte, 0, len(rows))
		for n := range rows {
			keys = append(keys, column.key(&rows[n], down))
		}
		return keys, err
	}
	return true
}

// First bytes of keys. Numbers come before text.
const (
	blankFirst = 0x00
	numberKey  = 0x01
	textKey    = 0x02
	blankLast  = 0xFF
)

// maxKey is the maximum length of a key, as in an index.
const maxKey = 64

// key returns the key by which a record is sorted.
func (c Column[T]) key(record *T, down bool) []byte {
	if c.At != nil {
		return binary.BigEndian.AppendUint64([]byte{numberKey}, uint64(c.At(record).UnixMicro())^1<<63)
	}
	values := c.Values(record)
	text := strings.Join(values, ", ")
	if c.Type == model.Number || c.Type == model.Money {
		if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) {
			return appendNumber([]byte{numberKey}, n)
		}
	} else if c.Type != model.Date {
		text = model.FormatValues(c.Type, values)
	}
	switch text = model.Fold(text); {
	case text == "" && down:
		return []byte{blankFirst}
	case text == "":
		return []byte{blankLast}
	}
	return appendText([]byte{textKey}, text)
}

// appendNumber appends a number so that keys sort by it.
func appendNumber(key []byte, n float64) []byte {
	bits := math.Float64bits(n)
	if n < 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(key, bits)
}

// appendText appends text in natural sort order, so that "Bk 9" comes before "Bk 10".
func appendText(key []byte, text string) []byte {
	const digits = "0123456789"
	for text != "" && len(key) < maxKey {
		run := text[:len(text)-len(strings.TrimLeft(text, digits))]
		if run == "" {
			key, text = append(key, text[0]), text[1:]
			continue
		}
		number := strings.TrimLeft(run, "0")
		key = append(append(key, digits[0], byte(min(len(number), 254)+1)), number...)
		text = text[len(run):]
	}
	return key[:min(len(key), maxKey)]
}

// Sort is Table.Sort for a list of this name.
func (s *Service) Sort(ctx context.Context, record string, q *vault.Query, text string) (found bool, err error) {
	t, err := s.table(ctx, record)
	return t != nil && t.Sort(q, text), err
}

// concurrentSorts is the number of pages that are sorted in memory at the same time, for all users of the web interface.
const concurrentSorts = 2

var errTooManySorts = errs.NotNow(errs.Busy, "Too many lists are being sorted. Try again soon.", nil)

// maxTurnWait is the maximum time that a page waits for its turn.
const maxTurnWait = 10 * time.Second

// InTurns returns read for an actor. Pages that are sorted in memory wait for a turn.
func InTurns[T any](s *Service, actor model.Actor, read func(context.Context, vault.Query) (vault.Page[T], error)) func(
	context.Context, vault.Query) (vault.Page[T], error) {
	return func(ctx context.Context, q vault.Query) (vault.Page[T], error) {
		if q.Keys == nil {
			return read(ctx, q)
		}
		wait, cancel := context.WithTimeout(ctx, maxTurnWait)
		defer cancel()
		done, err := s.sorts.Take(wait, actor.Record())
		if err != nil {
			return vault.Page[T]{}, err
		}
		defer done()
		return read(ctx, q)
	}
}
