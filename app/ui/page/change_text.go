package page

import (
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// ChangeTexts returns the changes of an audit entry in words. Entries of older versions have no words:
// defs, the custom fields of the record, and names, the names that records have now, are for them.
func ChangeTexts(e model.Event, defs []model.Field, names map[string]vault.RecordName) []string {
	if texts := e.Texts(); len(texts) > 0 {
		return texts
	}
	e.Changes = slices.Clone(e.Changes)
	e.Describe(model.Describer{Custom: defs, Name: func(record string) string { return names[record].Text }})
	return e.Texts()
}

// UnnamedRecords returns the records that entries of older versions refer to, which have no names.
func UnnamedRecords(events []model.Event) (records []string) {
	for _, e := range events {
		if e.Names == nil {
			records = append(records, e.Record, e.Detail["abstract"])
		}
		for _, c := range e.Changes {
			if c.Text == "" {
				records = append(records, c.Records()...)
			}
		}
	}
	return records
}

// EventRecordName returns the name that the record of an entry had, or the one that it has now if the
// entry is from an older version.
func EventRecordName(e model.Event, record string, names map[string]vault.RecordName) string {
	if name := e.Names[record]; name != "" {
		return name
	}
	return names[record].Text
}
