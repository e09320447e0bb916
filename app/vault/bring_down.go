package vault

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// BringDown creates an abstract that brings another one down to date. It carries over the property,
// the template, most field values, and the instruments, which it marks as prior. Its search starts
// at the effective date of the prior abstract.
func (s *TitleWork) BringDown(ctx context.Context, actor model.Actor, prior uint64, idempotency Idempotency[AbstractWithFiles],
) (created AbstractWithFiles, err error) {
	var from AbstractWithFiles
	var work model.TitleWork
	var template model.Template
	err = s.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, s.v); err != nil {
			return err
		}
		if from, err = AbstractOps.get(t, prior); err != nil {
			return err
		}
		if work, err = t.TitleWork(prior); err != nil {
			return err
		}
		if from.Abstract.TemplateID != 0 {
			template, err = t.Template(from.Abstract.TemplateID)
		}
		return err
	}, func(t *store.Tx) error {
		a := broughtDown(from.Abstract, work, template)
		a, _, err := s.v.Abstracts.create(t, actor, a, &acceptedFiles{})
		if err != nil {
			return err
		}
		created = AbstractWithFiles{Abstract: a}
		sequence, err := s.copyInstruments(t, prior, a)
		if err != nil {
			return err
		}
		return errors.Join(t.PutTitleWork(model.TitleWork{AbstractID: a.ID, PriorID: prior, Sequence: sequence, RunsheetVersion: 1}),
			s.v.AddEvent(t, a.CreatedAt, actor, "abstract.brought_down", txn.RecordRef(AbstractOps.Name, a.ID),
				map[string]string{"abstract": txn.RecordRef(AbstractOps.Name, prior)}),
			idempotency.SaveResponse(t, a.CreatedAt, created))
	})
	return created, err
}

// broughtDown returns the new abstract for a bring-down. Fields about the finished search start
// empty: the file number, the effective date, and the names run.
func broughtDown(from model.Abstract, work model.TitleWork, template model.Template) model.Abstract {
	a := model.Abstract{TemplateID: from.TemplateID, Property: from.Property, TaxMap: from.TaxMap, Custom: model.CustomValues{}}
	if len(template.Statuses) > 0 {
		a.Status = template.Statuses[0]
	}
	for key, value := range from.Custom {
		if !slices.Contains([]string{"file_number", fieldEffectiveDate, fieldSearchFrom, "names_run"}, key) {
			a.Custom[key] = value
		}
	}
	since := from.Custom.Text(fieldEffectiveDate)
	if n := len(work.Certificates); n > 0 {
		since = work.Certificates[n-1].EffectiveDate
	}
	set := func(key, value string) {
		if raw, err := json.Marshal(value); err == nil && value != "" &&
			slices.ContainsFunc(template.Fields, func(f model.Field) bool { return f.Key == key }) {
			a.Custom[key] = raw
		}
	}
	set(fieldSearchFrom, since)
	set("prior_effective_date", since)
	set("prior_file_number", from.FileNumber())
	return a
}

// copyInstruments copies the live instruments of the prior abstract to its bring-down and returns
// their IDs in the sequence of the runsheet. Relations among them refer to the copies.
func (s *TitleWork) copyInstruments(t *store.Tx, prior uint64, to model.Abstract) (sequence []uint64, err error) {
	work, err := t.TitleWork(prior)
	if err != nil {
		return nil, err
	}
	list, err := t.LiveInstruments(prior)
	if err != nil {
		return nil, err
	}
	copies := map[uint64]uint64{}
	list = model.SortRunsheet(list, work.Sequence)
	for _, i := range list {
		if copies[i.ID], err = t.NewInstrumentID(); err != nil {
			return nil, err
		}
	}
	for _, i := range list {
		i.ID, i.AbstractID, i.Prior, i.Version = copies[i.ID], to.ID, true, 1
		i.CreatedAt, i.UpdatedAt = to.CreatedAt, to.CreatedAt
		i.Relations = slices.Clone(i.Relations)
		for n, r := range i.Relations {
			if id, ok := copies[r.InstrumentID]; ok {
				i.Relations[n].InstrumentID = id
			}
		}
		if err := t.PutInstrument(i); err != nil {
			return nil, err
		}
		sequence = append(sequence, i.ID)
	}
	return sequence, nil
}
