package ui

import (
	"context"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// mostAbout is how many records the filter of the audit log offers to choose from.
const mostAbout = 10

// aboutRecord is a record that a text in the filter of the audit log may name.
type aboutRecord struct {
	Noun, Name, Under string
	Path              string // of its page
	record            string // in the log
	Asked             string // what the filter is asked for instead, to mean this one
}

func (p *pages) about(noun string, id uint64, name, under string) aboutRecord {
	one := aboutRecord{Noun: noun, Name: name, Under: under, Path: p.recordPath(noun, id), record: record(noun, id), Asked: record(noun, id)}
	if ids := p.idsOf(noun); ids != nil {
		one.Asked = noun + ":" + ids.Encode(id)
	}
	if noun == "file" {
		one.Noun = "document"
	}
	return one
}

// recordsAbout gives the records that a text may name: by the address of a page, an id,
// a number, a parcel or an address, the name of a user, or the words of a document.
func (p *pages) recordsAbout(ctx context.Context, who visitor, text string) ([]aboutRecord, error) {
	text = strings.TrimSpace(text)
	if named := p.recordOf(text); named != "" {
		return []aboutRecord{{record: named}}, nil
	}
	list, err := p.recordOfID(ctx, text)
	if err != nil || len(list) > 0 {
		return list, err
	}
	users, err := p.Vault.Users.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if text != "" && model.Fold(u.Name) == model.Fold(text) {
			list = append(list, p.about("user", u.ID, u.Name, ""))
		}
	}
	known, err := p.Vault.Find(ctx, text, mostAbout)
	if err != nil {
		return nil, err
	}
	var exact, others []aboutRecord
	for _, g := range known.Groups {
		for _, h := range g.Hits {
			if one := p.about(h.Noun, h.ID, h.Heading, h.Under); h.Exact {
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
		return list[:min(len(list), mostAbout)], nil
	}
	return p.recordsOfWords(ctx, who, text)
}

// recordOfID is the abstract or order of an id alone, as it stands in an address.
func (p *pages) recordOfID(ctx context.Context, text string) (list []aboutRecord, err error) {
	for _, noun := range []string{"abstract", "order"} {
		id, ok := p.idsOf(noun).Decode(text)
		if !ok {
			continue
		}
		names, err := p.Vault.Names(ctx, []string{record(noun, id)})
		if err != nil {
			return nil, err
		}
		if name, there := names[record(noun, id)]; there {
			list = append(list, p.about(noun, id, name.Text, ""))
		}
	}
	return list, nil
}

// recordsOfWords are the records that a search finds; none while there is no search
// index, or for a text that is too long.
func (p *pages) recordsOfWords(ctx context.Context, who visitor, text string) (list []aboutRecord, err error) {
	if text = vault.TrimSearch(strings.ToValidUTF8(text, "")); tooLittle(text) {
		return nil, nil
	}
	answer, err := p.Search.Search(ctx, who.Actor, vault.SearchQuery{Text: text, Limit: mostAbout})
	switch errs.KindOf(err) {
	case errs.Invalid, errs.Unavailable:
		return nil, nil
	}
	for _, hit := range answer.Hits {
		list = append(list, p.about(hit.Kind, hit.ID, hit.Heading, hit.Under))
	}
	return list, err
}
