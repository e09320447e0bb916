// Package phrases keeps the standard sentences of a firm for requirements and exceptions, finds them by their words, and
// fills in their placeholders from an instrument.
package phrases

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// Service reads and replaces the list of phrases. It is safe for concurrent use.
type Service struct{ vault *vault.Vault }

// New returns the service.
func New(v *vault.Vault) *Service { return &Service{v} }

// Get returns the phrases in display order.
func (s *Service) Get(ctx context.Context) (model.Phrases, error) {
	return store.Read(ctx, s.vault.Store, (*store.Tx).Phrases)
}

// errStale is returned for changes to another version of the list than the actor read.
var errStale = &errs.Error{Kind: errs.PreconditionFailed, Message: "The phrases have changed since you read them. Read them again."}

// Set replaces the list. Users must be administrators. Set returns Invalid, listing every invalid row, or
// PreconditionFailed if match doesn't accept the current version.
func (s *Service) Set(ctx context.Context, actor model.Actor, rows model.Input, match vault.Match) (now model.Phrases, err error) {
	list, rejected := model.CheckPhrases(rows)
	if err := s.vault.CheckSpace(); err != nil {
		return now, err
	}
	var before model.Phrases
	err = s.vault.Store.Update(ctx, func(t *store.Tx) (err error) {
		if before, err = s.check(t, actor, match); err != nil {
			return err
		}
		if err := rejected.Err(); err != nil {
			return err
		}
		if now = before; slices.Equal(before.List, list) {
			return txn.ErrNoChange
		}
		now = model.Phrases{Version: before.Version + 1, List: list}
		return nil
	}, func(t *store.Tx) error {
		return errors.Join(t.PutPhrases(now), s.vault.AddEntry(t, model.Event{At: s.vault.Now(), Actor: actor, Kind: "phrases.changed",
			Changes: before.Changes(now)}))
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return now, err
}

// check returns the current list if the actor may change it and match accepts its version. API keys that may change
// records may change it, too.
func (s *Service) check(t *store.Tx, actor model.Actor, match vault.Match) (now model.Phrases, err error) {
	allowed := s.vault.AuthorizeAdmin
	if actor.Kind == model.ActorKey {
		allowed = s.vault.CheckActor
	}
	if err := allowed(t, actor); err != nil {
		return now, err
	}
	if now, err = t.Phrases(); err != nil {
		return now, err
	}
	if match.Given && !match.Any && !slices.Contains(match.Versions, now.Version) {
		return now, errStale
	}
	return now, nil
}

// Input returns a list as the input of Set.
func Input(list []model.Phrase) model.Input {
	rows := model.ListInput()
	for _, phrase := range list {
		rows.Items = append(rows.Items, model.ObjectInput(model.Inputs{"name": model.StringInput(phrase.Name),
			"kind": model.StringInput(phrase.Kind), "text": model.StringInput(phrase.Text)}))
	}
	return rows
}

// WithStandard returns the list with the phrases of a new vault whose names it doesn't have. They come last.
func WithStandard(list []model.Phrase) []model.Phrase {
	list = slices.Clone(list)
	for _, phrase := range model.NewPhrases().List {
		if _, found := ByName(list, phrase.Name); !found {
			list = append(list, phrase)
		}
	}
	return list
}
