package search

import (
	"context"
	"errors"
	"slices"
	"strings"

	"deedkeep/app/search/query"
	"deedkeep/app/txn"
)

// What the snippets of a page may cost.
const (
	snippetBytes = 4 << 20  // of the text of one document
	snippetAfter = 64 << 10 // behind the first page that shows anything
)

// snippets adds to each hit where the text was found, as far as that can be told before
// the search's deadline: a hit without its snippet is a hit all the same.
func (s *Service) snippets(ctx context.Context, mark *query.Highlighter, list []foundRecord) []Hit {
	hits := make([]Hit, len(list))
	for i, found := range list {
		hits[i] = found.Hit
		if ctx.Err() != nil {
			continue
		}
		var worth int
		hits[i].Snippet, worth = snippetOfFields(ctx, mark, found.fields)
		if found.File != nil {
			s.snippetOfText(ctx, mark, worth, &hits[i])
		}
	}
	return hits
}

// snippetOfText looks through the kept text for the page that shows most, the first of
// those that show as much, and for no less than the name of the document does.
func (s *Service) snippetOfText(ctx context.Context, mark *query.Highlighter, name int, hit *Hit) {
	left, best := snippetBytes, max(name-1, 0)
	err := s.previews.ReadText(hit.File.Digest, func(page int, text string) error {
		pieces, worth := mark.Snippet(ctx, strings.ToValidUTF8(text[:min(len(text), left)], ""))
		left -= len(text)
		if worth > best {
			hit.Snippet, hit.Page, best = addEllipses(text, pieces), page, worth
			left = min(left, snippetAfter)
		}
		if left <= 0 || ctx.Err() != nil {
			return txn.ErrStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, txn.ErrStop) { // there is no text, or it is to be made again
		s.Log.DebugContext(ctx, "no text for a snippet", "file", hit.ID, "error", err)
	}
}

// addEllipses shows of a window where it begins or ends in the middle of its text.
func addEllipses(text string, window []SnippetPiece) []SnippetPiece {
	const before, behind = "… ", " …"
	var b strings.Builder
	for _, piece := range window {
		b.WriteString(piece.Text)
	}
	text, shown := strings.TrimSpace(text), strings.TrimSpace(b.String())
	if !strings.HasPrefix(text, shown) {
		window = slices.Insert(window, 0, SnippetPiece{Text: before})
	}
	if !strings.HasSuffix(text, shown) {
		window = append(window, SnippetPiece{Text: behind})
	}
	return window
}
