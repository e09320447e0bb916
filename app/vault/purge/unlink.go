package purge

import (
	"cmp"
	"errors"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// logUnlinked adds the audit entry for a record that changes because it refers to the purged one.
func (p *pass) logUnlinked(t *store.Tx, kind, recordType string, id uint64, purgedType string, purged uint64,
	changes []model.Change) error {
	return p.v.AddEntry(t, model.Event{At: p.v.Now(), Actor: p.actor, Kind: kind, Record: model.RecordRef(recordType, id),
		Detail: map[string]string{purgedType: model.RecordRef(purgedType, purged)}, Changes: changes})
}

// unlinkInstruments prepares the purge of an abstract. In other abstracts, such as its bring-down,
// relations to its instruments become text.
func (p *pass) unlinkInstruments(t *store.Tx, abstract uint64) error {
	list, err := t.InstrumentsOfAbstract(abstract, func(*model.Instrument) bool { return true })
	if err != nil {
		return err
	}
	for _, i := range list {
		if err := p.replaceRelations(t, i, func(other model.Instrument) bool { return other.AbstractID != abstract }); err != nil {
			return err
		}
	}
	return nil
}

// unlinkInstrument prepares the purge of an instrument: relations to it become text, and the rows of
// requirements and the sequence of the runsheet no longer contain it.
func (p *pass) unlinkInstrument(t *store.Tx, i model.Instrument) error {
	if err := p.replaceRelations(t, i, func(model.Instrument) bool { return true }); err != nil {
		return err
	}
	work, err := t.TitleWork(i.AbstractID)
	if err != nil {
		return err
	}
	isRow := func(r model.RequirementRow) bool { return r.InstrumentID == i.ID }
	if !slices.Contains(work.Sequence, i.ID) && !slices.ContainsFunc(work.Requirements, isRow) {
		return nil
	}
	old := work
	work.Sequence = slices.DeleteFunc(slices.Clone(work.Sequence), func(id uint64) bool { return id == i.ID })
	work.Requirements = slices.Clone(work.Requirements)
	changed := false
	for n := range work.Requirements {
		if isRow(work.Requirements[n]) {
			work.Requirements[n].InstrumentID, changed = 0, true
			work.Versions.Requirements++
		}
	}
	if changed {
		err = p.logUnlinked(t, "requirements.changed", vault.AbstractOps.Name, i.AbstractID, vault.InstrumentType, i.ID, old.Changes(work))
	}
	return errors.Join(err, t.PutTitleWork(work))
}

// replaceRelations replaces the relations of other instruments to an instrument with text that says
// where it is recorded.
func (p *pass) replaceRelations(t *store.Tx, i model.Instrument, affected func(other model.Instrument) bool) error {
	others, err := t.InstrumentsReferringTo(i.ID)
	if err != nil {
		return err
	}
	types, err := t.DocumentTypes()
	if err != nil {
		return err
	}
	of, _ := types.ByID(i.TypeID)
	text := cmp.Or(i.RecordingReference(), i.Heading(of))
	for _, other := range others {
		if !affected(other) {
			continue
		}
		old := other
		other.Relations = slices.Clone(other.Relations)
		for n, r := range other.Relations {
			if r.InstrumentID == i.ID {
				other.Relations[n].InstrumentID, other.Relations[n].Text = 0, cmp.Or(r.Text, text)
			}
		}
		vault.NextVersion(&other.Version, &other.UpdatedAt, p.v.Now())
		if err := errors.Join(vault.PutInstrument(t, other), p.logUnlinked(t, "instrument.changed", vault.InstrumentType, other.ID,
			vault.InstrumentType, i.ID, old.Changes(other))); err != nil {
			return err
		}
	}
	return nil
}

// unlinkDocument removes the links of instruments, live or in the trash, to a document that is purged.
// Instruments that are purged with it get no audit entry.
func (p *pass) unlinkDocument(t *store.Tx, file uint64, item vault.Trashed) error {
	list, err := t.InstrumentsOfFile(file)
	if err != nil {
		return err
	}
	for _, i := range list {
		old := i
		i.Documents = slices.DeleteFunc(slices.Clone(i.Documents), func(d model.DocumentLink) bool { return d.FileID == file })
		vault.NextVersion(&i.Version, &i.UpdatedAt, p.v.Now())
		if err := vault.PutInstrument(t, i); err != nil {
			return err
		}
		if item.Type == vault.AbstractOps.Name && item.ID == i.AbstractID {
			continue
		}
		if err := p.logUnlinked(t, "instrument.changed", vault.InstrumentType, i.ID, vault.FileOps.Name, file, old.Changes(i)); err != nil {
			return err
		}
	}
	return nil
}

// unlinkOrder removes the links of abstracts to an order that is purged.
func (p *pass) unlinkOrder(t *store.Tx, order uint64) error {
	for _, abstract := range t.AbstractsOfOrder(order) {
		work, err := t.TitleWork(abstract)
		if err != nil {
			return err
		}
		old := work
		work.OrderID = 0
		work.Versions.Order++
		if err := errors.Join(t.PutTitleWork(work), p.logUnlinked(t, "order_link.changed", vault.AbstractOps.Name, abstract, vault.OrderOps.Name,
			order, old.Changes(work))); err != nil {
			return err
		}
	}
	return nil
}
