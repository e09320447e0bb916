package store

import "strconv"

// CountAbstractsOfTemplate gives how many live abstracts were made from a template, by walking
// their index up to a limit; a limit of 100,000 costs some 20 ms.
func (t *Tx) CountAbstractsOfTemplate(template uint64, limit int) (int, error) {
	if t.isRebuilding() {
		return 0, errRebuilding
	}
	j, possible, err := abstracts.newPredicate(t, Query{Filters: []Filter{{ColumnTemplate, strconv.FormatUint(template, 10)}}})
	if err != nil || !possible {
		return 0, err
	}
	return countKeys(abstracts.filterRanges(t, &j)[0], limit), nil
}
