package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// PriorSearches are abstracts, and documents in folders, that may be about the same property as an
// order or an abstract, most likely first.
type PriorSearches struct {
	List []PriorSearch
	More bool // there may be others
	// Incomplete means that instruments and documents were not all searched, because of an error, such as
	// an unavailable index or a search that took too long.
	Incomplete bool
}

// PriorSearch is an abstract, or a document in a folder, with the reasons why it may be about the same
// property, best first.
type PriorSearch struct {
	Hit
	Reasons []Reason
}

// PartPriorSearches is the name of the prior searches as a part of a response; see txn.DB.Derive.
const PartPriorSearches = "prior searches"

const (
	maxPriorSearches = 20
	maxReasons       = 3  // per prior search
	maxPriorHits     = 50 // per page of hits for a value
	maxPriorPages    = 4  // of hits for a value
	maxPriorParcels  = 5
	maxPriorLots     = 3
	maxPriorNames    = 6
	maxPriorTexts    = 25 // documents whose text is read
	minParcelChars   = 4  // letters and digits; shorter numbers are in too many texts
)

// compareRanks compares two prior searches for sorting, the most likely first.
func compareRanks(a, b PriorSearch) int {
	rank := func(p PriorSearch) (total int) {
		for _, r := range p.Reasons {
			total += r.rank()
		}
		return total
	}
	return cmp.Compare(rank(b), rank(a))
}

// subject is what is known about the property of an order or an abstract.
type subject struct {
	kind     string // of the record
	id       uint64
	abstract model.Abstract // the record if it is an abstract
	own      []uint64       // the record if it is an abstract, or the abstracts that are linked to the order
	property model.Property
	parcel   string   // of the record itself
	parcels  []string // of its instruments and documents
	lots     []extract.LotReference
	names    []string // owners, then parties to conveyances, the latest first
	types    model.DocumentTypes
}

// PriorToOrder returns the prior searches of an order. It looks for its parcel and address, and for its
// parcel and the names of owners in the instruments and documents of all abstracts that aren't linked to
// it. It isn't logged as a search, because the actor typed no text.
func (s *Service) PriorToOrder(ctx context.Context, actor model.Actor, o model.Order) (PriorSearches, error) {
	sub := subject{kind: vault.OrderOps.Name, id: o.ID, property: o.Property, parcel: o.ParcelID()}
	sub.addOwners(o.Custom)
	err := s.Store.View(ctx, func(t *store.Tx) (err error) {
		sub.own = t.AbstractsOfOrder(o.ID)
		sub.types, err = t.DocumentTypes()
		return err
	})
	if err != nil {
		return PriorSearches{}, err
	}
	return s.priorSearches(ctx, actor, sub)
}

// PriorToAbstract is the same as PriorToOrder for an abstract. It also looks for the parcels, lots, and
// parties of its instruments, and of its documents that aren't linked to an instrument yet.
func (s *Service) PriorToAbstract(ctx context.Context, actor model.Actor, a model.Abstract) (PriorSearches, error) {
	sub := subject{kind: vault.AbstractOps.Name, id: a.ID, abstract: a, own: []uint64{a.ID}, property: a.Property, parcel: a.ParcelID()}
	sub.addLot(a.Custom.Text(model.KeyLot))
	sub.addOwners(a.Custom)
	err := s.Store.View(ctx, func(t *store.Tx) (err error) {
		if sub.types, err = t.DocumentTypes(); err != nil {
			return err
		}
		instruments, err := t.LiveInstruments(a.ID)
		slices.SortStableFunc(instruments, func(a, b model.Instrument) int { return cmp.Compare(b.Recorded, a.Recorded) })
		for _, i := range instruments {
			documentType, _ := sub.types.ByID(i.TypeID)
			sub.addInstrument(i, documentType)
		}
		return err
	})
	if err != nil {
		return PriorSearches{}, err
	}
	return s.priorSearches(ctx, actor, sub)
}

func (sub *subject) addInstrument(i model.Instrument, documentType model.DocumentType) {
	sub.parcels = append(sub.parcels, i.Parcels...)
	sub.addLot(i.Legal)
	if documentType.Category == model.Conveyance {
		sub.names = append(append(sub.names, i.Grantees...), i.Grantors...)
	}
}

// addFields adds the fields that the text of a document states. Its owners and borrowers count, those of a
// mortgage too, but not its lender.
func (sub *subject) addFields(fields extract.Fields) {
	sub.parcels = append(sub.parcels, fields[extract.Parcels].Values...)
	if l, ok := fields.LotReference(); ok {
		sub.lots = append(sub.lots, l)
	}
	documentType, _ := sub.types.ByName(fields[extract.Type].Value())
	owners, _ := documentType.SplitParties(fields[extract.Grantors].Values, fields[extract.Grantees].Values)
	sub.names = append(sub.names, owners...)
}

func (sub *subject) addLot(legal string) {
	if l, ok := extract.ReadLot(legal); ok {
		sub.lots = append(sub.lots, l)
	}
}

// addOwners adds the names of owners and borrowers.
func (sub *subject) addOwners(fields model.CustomValues) {
	for _, key := range model.OwnerKeys {
		sub.names = append(sub.names, splitOwners(fields.Text(key))...)
	}
}

// distinct returns the first values of a list that pass, up to limit. Values that fold returns the same
// text for are equal.
func distinct[T any](list []T, limit int, fold func(T) string) (kept []T) {
	seen := map[string]bool{}
	for _, value := range list {
		if text := fold(value); len(kept) < limit && text != "" && !seen[text] {
			seen[text] = true
			kept = append(kept, value)
		}
	}
	return kept
}

// parcelKey returns the letters and digits of a parcel ID, or "" if there are too few to look for.
func parcelKey(parcel string) string {
	key := model.NormalizeNumber(parcel)
	if utf8.RuneCountInString(key) < minParcelChars {
		return ""
	}
	return key
}

// quoted returns a text as a phrase of a search.
func quoted(text string) string {
	return `"` + strings.Map(func(r rune) rune {
		if strings.ContainsRune(model.QuoteMarks, r) {
			return ' '
		}
		return r
	}, text) + `"`
}

// clue is a value to look for in the index.
type clue struct {
	Reason
	Query
}

// clues returns what to look for in the index, best first.
func (sub *subject) clues() (list []clue) {
	for _, parcel := range distinct(append([]string{sub.parcel}, sub.parcels...), maxPriorParcels, parcelKey) {
		list = append(list, clue{Reason{Kind: SameParcel, Value: parcel}, Query{Text: quoted(parcel)}})
	}
	for _, l := range distinct(sub.lots, maxPriorLots, func(l extract.LotReference) string { return strings.ToLower(l.String()) }) {
		text := quoted("lot "+l.Lot) + " " + quoted(l.SubdivisionName())
		if l.Block != "" {
			text += " " + quoted("block "+l.Block)
		}
		list = append(list, clue{Reason{Kind: SameLot, Value: l.String()}, Query{Text: text}})
	}
	names := distinct(sub.names, maxPriorNames, nameKey)
	for _, name := range names {
		list = append(list, clue{Reason{Kind: SameParty, Value: name},
			Query{Kind: query.Instrument, Party: nameKey(name), County: sub.property.County, State: sub.property.State}})
	}
	for _, name := range names {
		list = append(list, clue{Reason{Kind: SameName, Value: name},
			Query{Kind: query.File, Text: quoted(spokenName(name)), County: sub.property.County, State: sub.property.State}})
	}
	return list
}

// priorSearches finds the prior searches of a subject property.
func (s *Service) priorSearches(ctx context.Context, actor model.Actor, sub subject) (prior PriorSearches, err error) {
	related, err := s.related(ctx, sub.kind, sub.id, sub.parcel, sub.property)
	if err != nil {
		return prior, err
	}
	found := priorFinder{Service: s, subject: sub, PriorSearches: related.PriorSearches(sub.own...)}
	missing := s.Derive(ctx, PartPriorSearches, func() error {
		found.handleError(ctx, found.searchIndex(ctx, actor))
		return nil
	})
	found.Incomplete = found.Incomplete || missing
	if ctx.Err() != nil {
		return prior, ctx.Err()
	}
	return found.best(), nil
}

// PriorSearches returns the abstracts among the related records as prior searches with their reason,
// those with the same parcel first. It leaves out own, the abstracts that are linked to the order.
func (gr Groups) PriorSearches(own ...uint64) PriorSearches {
	abstracts := gr.ByKind(vault.AbstractOps.Name)
	prior := PriorSearches{More: abstracts.More}
	for _, h := range abstracts.Hits {
		if slices.Contains(own, h.ID) {
			continue
		}
		reason := Reason{Kind: SameParcel, Value: h.Value}
		if h.Field == string(model.SortAddress) {
			reason.Kind = SameAddress
		}
		prior.List = append(prior.List, PriorSearch{Hit: h, Reasons: []Reason{reason}})
	}
	slices.SortStableFunc(prior.List, compareRanks)
	return prior
}

// priorFinder collects the prior searches of a subject property.
type priorFinder struct {
	*Service
	subject
	PriorSearches
}

// handleError marks the prior searches as incomplete because of an error, if any. It logs a warning
// unless the search was canceled, ran out of time, or was unavailable, which is to be expected.
func (f *priorFinder) handleError(ctx context.Context, err error) {
	if err == nil {
		return
	}
	f.Incomplete = true
	log := f.Log.Warn
	if errs.KindOf(callerError(err)) == errs.Unavailable || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		log = f.Log.Debug
	}
	message := "prior searches are incomplete"
	if f.kind == vault.FileOps.Name {
		message = "suggested abstracts are incomplete"
	}
	log(message, "error", err, "request_id", model.RequestID(ctx))
}

// begin waits for a search slot. The context that it returns ends with the deadline of one search.
func (f *priorFinder) begin(ctx context.Context, actor model.Actor) (within context.Context, end func(), err error) {
	within, cancel := context.WithTimeout(ctx, f.settings.Timeout())
	release, err := f.Index.Acquire(within, clientKey(actor))
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return within, func() { release(); cancel() }, nil
}

// searchIndex looks for all clues. The documents of the subject are read and all clues are looked for in
// one search slot, within the deadline of one search.
func (f *priorFinder) searchIndex(ctx context.Context, actor model.Actor) error {
	if len(f.abstract.Files) == 0 && len(f.clues()) == 0 {
		return nil
	}
	within, end, err := f.begin(ctx, actor)
	if err != nil {
		return err
	}
	defer end()
	f.handleError(ctx, f.readDocuments(within))
	for _, c := range f.clues() {
		if err := f.searchFor(within, c); err != nil {
			return err
		}
	}
	return nil
}

// readDocuments adds what the texts of the subject's documents state. It takes at most half of the time
// of a search, so that the other half is left for the clues.
func (f *priorFinder) readDocuments(ctx context.Context) error {
	if len(f.abstract.Files) == 0 {
		return nil
	}
	half, cancel := context.WithTimeout(ctx, f.settings.Timeout()/2)
	defer cancel()
	documents, err := f.vault.Instruments.UnlinkedDocumentFields(half, f.abstract, maxPriorTexts)
	for _, fields := range documents {
		f.addFields(fields)
	}
	return err
}

// searchFor looks for a clue. The instruments and documents of the subject are hits, too, so it reads
// more pages of hits until one of them has a prior search.
func (f *priorFinder) searchFor(ctx context.Context, c clue) error {
	c.Limit, c.SkipCounts = maxPriorHits, true
	for ; c.Offset < maxPriorPages*maxPriorHits; c.Offset += maxPriorHits {
		result, err := f.Index.Search(ctx, c.Query)
		if errors.Is(err, query.ErrShort) || errors.Is(err, query.ErrLong) || errors.Is(err, query.ErrParty) {
			return nil // such a value can't be looked for
		}
		if err != nil {
			return err
		}
		more := result.More && !result.Fuzzy && !result.Relaxed // approximate hits are the last ones
		result.Hits = slices.DeleteFunc(result.Hits, func(h query.Hit) bool { return h.Approximate || h.Kind == query.Order })
		added := false
		err = f.Store.View(ctx, func(t *store.Tx) (err error) { added, err = f.addHits(t, c, result); return err })
		if err != nil {
			return err
		}
		if added || !more {
			f.More = f.More || more
			return nil
		}
	}
	f.More = true
	return nil
}

// addHits adds the abstracts and documents that the hits for a clue belong to. added is false if there
// are none but those of the subject and of other counties.
func (f *priorFinder) addHits(t *store.Tx, c clue, result query.Result) (added bool, err error) {
	hits, err := f.readHits(t, indexResult{query: c.Query, result: result})
	if err != nil {
		return false, err
	}
	for _, hit := range hits {
		prior, reason := hit, c.Reason
		abstract := hit.AbstractID
		if hit.Kind == query.Abstract {
			abstract = hit.ID
		} else {
			reason.In = hit
		}
		if slices.Contains(f.own, abstract) {
			continue
		}
		if ok, err := f.namesOwner(t, c, hit); err != nil {
			return false, err
		} else if !ok {
			continue
		}
		if hit.AbstractID != 0 {
			a, err := t.Abstract(hit.AbstractID)
			if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) { // an integrity check reports damage
				continue
			}
			if err != nil {
				return false, err
			}
			prior = f.abstractHit(t, &a)
		}
		if mayBeSameProperty(prior.property, f.property, model.SortParcel) {
			f.add(prior, reason)
			added = true
		}
	}
	return added, nil
}

// add adds a reason to a prior search. Of several hits for the same value, only the first one counts.
func (f *priorFinder) add(h Hit, reason Reason) {
	at := slices.IndexFunc(f.List, func(p PriorSearch) bool { return p.Kind == h.Kind && p.ID == h.ID })
	if at < 0 {
		f.List = append(f.List, PriorSearch{Hit: h})
		at = len(f.List) - 1
	}
	prior := &f.List[at]
	same := func(other Reason) bool {
		return other.Kind == reason.Kind && (other.In.Kind == reason.In.Kind || other.In.Kind == "") && foldValue(other) == foldValue(reason)
	}
	if !slices.ContainsFunc(prior.Reasons, same) {
		prior.Reasons = append(prior.Reasons, reason)
	}
}

// foldValue returns what two reasons with the same value have in common.
func foldValue(r Reason) string {
	if r.Kind == SameParcel {
		return parcelKey(r.Value)
	}
	return model.NormalizeText(r.Value)
}

// best returns the most likely prior searches, the newest of equally likely ones first.
func (f *priorFinder) best() PriorSearches {
	for n := range f.List {
		reasons := f.List[n].Reasons
		slices.SortStableFunc(reasons, func(a, b Reason) int { return cmp.Compare(b.rank(), a.rank()) })
		f.List[n].Reasons = reasons[:min(len(reasons), maxReasons)]
	}
	slices.SortStableFunc(f.List, func(a, b PriorSearch) int {
		return cmp.Or(compareRanks(a, b), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	prior := f.PriorSearches
	prior.List, prior.More = f.List[:min(len(f.List), maxPriorSearches)], f.More || len(f.List) > maxPriorSearches
	return prior
}
