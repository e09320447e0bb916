package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/secret"
	"deedkeep/app/store"
)

// GenerationFile contains a random token that is also stored in the database. The server
// replaces it at each start. If the database has a different token, it was replaced with
// an older copy. An older copy lacks the documents uploaded since then, so a sweep would
// delete their blobs. The file has one token per line: the current one and, while the
// server starts, the next one.
const GenerationFile = "generation"

// advanceGeneration starts a new generation. It reports whether the database is the one
// that this data directory used last. If the file is missing, it reports true.
func (s *Storage) advanceGeneration(ctx context.Context) (own bool, err error) {
	current, own, err := s.CheckGeneration(ctx)
	if err != nil || !own {
		return false, err
	}
	if err := s.Store.CheckFile(); err != nil {
		return false, err
	}
	next, err := secret.NewToken(s.Rand)
	if err != nil {
		return false, err
	}
	// First write both tokens to the file, then update the database, then remove the old
	// token from the file. After a crash at any point, the file contains the database's token.
	if err := durable.WriteLine(filepath.Join(s.Dir, GenerationFile), []byte(current+"\n"+next)); err != nil {
		return false, err
	}
	err = s.Store.Update(ctx, nil, func(t *store.Tx) error {
		return errors.Join(t.SetGeneration(next), t.SetVersion(s.Version))
	})
	if err != nil {
		return false, err
	}
	return true, durable.WriteLine(filepath.Join(s.Dir, GenerationFile), []byte(next))
}

// CheckGeneration returns the token of the database and reports whether the file
// contains it.
func (s *Storage) CheckGeneration(ctx context.Context) (token string, own bool, err error) {
	token, err = store.Read(ctx, s.Store, (*store.Tx).Generation)
	if err != nil {
		return "", false, err
	}
	file, err := os.ReadFile(filepath.Join(s.Dir, GenerationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return token, true, nil
	}
	return token, err == nil && slices.Contains(strings.Fields(string(file)), token), err
}

// StartGeneration starts a new generation when the server starts. It reports whether it
// is safe to sweep unreferenced blobs.
func (s *Storage) StartGeneration(ctx context.Context) (sweep bool) {
	own, err := s.advanceGeneration(ctx)
	if s.Reserve.Size > 0 && (errs.KindOf(err) == errs.InsufficientStorage || durable.IsDiskFull(err)) {
		err = s.Reserve.Lend(s.Log, func() error { own, err = s.advanceGeneration(ctx); return err })
	}
	switch {
	case err != nil:
		s.Log.Error("orphaned files not deleted", "error", err)
	case !own:
		s.Log.Error("vault.db is older than the one last used in this directory, so documents may lack a record. Orphaned files are not deleted. "+
			"Restore the newer vault.db, or delete the listed file to accept the older one", "file", filepath.Join(s.Dir, GenerationFile))
	}
	return own && err == nil
}
