package page

import (
	"context"
	"encoding/hex"
	"errors"
	"net/url"
	"strconv"

	"deedkeep/app/vault"
)

// AddedIdempotency is like FormIdempotency for several instruments. It also stores what is needed to undo
// them; see UndoAdded.
func AddedIdempotency(r *Request, to string) vault.Idempotency[vault.Added] {
	return vault.StoreUndo(FormIdempotency(r, "", func(vault.Added) string { return to }))
}

// IsProcessed reports whether the same form was processed before, as after a double click.
func (si *Site) IsProcessed(ctx context.Context, once vault.Idempotency[vault.Added]) (bool, error) {
	if once.Render == nil {
		return false, nil
	}
	_, done, err := si.App.StoredResponse(ctx, once.KeyHash)
	return done, err
}

// CreateInstruments stores instruments. If the same form was processed before, as after a double click, again
// is true, and added contains what is needed to undo what was stored then.
func (si *Site) CreateInstruments(r *Request, abstract uint64, list []vault.NewInstrument, once vault.Idempotency[vault.Added]) (
	added vault.Added, again bool, err error) {
	added, err = si.App.Instruments.CreateMany(r.Context(), r.Actor, abstract, list, once)
	if !errors.Is(err, vault.ErrAlreadyProcessed) {
		return added, false, err
	}
	added.Undo, err = si.App.Instruments.StoredUndo(r.Context(), abstract, once.KeyHash)
	return added, true, err
}

// UndoAdded returns the undo form for instruments that were stored with AddedIdempotency, or "" if nothing
// was stored. file is the document to which it returns, or 0 for the runsheet.
func (si *Site) UndoAdded(abstract, file uint64, once vault.Idempotency[vault.Added], added vault.Added) string {
	if once.Render == nil || len(added.Undo.Created)+len(added.Undo.Filled) == 0 {
		return ""
	}
	fields := url.Values{"key": {hex.EncodeToString(once.KeyHash[:])}}
	if file != 0 {
		fields.Set("file", strconv.FormatUint(file, 10))
	}
	return UndoAddress(si.AbstractPath(abstract)+"/instruments/undo", fields)
}

// AddedText says how many instruments were stored. again means that it was by an earlier request.
func AddedText(added vault.Added, again bool) string {
	if again {
		return "These instruments were already added."
	}
	created, filled := len(added.Created), len(added.Undo.Filled)
	text := Plural(created, "instrument added", "instruments added")
	switch {
	case filled > 0 && created == 0:
		return Plural(filled, "instrument on the runsheet updated.", "instruments on the runsheet updated.")
	case filled > 0:
		text += ", " + Plural(filled, "instrument on the runsheet updated", "instruments on the runsheet updated")
	}
	return text + "."
}
