package admin

import (
	"context"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
)

// maxRecordChoices is the maximum number of records to choose from when a filter is ambiguous.
const maxRecordChoices = 10

// matchedRecord is a record that the filter text could refer to.
type matchedRecord struct {
	RecordType, Name, Under string
	Path                    string // address of the record's page
	record                  string // record name in the audit log
	Asked                   string // filter text that selects only this record
}

func (p *Pages) newMatchedRecord(recordType string, id uint64, name, under string) matchedRecord {
	one := matchedRecord{
		RecordType: recordType, Name: name, Under: under, Path: p.RecordPath(recordType, id),
		record: model.RecordRef(recordType, id), Asked: p.PublicRecordName(recordType, id),
	}
	if recordType == "file" {
		one.RecordType = "document"
	}
	return one
}

// findRecords returns the records that a text could refer to. The text may be the address of a
// page, an ID, a number, a parcel ID, a street address, a username, or words in a document.
func (p *Pages) findRecords(r *page.Request, text string) ([]matchedRecord, error) {
	ctx := r.Context()
	text = strings.TrimSpace(text)
	if recordName := p.ParseRecordName(text); recordName != "" {
		return []matchedRecord{{record: recordName}}, nil
	}
	list, err := p.recordsByID(ctx, text)
	if err != nil || len(list) > 0 {
		return list, err
	}
	users, err := p.App.Users.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if text != "" && model.Fold(u.Name) == model.Fold(text) {
			list = append(list, p.newMatchedRecord("user", u.ID, u.Name, ""))
		}
	}
	found, err := p.App.Search.Find(ctx, text, maxRecordChoices)
	if err != nil {
		return nil, err
	}
	var exact, others []matchedRecord
	for _, g := range found {
		for _, h := range g.Hits {
			if one := p.newMatchedRecord(h.Kind, h.ID, h.Heading, h.Subheading); h.Exact {
				exact = append(exact, one)
			} else {
				others = append(others, one)
			}
		}
	}
	if list = append(list, exact...); len(list) == 0 {
		list = others
	}
	if len(list) > 0 {
		return list[:min(len(list), maxRecordChoices)], nil
	}
	return p.searchRecords(r, text)
}

// recordsByID returns the abstract and the order with the given opaque ID, if they exist.
func (p *Pages) recordsByID(ctx context.Context, text string) (list []matchedRecord, err error) {
	for _, recordType := range []string{"abstract", "order"} {
		id, ok := p.IDs.ForType(recordType).Decode(text)
		if !ok {
			continue
		}
		names, err := p.App.Names(ctx, []string{model.RecordRef(recordType, id)})
		if err != nil {
			return nil, err
		}
		if name, there := names[model.RecordRef(recordType, id)]; there {
			list = append(list, p.newMatchedRecord(recordType, id, name.Text, ""))
		}
	}
	return list, nil
}

// searchRecords returns the records found by full-text search. It returns none if the search index
// is unavailable or the text is too long.
func (p *Pages) searchRecords(r *page.Request, text string) (list []matchedRecord, err error) {
	if text = search.TrimText(strings.ToValidUTF8(text, "")); page.TooShortToSearch(text) {
		return nil, nil
	}
	answer, err := p.App.Search.Records(r.Context(), r.Actor, search.Query{Text: text, Limit: maxRecordChoices, SkipCounts: true})
	switch errs.KindOf(err) {
	case errs.Invalid, errs.Unavailable:
		return nil, nil
	}
	for _, hit := range answer.Items {
		list = append(list, p.newMatchedRecord(hit.Kind, hit.ID, hit.Heading, hit.Subheading))
	}
	return list, err
}
