package vaulttest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Instrument returns instrument i of abstract n, counted from 0. Its owner is the grantor and its
// borrower the grantee. Half of the instruments are deeds, and each deed's grantee is the grantor of
// the next deed.
func (m Mix) Instrument(n, i int) MixRecord {
	const firstKind = 1000                // no other record of the mix has this or a higher kind
	s := m.record(n, firstKind+uint64(i)) // not negative
	abstract := m.Abstract(n)
	s.County, s.State, s.City, s.Parcel = abstract.County, abstract.State, abstract.City, abstract.Parcel
	s.At = s.At.AddDate(i-m.Instruments, 0, 0)
	s.Number = fmt.Sprintf("%d%07d", s.At.Year(), n*m.Instruments+i)
	if i%2 == 0 && i > 0 {
		s.Owner = m.Instrument(n, i-2).Borrower
	}
	return s
}

// Types of the instruments of the mix, in turn.
var mixTypes = []string{"Warranty Deed", "Mortgage", "Quitclaim Deed", "Release or Satisfaction"}

// mixedInstruments writes the instruments of abstract n. Instrument i has the ID n*Instruments+i+1.
func (m *mixFiller) mixedInstruments(t *store.Tx, n int) error {
	if m.Instruments == 0 {
		return nil
	}
	types, err := t.DocumentTypes()
	if err != nil {
		return err
	}
	for i := range m.Instruments {
		id, err := t.NewInstrumentID()
		if err != nil || id != uint64(n*m.Instruments+i)+1 { // not negative
			return errors.Join(err, fmt.Errorf("instrument %d of abstract %d of the mix got ID %d", i, n, id))
		}
		kind, ok := types.ByName(mixTypes[i%len(mixTypes)])
		if !ok {
			return fmt.Errorf("document type %q is missing", mixTypes[i%len(mixTypes)])
		}
		s := m.Mix.Instrument(n, i)
		instrument := model.Instrument{ID: id, AbstractID: uint64(n) + 1, TypeID: kind.ID, Number: s.Number, // not negative
			BookType: "Book", Book: strconv.Itoa(s.Book), Page: strconv.Itoa(s.Page), County: s.County, State: s.State,
			Dated: s.At.AddDate(0, 0, -3).Format(time.DateOnly), Recorded: s.At.Format(time.DateOnly),
			Grantors: []string{s.Owner}, Grantees: []string{s.Borrower}, Parcels: []string{s.Parcel},
			Legal:   fmt.Sprintf("Lot %d, Block %d, %s Subdivision, %s County", s.Page%90, s.Book%20, strings.TrimSuffix(s.City, " City"), s.County),
			Version: 1, CreatedAt: m.At(n), UpdatedAt: m.At(n)}
		if i%len(mixTypes) == 3 {
			instrument.Relations = []model.Relation{{Kind: model.Releases, InstrumentID: id - 2}}
		}
		if err := errors.Join(t.PutInstrument(instrument), m.event(t, m.At(n), "instrument.created", "instrument", id)); err != nil {
			return err
		}
	}
	return nil
}
