package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// filter is a query parameter that filters a list. read adds the condition for a nonempty
// value to q. If the value is invalid, it adds a field error to invalid.
type filter struct {
	name          string
	read          func(s *server, text string, q *vault.Query, invalid *errs.Fields)
	notWithSearch bool // not in the search index, so it can't be combined with q
	searched      bool // only in the search index, so the list is searched even without q
}

// notWithSearch returns a copy of f that can't be combined with the search parameter q.
func notWithSearch(f filter) filter {
	f.notWithSearch = true
	return f
}

// searched returns a copy of f that is only in the search index.
func searched(f filter) filter {
	f.searched = true
	return f
}

func addFilter(q *vault.Query, column model.Column, value string) {
	q.Filters = append(q.Filters, vault.Filter{Column: column, Value: value})
}

// byText returns a filter for records whose column equals the value, ignoring case. The
// value may have up to maxLength characters.
func byText(column model.Column, maxLength int) filter {
	name := string(column)
	return filter{name: name, read: func(_ *server, text string, q *vault.Query, invalid *errs.Fields) {
		switch {
		case !decode.ValidText(text):
			invalid.Add(name, errs.InvalidCharacters)
		case utf8.RuneCountInString(text) > maxLength:
			invalid.Add(name, errs.TooLong, maxLength)
		}
		addFilter(q, column, text)
	}}
}

// byRecordColumns returns the filters by model.RecordColumns.
func byRecordColumns() (list []filter) {
	for _, column := range model.RecordColumns() {
		list = append(list, byText(column, model.MaxLineLength))
	}
	return list
}

// byNumber returns a filter by the numeric ID of a related record. The related record does
// not have to exist.
func byNumber(name string, column model.Column) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query, invalid *errs.Fields) {
		n, _, ok := decode.Integer(text)
		switch {
		case !ok:
			invalid.Add(name, errs.NotInteger)
		case n <= 0:
			invalid.Add(name, errs.InvalidChoice)
		}
		addFilter(q, column, strconv.FormatInt(n, 10))
	}}
}

// byFolder returns a filter by folder ID. The value "null" selects the files that are not
// in a folder and don't belong to an abstract.
func byFolder(name string) filter {
	return orNull(byNumber(name, model.ColumnFolder), model.ColumnUnassigned)
}

// byAssignee returns a filter by user ID. The value "null" selects the orders without an assignee.
func byAssignee() filter {
	return orNull(byNumber(string(model.ColumnAssignee), model.ColumnAssignee), model.ColumnAssignee)
}

// orNull returns a copy of f that also accepts the value "null", which selects the records whose column is empty.
func orNull(f filter, column model.Column) filter {
	read := f.read
	f.read = func(s *server, text string, q *vault.Query, invalid *errs.Fields) {
		if text == "null" {
			addFilter(q, column, "")
			return
		}
		read(s, text, q, invalid)
	}
	return f
}

// byAbstract returns a filter by the opaque ID of an abstract. The abstract does not have
// to exist.
func byAbstract(name string) filter {
	return filter{name: name, read: func(s *server, text string, q *vault.Query, invalid *errs.Fields) {
		id, ok := s.abstracts.Decode(text)
		if !ok {
			invalid.Add(name, errs.InvalidChoice)
		}
		addFilter(q, model.ColumnAbstract, strconv.FormatUint(id, 10))
	}}
}

// byBoolean returns a filter that accepts true, 1, false, and 0.
func byBoolean(name string, column model.Column) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query, invalid *errs.Fields) {
		switch strings.ToLower(text) {
		case "true", "1":
			addFilter(q, column, "true")
		case "false", "0":
			addFilter(q, column, "false")
		default:
			invalid.Add(name, errs.NotBoolean)
		}
	}}
}

// byChoice returns a filter that accepts one of choices, ignoring case.
func byChoice(name string, column model.Column, choices ...string) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query, invalid *errs.Fields) {
		if text = strings.ToLower(text); !slices.Contains(choices, text) {
			invalid.Add(name, errs.InvalidChoice)
		}
		addFilter(q, column, text)
	}}
}

// byCreated returns the filters created_from and created_to.
func byCreated() []filter {
	return byTimeRange("created", func(q *vault.Query) (from, to *time.Time) { return &q.CreatedFrom, &q.CreatedTo })
}

// byUpdated returns the filters updated_from and updated_to, which can't be combined with
// q.
func byUpdated() []filter {
	list := byTimeRange("updated", func(q *vault.Query) (from, to *time.Time) { return &q.UpdatedFrom, &q.UpdatedTo })
	for i := range list {
		list[i].notWithSearch = true
	}
	return list
}

// byTimeRange returns the filters of_from and of_to, both inclusive. Values are RFC 3339
// times or dates. A date means the entire day in UTC.
func byTimeRange(of string, ends func(*vault.Query) (from, to *time.Time)) []filter {
	from, to := of+"_from", of+"_to"
	return []filter{
		{name: from, read: func(_ *server, text string, q *vault.Query, invalid *errs.Fields) {
			at, _, ok := parseTime(text)
			if !ok {
				invalid.Add(from, errs.NotDateTime)
			}
			end, _ := ends(q)
			if *end = at.Truncate(time.Microsecond); end.Before(at) {
				*end = end.Add(time.Microsecond)
			}
		}},
		{name: to, read: func(_ *server, text string, q *vault.Query, invalid *errs.Fields) {
			at, day, ok := parseTime(text)
			if !ok {
				invalid.Add(to, errs.NotDateTime)
			}
			if day {
				at = at.AddDate(0, 0, 1).Add(-time.Microsecond)
			}
			_, end := ends(q)
			*end = at.Truncate(time.Microsecond)
		}},
	}
}

// parseTime parses a date or an RFC 3339 time. It replaces a space in a time with a plus
// sign, because clients often forget to encode the plus sign of the zone offset. day
// reports whether text is a date.
func parseTime(text string) (at time.Time, day, ok bool) {
	if at, err := time.Parse(time.DateOnly, text); err == nil && len(text) == len(time.DateOnly) {
		return at, true, at.Year() > 0
	}
	if strings.Contains(text, ",") { // time.Parse accepts a comma as a decimal point
		return time.Time{}, false, false
	}
	at, err := time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "+", 1))
	at = at.UTC()
	return at, false, err == nil && at.Year() > 0 && at.Year() <= 9999
}

// listScope returns text that identifies a list by its record type, sort order, and
// filters. A cursor is valid only for the list with the same scope.
func listScope(recordType, sort string, q vault.Query) string {
	parts := []string{"sort=" + sort}
	for _, w := range q.Filters {
		parts = append(parts, fmt.Sprintf("%s=%q", w.Column, model.Fold(w.Value)))
	}
	for name, text := range map[string]string{"due_from": q.DueFrom, "due_to": q.DueTo, "open": strconv.FormatBool(q.OpenOnly)} {
		if text != "" && text != "false" {
			parts = append(parts, name+"="+text)
		}
	}
	for name, at := range map[string]time.Time{"from": q.CreatedFrom, "to": q.CreatedTo, "updated_from": q.UpdatedFrom,
		"updated_to": q.UpdatedTo} {
		if !at.IsZero() {
			parts = append(parts, name+"="+at.Format(time.RFC3339Nano))
		}
	}
	slices.Sort(parts)
	return recordType + "?" + strings.Join(parts, "&")
}

// byDay returns a filter by a date in the form YYYY-MM-DD, which it stores in day.
func byDay(name string, day func(*vault.Query) *string) filter {
	return filter{name: name, read: func(_ *server, text string, q *vault.Query, invalid *errs.Fields) {
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			invalid.Add(name, errs.NotDate)
		}
		*day(q) = text
	}}
}

// byDue returns a filter for orders that are open, or open and overdue.
func byDue(name string) filter {
	return notWithSearch(filter{name: name, read: func(s *server, text string, q *vault.Query, invalid *errs.Fields) {
		switch text {
		case "open":
			q.OpenOnly = true
		case "overdue":
			lists.SetOverdue(q, s.Now().In(s.App.Stored.Location()))
		default:
			invalid.Add(name, errs.InvalidChoice)
		}
	}})
}
