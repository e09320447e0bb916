package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/decode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// filter is one parameter that narrows a list. read adds what a text, which is not
// empty, asks for, or gives the sentence that refuses it.
type filter struct {
	name       string
	read       func(e *server, text string, q *vault.Query) string
	unsearched bool // the index does not know it: it cannot be combined with q
}

// unsearched makes it a filter that cannot be combined with q.
func unsearched(f filter) filter {
	f.unsearched = true
	return f
}

func where(q *vault.Query, column vault.Column, value string) {
	q.Filters = append(q.Filters, vault.Filter{Column: column, Value: value})
}

// byText is equality of a text, without regard to case.
func byText(name string, column vault.Column, most int) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query) string {
		switch {
		case !decode.ValidText(text):
			return model.MsgInvalidCharacters(name)
		case utf8.RuneCountInString(text) > most:
			return model.MsgTooLong(name, most)
		}
		where(q, column, text)
		return ""
	}}
}

// byNumber is the number of another record, which need not be there.
func byNumber(name string, column vault.Column) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query) string {
		n, _, ok := decode.Integer(text)
		switch {
		case !ok:
			return model.MsgNotInteger(name)
		case n <= 0:
			return model.MsgInvalidChoice(name)
		}
		where(q, column, strconv.FormatInt(n, 10))
		return ""
	}}
}

// byFolder is byNumber, or `null` for the files in no folder and of no abstract.
func byFolder(name string) filter {
	number := byNumber(name, vault.ColumnFolder)
	return filter{name: name, read: func(e *server, text string, q *vault.Query) string {
		if text == "null" {
			where(q, vault.ColumnUnassigned, "")
			return ""
		}
		return number.read(e, text, q)
	}}
}

// byAbstract is the opaque id of an abstract, which need not be there.
func byAbstract(name string) filter {
	return filter{name: name, read: func(e *server, text string, q *vault.Query) string {
		id, ok := e.abstracts.Decode(text)
		if !ok {
			return model.MsgInvalidChoice(name)
		}
		where(q, vault.ColumnAbstract, strconv.FormatUint(id, 10))
		return ""
	}}
}

func byBoolean(name string, column vault.Column) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query) string {
		switch strings.ToLower(text) {
		case "true", "1":
			where(q, column, "true")
		case "false", "0":
			where(q, column, "false")
		default:
			return model.MsgNotBoolean(name)
		}
		return ""
	}}
}

func byChoice(name string, column vault.Column, choices ...string) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query) string {
		if text = strings.ToLower(text); !slices.Contains(choices, text) {
			return model.MsgInvalidChoice(name)
		}
		where(q, column, text)
		return ""
	}}
}

// byCreation are both ends of a span of time of creation.
func byCreation() []filter {
	return bySpan("created", func(q *vault.Query) (from, to *time.Time) { return &q.CreatedFrom, &q.CreatedTo })
}

// byUpdate are both ends of a span of time of the last change.
func byUpdate() []filter {
	list := bySpan("updated", func(q *vault.Query) (from, to *time.Time) { return &q.UpdatedFrom, &q.UpdatedTo })
	for i := range list {
		list[i].unsearched = true
	}
	return list
}

// bySpan are both ends of a span of time, inclusive: a date is the whole day in UTC, a
// date-time is of RFC 3339.
func bySpan(of string, ends func(*vault.Query) (from, to *time.Time)) []filter {
	from, to := of+"_from", of+"_to"
	return []filter{
		{name: from, read: func(_ *server, text string, q *vault.Query) string {
			at, _, ok := instant(text)
			if !ok {
				return model.MsgNotDateTime(from)
			}
			end, _ := ends(q)
			if *end = at.Truncate(time.Microsecond); end.Before(at) {
				*end = end.Add(time.Microsecond)
			}
			return ""
		}},
		{name: to, read: func(_ *server, text string, q *vault.Query) string {
			at, day, ok := instant(text)
			if !ok {
				return model.MsgNotDateTime(to)
			}
			if day {
				at = at.AddDate(0, 0, 1).Add(-time.Microsecond)
			}
			_, end := ends(q)
			*end = at.Truncate(time.Microsecond)
			return ""
		}},
	}
}

// instant reads a date or a date-time. A blank in one is the plus of its zone, which
// somebody put into an address as it was.
func instant(text string) (at time.Time, day, ok bool) {
	if at, err := time.Parse(time.DateOnly, text); err == nil && len(text) == len(time.DateOnly) {
		return at, true, at.Year() > 0
	}
	if strings.Contains(text, ",") { // which the library takes for a point
		return time.Time{}, false, false
	}
	at, err := time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "+", 1))
	at = at.UTC()
	return at, false, err == nil && at.Year() > 0 && at.Year() <= 9999
}

// scopeOf names a list, so that a cursor is of no other.
func scopeOf(noun, sort string, q vault.Query) string {
	parts := []string{"sort=" + sort}
	for _, w := range q.Filters {
		parts = append(parts, fmt.Sprintf("%s=%q", w.Column, model.Fold(w.Value)))
	}
	for name, at := range map[string]time.Time{"from": q.CreatedFrom, "to": q.CreatedTo, "updated_from": q.UpdatedFrom, "updated_to": q.UpdatedTo} {
		if !at.IsZero() {
			parts = append(parts, name+"="+at.Format(time.RFC3339Nano))
		}
	}
	slices.Sort(parts)
	return noun + "?" + strings.Join(parts, "&")
}
