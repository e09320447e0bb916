package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
)

// eventRow is one entry of the log in words.
type eventRow struct {
	Seq          uint64
	At           time.Time
	Who, Address string
	Words        string
	Record       *eventRecord // nil: the words say it all
	In           *eventRecord // the abstract that a document belongs to
	Details      []string
	Changes      []changeLine
}

// eventRecord is a record that an entry names. Path is "" where there is no page of it,
// or no longer.
type eventRecord struct {
	Noun, Name, Path string
	Gone             bool // for good
	Trashed          bool
}

func record(noun string, id uint64) string { return noun + ":" + strconv.FormatUint(id, 10) }

func fileRecord(id uint64) string { return record("file", id) }

// idsOf is the permutation of a noun's numbers; nil where pages show the numbers.
func (p *pages) idsOf(noun string) *secret.IDs {
	switch noun {
	case "abstract":
		return p.abstracts
	case "order":
		return p.orders
	}
	return nil
}

// eventRows puts entries into words; the names of all their records are read at once.
func (p *pages) eventRows(ctx context.Context, events []model.Event) ([]eventRow, error) {
	var records []string
	for _, e := range events {
		records = append(records, e.Record, e.Detail["abstract"])
		for _, c := range e.Changes {
			records = append(records, referred(c.Field, c.From), referred(c.Field, c.To))
		}
	}
	names, err := p.Vault.Names(ctx, records)
	rows := make([]eventRow, 0, len(events))
	for _, e := range events {
		rows = append(rows, p.eventRow(e, names))
	}
	return rows, err
}

func (p *pages) eventRow(e model.Event, names map[string]vault.RecordName) eventRow {
	word := wordOf(e.Kind)
	row := eventRow{Seq: e.Seq, At: e.At, Who: actorWords(e.Actor), Address: e.Actor.Address, Words: word.words}
	if e.Record != "" && word.record != "" {
		row.Record = p.eventRecord(word.nounOf(e.Record), e.Record, e.Detail["name"]+e.Detail["number"], names)
	}
	if in := e.Detail["abstract"]; in != "" {
		row.In = p.eventRecord("abstract", in, "", names)
	}
	for _, d := range detailWords {
		switch value := e.Detail[d.name]; {
		case value == "1" && d.one == "-":
		case value == "1" && d.one != "":
			row.Details = append(row.Details, d.one)
		case value != "":
			row.Details = append(row.Details, fmt.Sprintf(d.words, value))
		}
	}
	definitions := strings.HasPrefix(e.Kind, "template.") || strings.HasPrefix(e.Kind, "order_")
	for _, c := range e.Changes {
		if definitions {
			row.Changes = append(row.Changes, changeLine{Words: c.DescribeDefinition()})
		} else {
			row.Changes = append(row.Changes, changeWords(c, nil, names))
		}
	}
	return row
}

// eventRecord gives the name of a record as it is now, or as the entry has it.
func (p *pages) eventRecord(noun, of, then string, names map[string]vault.RecordName) *eventRecord {
	name, there := names[of]
	rec := &eventRecord{Noun: noun, Name: name.Text, Gone: !there, Trashed: there && !name.Live}
	kind, number, _ := strings.Cut(of, ":")
	id, err := strconv.ParseUint(number, 10, 64)
	if rec.Name == "" {
		rec.Name = then
	}
	if rec.Name == "" {
		if rec.Name = number; err == nil && p.idsOf(kind) != nil {
			rec.Name = p.idsOf(kind).Encode(id)
		}
	}
	if name.Live && err == nil {
		rec.Path = p.recordPath(kind, id)
	}
	return rec
}

// recordPath is where the page of a record is; "" for none.
func (p *pages) recordPath(noun string, id uint64) string {
	switch noun {
	case "abstract":
		return p.abstractPath(id)
	case "order":
		return p.orderPath(id)
	case "file":
		return documentPath(id)
	case "folder":
		return folderPath(id)
	case "template":
		return templatePath(id)
	case "user", "key":
		return "/admin/" + noun + "s/" + strconv.FormatUint(id, 10)
	}
	return ""
}

// cutRecord takes a record's name in the log apart.
func cutRecord(of string) (noun string, id uint64, err error) {
	noun, number, _ := strings.Cut(of, ":")
	if id, err = strconv.ParseUint(number, 10, 64); err != nil {
		return noun, 0, errs.RecordNotFound("record", of)
	}
	return noun, id, nil
}
