package titlework

import (
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// A form with rows names the rows that it was rendered with: Row.Was of each row, which is "" for a new one, and the field
// "base" for all stored rows, so that one that is missing counts as removed.

// fingerprint returns the fingerprint of the row's values.
func (r Row) fingerprint(fields []model.FieldLabel) string {
	values := make([]string, 0, len(fields))
	for _, f := range fields {
		values = append(values, r.values[f.Name])
	}
	return page.Fingerprint(model.Text, values)
}

// setBase sets the fingerprints of the stored rows, which the form is based on.
func (r *Rows) setBase(fields []model.FieldLabel) {
	r.Base = []string{""} // so that the form always has the field
	for i := range r.Rows {
		r.Rows[i].Was = r.Rows[i].fingerprint(fields)
		r.Base = append(r.Base, r.Rows[i].Was)
	}
}

// merge merges submitted rows with the stored ones, row by row. A row that only one person changed, added, or removed is
// as that person left it. If both changed a row, both versions of it are in the result, and the submitted one is marked
// with clash. kept reports whether there are changes of someone else.
func (l rowList) merge(base []string, stored, submitted []Row) (merged []Row, clash, kept bool) {
	left := map[string]int{} // stored rows that no submitted one is based on, by fingerprint
	for _, row := range stored {
		left[row.Was]++
	}
	for _, row := range submitted {
		switch {
		case row.Was == "": // new
		case left[row.Was] > 0:
			left[row.Was]--
		case row.fingerprint(l.fields) == row.Was:
			kept = true
			continue // someone else changed or removed it
		default:
			row.Was, row.Problems, clash = "", map[string]string{l.text: clashText}, true
		}
		merged = append(merged, row)
	}
	removed := map[string]int{} // rows that the form was rendered with and doesn't have any longer, by fingerprint
	for _, was := range base {
		removed[was]++
	}
	for _, row := range submitted {
		removed[row.Was]--
	}
	after := 0
	for _, row := range stored {
		at := slices.IndexFunc(merged[after:], func(have Row) bool { return have.Was == row.Was })
		switch {
		case at >= 0:
			after += at + 1
		case left[row.Was] > 0 && removed[row.Was] > 0:
			left[row.Was], removed[row.Was] = left[row.Was]-1, removed[row.Was]-1
		case left[row.Was] > 0: // someone else added or changed it
			left[row.Was], kept = left[row.Was]-1, true
			merged = slices.Insert(merged, after, row)
			after++
		}
	}
	return merged, clash, kept
}

// clashText is the problem of a row that two people changed.
const clashText = "Someone else changed or removed this row while you were editing it. Remove it, or the row that replaced it."
