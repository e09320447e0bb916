package vault

import (
	"context"

	"deedkeep/app/search"
)

// words is app/search as the indexer needs it.
type words struct{ *search.Index }

func (v *Vault) openWords(dir string) (wordIndex, error) {
	set := v.set.Search
	in, err := search.Open(dir, search.Options{Cache: set.CacheSize, Deadline: set.Deadline, MostWords: set.MostWords, Log: v.log, Room: v.roomFor})
	if err != nil {
		return nil, err
	}
	return words{in}, nil
}

// Batch begins one.
func (w words) Batch() wordBatch { return w.Index.Batch() }

// Apply puts one in.
func (w words) Apply(ctx context.Context, b wordBatch, mark []byte) error {
	return w.Index.Apply(ctx, b.(*search.Batch), mark) //nolint:forcetypeassert // Batch made it
}

// Size is how large it is.
func (w words) Size() (documents uint64, bytes int64, segments int) {
	s := w.Stats()
	return uint64(s.Documents), s.Bytes, s.Segments
}
