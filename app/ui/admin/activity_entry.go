package admin

import (
	"context"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// eventRow is an audit entry, formatted for display.
type eventRow struct {
	Seq          uint64
	At           time.Time
	Who, Address string
	Words        string
	Record       *eventRecord // nil if Words is the complete sentence
	In           *eventRecord // abstract that contains the document
	Details      []string
	Changes      []string // in words
}

// eventRecord is a record that an audit entry refers to. Path is "" if the record has no page or
// was deleted.
type eventRecord struct {
	RecordType, Name, Path string
	Gone                   bool // permanently deleted
	Trashed                bool
}

// eventRows formats the entries for display. It reads the names of all their records at once.
func (p *Pages) eventRows(ctx context.Context, events []model.Event) ([]eventRow, error) {
	records := page.UnnamedRecords(events)
	for _, e := range events {
		records = append(records, e.Record, e.Detail["abstract"])
	}
	names, err := p.App.Names(ctx, records)
	rows := make([]eventRow, 0, len(events))
	for _, e := range events {
		rows = append(rows, p.eventRow(e, names))
	}
	return rows, err
}

func (p *Pages) eventRow(e model.Event, names map[string]vault.RecordName) eventRow {
	word := page.EventTextOf(e)
	row := eventRow{Seq: e.Seq, At: e.At, Who: page.ActorText(e.Actor), Address: e.Actor.Address, Words: word.Words}
	if e.Record != "" && word.Record != "" {
		row.Record = p.eventRecord(word.RecordType(e.Record), e, e.Record, e.Detail["name"]+e.Detail["number"], names)
	}
	if in := e.Detail["abstract"]; in != "" {
		row.In = p.eventRecord("abstract", e, in, "", names)
	}
	row.Details, row.Changes = page.EventDetails(e.Detail), page.ChangeTexts(e, nil, names)
	return row
}

// eventRecord returns a record of an audit entry with the name that it had. Entries of older versions
// may have its name in a detail, which is then, or none.
func (p *Pages) eventRecord(recordType string, e model.Event, of, then string, names map[string]vault.RecordName) *eventRecord {
	name, there := names[of]
	rec := &eventRecord{RecordType: recordType, Name: page.EventRecordName(e, of, names), Gone: !there, Trashed: there && !name.Live}
	kind, number, _ := strings.Cut(of, ":")
	id, err := strconv.ParseUint(number, 10, 64)
	if rec.Name == "" {
		rec.Name = then
	}
	if rec.Name == "" {
		if rec.Name = number; err == nil && p.IDs.ForType(kind) != nil {
			rec.Name = p.IDs.ForType(kind).Encode(id)
		}
	}
	if name.Live && err == nil {
		rec.Path = p.RecordPath(kind, id)
	}
	return rec
}
