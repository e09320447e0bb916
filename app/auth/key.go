package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Keys creates, authenticates, rotates, and revokes API keys.
type Keys struct{ auth *Auth }

// Authenticate returns the actor for an API key, or Unauthenticated if the key is not
// valid. It reads the key's record each time, so that revoking the key takes effect
// immediately.
func (k *Keys) Authenticate(ctx context.Context, text string) (model.Actor, error) {
	hash, ok := secret.HashAPIKey(text)
	if !ok {
		return model.Actor{}, txn.ErrUnauthenticated
	}
	var key model.Key
	err := k.auth.Store.View(ctx, func(t *store.Tx) (err error) {
		key, ok, err = t.KeyByHash(hash)
		return err
	})
	if err != nil {
		return model.Actor{}, err
	}
	now := k.auth.Now()
	if !ok || !key.Active(now) {
		return model.Actor{}, txn.ErrUnauthenticated
	}
	k.auth.keyUsage.record(key.ID, now)
	return model.Actor{Kind: model.ActorKey, ID: key.ID, Name: key.Name, Abilities: key.Abilities}, nil
}

// Create creates an API key and returns its text. The text is not stored and can't be
// shown again.
func (k *Keys) Create(ctx context.Context, actor model.Actor, draft model.KeyDraft) (text string, key model.Key, err error) {
	key, problems := draft.Check(k.auth.Now())
	if err := problems.Err(); err != nil {
		return "", key, err
	}
	if text, err = k.generate(&key); err != nil {
		return "", key, err
	}
	err = k.auth.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) error { return k.insert(t, actor, &key, "key.created", nil) })
	return text, key, err
}

// generate returns the text of a new random key and stores its hash and prefix in key.
func (k *Keys) generate(key *model.Key) (string, error) {
	text, err := secret.NewAPIKey(k.auth.Rand)
	if err != nil {
		return "", err
	}
	hash, ok := secret.HashAPIKey(text)
	if !ok {
		return "", errors.New("generated API key can't be parsed")
	}
	key.Hash, key.Prefix = hex.EncodeToString(hash[:]), secret.APIKeyPrefix(text)
	return text, nil
}

func (k *Keys) insert(t *store.Tx, actor model.Actor, key *model.Key, kind string, detail map[string]string) (err error) {
	if key.ID, err = t.NewKeyID(); err != nil {
		return err
	}
	if err := t.PutKey(*key); err != nil {
		return err
	}
	return k.auth.AddEvent(t, k.auth.Now(), actor, kind, model.RecordRef("key", key.ID), keyDetail(*key, detail))
}

// keyDetail returns the details of a key for the audit log, including the entries of
// extra.
func keyDetail(key model.Key, extra map[string]string) map[string]string {
	detail := map[string]string{"name": key.Name, "abilities": strings.Join(key.Abilities, ", ")}
	maps.Copy(detail, extra)
	return detail
}

// List returns all keys sorted by ID, including revoked and expired ones.
func (k *Keys) List(ctx context.Context) ([]model.Key, error) {
	if err := k.auth.Flush(ctx); err != nil && !errs.NotWritable(err) { // keys can be listed even if the vault is read-only
		return nil, err
	}
	return store.Read(ctx, k.auth.Store, (*store.Tx).Keys)
}

// Revoke permanently disables a key. It does nothing if the key is already revoked.
func (k *Keys) Revoke(ctx context.Context, actor model.Actor, id uint64) (key model.Key, err error) {
	err = k.auth.UpdateAsAdmin(ctx, actor, func(t *store.Tx) (err error) {
		key, err = t.Key(id)
		return err
	}, func(t *store.Tx) error {
		if key.RevokedAt != nil {
			return nil
		}
		now := k.auth.Now()
		key.RevokedAt = &now
		if err := t.PutKey(key); err != nil {
			return err
		}
		return k.auth.AddEvent(t, now, actor, "key.revoked", model.RecordRef("key", id), nil)
	})
	return key, err
}

// Rotate creates a new key with the name, abilities, and expiration of an existing key.
// The old key expires after overlap, or is revoked immediately if overlap is 0. It
// returns Conflict if the old key is not active. Like Revoke, it works even if the disk
// is full, because a leaked key must be replaced immediately.
func (k *Keys) Rotate(ctx context.Context, actor model.Actor, id uint64, overlap time.Duration) (text string, fresh model.Key, err error) {
	var generated model.Key
	if text, err = k.generate(&generated); err != nil {
		return "", fresh, err
	}
	var old model.Key
	err = k.auth.UpdateAsAdmin(ctx, actor, func(t *store.Tx) (err error) {
		if old, err = t.Key(id); err != nil {
			return err
		}
		if !old.Active(k.auth.Now()) {
			return &errs.Error{Kind: errs.Conflict, Message: "The API key has expired or was revoked. Create a new one."}
		}
		return nil
	}, func(t *store.Tx) error {
		now := k.auth.Now()
		fresh = model.Key{Name: old.Name, Prefix: generated.Prefix, Hash: generated.Hash, Abilities: old.Abilities, CreatedAt: now,
			ExpiresAt: old.ExpiresAt, Replaces: old.ID}
		if err := k.insert(t, actor, &fresh, "key.rotated", map[string]string{"from": model.RecordRef("key", id)}); err != nil {
			return err
		}
		if end := now.Add(overlap); overlap <= 0 {
			old.RevokedAt = &now
		} else if old.ExpiresAt == nil || end.Before(*old.ExpiresAt) {
			old.ExpiresAt = &end
		}
		return t.PutKey(old)
	})
	return text, fresh, err
}
