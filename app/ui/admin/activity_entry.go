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
	Changes      []page.ChangeLine
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
	records := page.ReferencedRecords(events)
	for _, e := range events {
		records = append(records, e.Record, e.Detail["abstract"])
	}
	names, err := p.Vault.Names(ctx, records)
	rows := make([]eventRow, 0, len(events))
	for _, e := range events {
		rows = append(rows, p.eventRow(e, names))
	}
	return rows, err
}

func (p *Pages) eventRow(e model.Event, names map[string]vault.RecordName) eventRow {
	word := page.EventTextOf(e.Kind)
	row := eventRow{Seq: e.Seq, At: e.At, Who: page.ActorText(e.Actor), Address: e.Actor.Address, Words: word.Words}
	if e.Record != "" && word.Record != "" {
		row.Record = p.eventRecord(word.RecordType(e.Record), e.Record, e.Detail["name"]+e.Detail["number"], names)
	}
	if in := e.Detail["abstract"]; in != "" {
		row.In = p.eventRecord("abstract", in, "", names)
	}
	row.Details = page.EventDetails(e.Detail)
	definitions := strings.HasPrefix(e.Kind, "template.") || strings.HasPrefix(e.Kind, "order_")
	for _, c := range e.Changes {
		if definitions {
			row.Changes = append(row.Changes, page.ChangeLine{Words: c.DescribeDefinition()})
		} else {
			row.Changes = append(row.Changes, page.DescribeChange(c, nil, names))
		}
	}
	return row
}

// eventRecord returns the record with its current name. If it has none, it uses then, the name in
// the audit entry.
func (p *Pages) eventRecord(recordType, of, then string, names map[string]vault.RecordName) *eventRecord {
	name, there := names[of]
	rec := &eventRecord{RecordType: recordType, Name: name.Text, Gone: !there, Trashed: there && !name.Live}
	kind, number, _ := strings.Cut(of, ":")
	id, err := strconv.ParseUint(number, 10, 64)
	if rec.Name == "" {
		rec.Name = then
	}
	if rec.Name == "" {
		if rec.Name = number; err == nil && p.IDCodec(kind) != nil {
			rec.Name = p.IDCodec(kind).Encode(id)
		}
	}
	if name.Live && err == nil {
		rec.Path = p.RecordPath(kind, id)
	}
	return rec
}
