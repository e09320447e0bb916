package lists

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// Limits of Used.
const (
	usedRecords = 200 // latest orders, and as many abstracts, that are read
	usedValues  = 50  // values of a field
	usedLength  = 100 // characters of a value
)

// Used returns the values of fields that forms can offer while users type: those that the latest orders and abstracts
// have, by the name of the field, the most frequent first. A value that only one record has is left out, except of county
// and state. only limits the result to these built-in fields. Without it, Used returns all fields, including custom
// ones.
func (s *Service) Used(ctx context.Context, only ...string) (map[string][]string, error) {
	counts := map[string]map[string]int{}
	count := func(name string, values []string) {
		for _, value := range values {
			if value == "" || utf8.RuneCountInString(value) > usedLength {
				continue
			}
			if counts[name] == nil {
				counts[name] = map[string]int{}
			}
			counts[name][value]++
		}
	}
	countRecord := func(fields []model.FieldValue, custom model.CustomValues) {
		for _, f := range fields {
			if len(only) == 0 || slices.Contains(only, f.Key) {
				count(f.Key, []string{f.Value})
			}
		}
		if len(only) > 0 {
			return
		}
		for key, raw := range custom {
			count("custom_fields."+key, model.StoredTexts(raw))
		}
	}
	err := eachLatest(ctx, s.vault.Orders.List, func(o model.Order) { countRecord(o.FieldValues(), o.Custom) })
	if err != nil {
		return nil, err
	}
	err = eachLatest(ctx, s.vault.Abstracts.ListWithoutFiles, func(a model.Abstract) { countRecord(a.FieldValues(), a.Custom) })
	used := map[string][]string{}
	for name, of := range counts {
		enough := 2
		if name == string(model.ColumnCounty) || name == string(model.ColumnState) {
			enough = 1
		}
		values := slices.DeleteFunc(slices.Collect(maps.Keys(of)), func(value string) bool { return of[value] < enough })
		slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
		if len(values) > 0 {
			used[name] = values[:min(len(values), usedValues)]
		}
	}
	return used, err
}

// eachLatest calls use with the latest records of a list.
func eachLatest[T any](ctx context.Context, list func(context.Context, vault.Query) (vault.Page[T], error), use func(T)) error {
	q := vault.Query{Descending: true, Limit: pageRows}
	for n := 0; n < usedRecords; {
		found, err := list(ctx, q)
		if err != nil {
			return err
		}
		for _, record := range found.Items {
			use(record)
		}
		n += max(len(found.Items), 1)
		if q.Position = found.Next; found.Next == nil {
			return nil
		}
	}
	return nil
}
