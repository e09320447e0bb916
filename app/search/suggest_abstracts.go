package search

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/mention"
	"deedkeep/app/model"
	"deedkeep/app/pagetext"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// PartSuggestedAbstracts is the name of the suggested abstracts as a part of a response; see txn.DB.Derive.
const PartSuggestedAbstracts = "suggested abstracts"

const (
	maxSuggestedAbstracts = 5
	// maxSame is the maximum number of abstracts that a value may suggest. One that more abstracts have, such as the name
	// of a bank, doesn't tell them apart.
	maxSame = 10
)

// Weights of reasons. A number that someone wrote on the document, or into its name, outweighs all others together.
const (
	weightLabeled = 4000 // a number after a word such as Order, or in the name of the document
	weightNumber  = 950  // another number, which may be that of something else
	weightAddress = 500  // an address without its city
	weightField   = 40   // a name in a field of an abstract or an order
)

// SuggestAbstracts returns up to 5 abstracts that a document in a folder may belong to, most likely first. It looks for
// the numbers, addresses, parcels, lots, and names that the name and the text of the document state. The cost doesn't
// depend on the number of abstracts. It isn't logged as a search, because the actor typed no text.
func (s *Service) SuggestAbstracts(ctx context.Context, actor model.Actor, f model.File) (PriorSearches, error) {
	found := abstractFinder{pages: map[string]int{}}
	found.Service, found.subject = s, subject{kind: vault.FileOps.Name, id: f.ID}
	missing := s.Derive(ctx, PartSuggestedAbstracts, func() error {
		found.handleError(ctx, found.find(ctx, actor, f))
		return nil
	})
	if ctx.Err() != nil {
		return PriorSearches{}, ctx.Err()
	}
	found.Incomplete = found.Incomplete || missing
	list := found.best()
	list.More = list.More || len(list.List) > maxSuggestedAbstracts
	list.List = list.List[:min(len(list.List), maxSuggestedAbstracts)]
	return list, nil
}

// abstractFinder collects the abstracts that a document may belong to.
type abstractFinder struct {
	priorFinder
	mentions mention.List
	pages    map[string]int // where the document states a value; see pageKey
}

// find reads the document and looks for all clues in one search slot, within the deadline of one search.
func (f *abstractFinder) find(ctx context.Context, actor model.Actor, file model.File) error {
	within, end, err := f.begin(ctx, actor)
	if err != nil {
		return err
	}
	defer end()
	f.handleError(ctx, f.read(within, file))
	if err := f.Store.View(within, f.lookUpAll); err != nil {
		return err
	}
	for _, c := range f.documentClues() {
		if err := f.searchFor(within, c); err != nil {
			return err
		}
	}
	return nil
}

var errEnoughText = errors.New("enough text was read")

// read sets the clues that the name and the text of the document state. It takes at most half of the time of a search.
func (f *abstractFinder) read(ctx context.Context, file model.File) error {
	half, cancel := context.WithTimeout(ctx, f.settings.Timeout()/2)
	defer cancel()
	reader := mention.NewReader(file.Filename)
	err := f.texts.ReadAvailable(file.Digest, func(page pagetext.Page) error {
		if !reader.Add(page.Number, page.Text) {
			return errEnoughText
		}
		return half.Err()
	})
	if errors.Is(err, errEnoughText) || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	f.mentions = reader.List()
	noTypes := f.Store.View(half, func(t *store.Tx) (err error) { f.types, err = t.DocumentTypes(); return err })
	if noTypes != nil {
		return noTypes
	}
	documents, unread := f.vault.Instruments.UnlinkedDocumentFields(half, model.Abstract{Files: []uint64{file.ID}}, 1)
	for _, fields := range documents {
		f.addFields(fields)
		for _, name := range []string{extract.Parcels, extract.Lot, extract.Grantors, extract.Grantees} {
			for _, value := range fields[name].Values {
				f.setPage(value, fields[name].Page)
			}
		}
		if l, ok := fields.LotReference(); ok {
			f.setPage(l.String(), fields[extract.Lot].Page)
		}
	}
	f.setCounty(documents)
	for _, name := range f.mentions.Names {
		for _, owner := range splitOwners(name.Text) {
			f.names = append(f.names, owner)
			f.setPage(owner, name.Page)
		}
	}
	named := f.vault.Instruments.NamedInstrument(file, f.types)
	f.names = append(append(f.names, named.Grantees...), named.Grantors...)
	return errors.Join(err, unread)
}

// setCounty sets the county of the property, if the document clearly states it.
func (f *abstractFinder) setCounty(documents []extract.Fields) {
	if len(documents) != 1 {
		return
	}
	county, state := documents[0][extract.County], documents[0][extract.State]
	if county.Value() == "" || county.Doubtful {
		return
	}
	f.property.County = county.Value()
	if !state.Doubtful {
		f.property.State = state.Value()
	}
}

// pageKey returns what the spellings of a value have in common.
func pageKey(value string) string { return model.NormalizeNumber(value) }

func (f *abstractFinder) setPage(value string, page int) {
	if key := pageKey(value); f.pages[key] == 0 {
		f.pages[key] = page
	}
}

// lookUpAll looks for orders and abstracts by their numbers, parcels, and addresses.
func (f *abstractFinder) lookUpAll(t *store.Tx) error {
	list := append(slices.Clone(f.mentions.Numbers), f.mentions.Addresses...)
	for _, parcel := range distinct(f.parcels, maxPriorParcels, parcelKey) {
		list = append(list, mention.Mention{Text: parcel, Forms: []string{parcel}, Page: f.pages[pageKey(parcel)]})
	}
	for _, c := range list {
		for _, form := range c.Forms {
			if err := f.lookUp(t, c, form); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUp looks for the orders and abstracts with a number, a parcel, or an address.
func (f *abstractFinder) lookUp(t *store.Tx, c mention.Mention, text string) error {
	abstracts, _, err := t.FindAbstracts(text, store.Query{Limit: maxSame + 1})
	if err != nil {
		return err
	}
	orders, _, err := t.FindOrders(text, store.Query{Limit: maxSame + 1})
	if err != nil {
		return err
	}
	found := map[ReasonKind][]suggestedAbstract{}
	add := func(by model.Sort, number, parcel string, property model.Property, in Hit, abstract model.Abstract) {
		reason := Reason{Value: number, In: in, Page: c.Page}
		switch by {
		case model.SortFileNumber:
			reason.Kind, reason.weight = SameFileNumber, weightNumber
		case model.SortOrderNumber:
			reason.Kind, reason.weight = SameOrderNumber, weightNumber
		case model.SortParcel:
			reason.Kind, reason.Value = SameParcel, parcel
		case model.SortAddress:
			reason.Kind, reason.Value = SameAddress, property.ShortAddress()
			if property.City != "" && !strings.Contains(model.NormalizeText(c.After), model.NormalizeText(property.City)) {
				reason.weight = weightAddress
			}
		}
		if c.Labeled && reason.weight == weightNumber {
			reason.weight = weightLabeled
		}
		found[reason.Kind] = append(found[reason.Kind], suggestedAbstract{abstract, reason})
	}
	for _, m := range abstracts {
		if m.Exact {
			add(m.By, m.Record.FileNumber(), m.Record.ParcelID(), m.Record.Property, Hit{}, m.Record)
		}
	}
	for _, m := range orders {
		if !m.Exact {
			continue
		}
		linked, err := f.readAbstracts(t, t.AbstractsOfOrder(m.Record.ID))
		if err != nil {
			return err
		}
		for _, a := range linked {
			add(m.By, m.Record.Number, m.Record.ParcelID(), m.Record.Property, orderHit(&m.Record), a)
		}
	}
	for _, kind := range []ReasonKind{SameFileNumber, SameOrderNumber, SameParcel, SameAddress} {
		f.addAll(t, found[kind])
	}
	return nil
}

// suggestedAbstract is an abstract with the reason why the document may belong to it.
type suggestedAbstract struct {
	abstract model.Abstract
	reason   Reason
}

// addAll adds the abstracts that have a value, unless there are too many to tell them apart.
func (f *abstractFinder) addAll(t *store.Tx, list []suggestedAbstract) {
	different := map[uint64]bool{}
	for _, s := range list {
		different[s.abstract.ID] = true
	}
	if len(different) > maxSame {
		return
	}
	for _, s := range list {
		f.add(f.abstractHit(t, &s.abstract), s.reason)
	}
}

// readAbstracts returns the first live abstracts with the given IDs.
func (f *abstractFinder) readAbstracts(t *store.Tx, ids []uint64) (list []model.Abstract, err error) {
	for _, id := range ids[:min(len(ids), maxSame+1)] {
		a, err := t.Abstract(id)
		if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) { // an integrity check reports damage
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// documentClues returns what to look for in the index, best first.
func (f *abstractFinder) documentClues() (list []clue) {
	for _, c := range f.clues() {
		c.Page = f.pages[pageKey(c.Value)]
		if c.Reason.Kind == SameParty { // new abstracts and orders have the names in their fields only
			for _, kind := range []string{query.Abstract, query.Order} {
				list = append(list, clue{Reason{Kind: SameName, Value: c.Value, Page: c.Page, weight: weightField},
					Query{Kind: kind, Text: nameKey(c.Value)}})
			}
		}
		list = append(list, c)
	}
	return list
}

// searchFor looks for a clue in the index.
func (f *abstractFinder) searchFor(ctx context.Context, c clue) error {
	c.Limit, c.SkipCounts = maxPriorHits, true
	result, err := f.Index.Search(ctx, c.Query)
	if errors.Is(err, query.ErrShort) || errors.Is(err, query.ErrLong) || errors.Is(err, query.ErrParty) {
		return nil // such a value can't be looked for
	}
	if err != nil {
		return err
	}
	result.Hits = slices.DeleteFunc(result.Hits, func(h query.Hit) bool { return h.Approximate })
	return f.Store.View(ctx, func(t *store.Tx) error { return f.addHits(t, c, result) })
}

// addHits adds the abstracts that the hits for a clue belong to.
func (f *abstractFinder) addHits(t *store.Tx, c clue, result query.Result) error {
	hits, err := f.readHits(t, indexResult{query: c.Query, result: result})
	if err != nil {
		return err
	}
	var list []suggestedAbstract
	for _, hit := range hits {
		if ok, err := f.hasName(t, c, hit); err != nil {
			return err
		} else if !ok {
			continue
		}
		reason, ids := c.Reason, []uint64{hit.AbstractID}
		switch hit.Kind {
		case query.Abstract:
			ids = []uint64{hit.ID}
		case query.Order:
			reason.In, ids = hit, t.AbstractsOfOrder(hit.ID)
		default:
			reason.In = hit
		}
		abstracts, err := f.readAbstracts(t, ids)
		if err != nil {
			return err
		}
		for _, a := range abstracts {
			if mayBeSameProperty(a.Property, f.property, model.SortParcel) {
				list = append(list, suggestedAbstract{a, reason})
			}
		}
	}
	f.addAll(t, list)
	return nil
}

// hasName reports whether a hit for a name has it in one place: the words of an order or an abstract may be in several fields.
func (f *abstractFinder) hasName(t *store.Tx, c clue, hit Hit) (bool, error) {
	if c.Reason.Kind != SameName || hit.Kind != query.Abstract && hit.Kind != query.Order {
		return f.namesOwner(t, c, hit)
	}
	words := strings.Fields(nameKey(c.Value))
	return slices.ContainsFunc(hit.fields, func(field fieldText) bool {
		parts := longWords(field.value)
		return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(parts, word) })
	}), nil
}
