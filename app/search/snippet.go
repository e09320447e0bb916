package search

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"deedkeep/app/search/query"
)

// Limits on how much text is read for one snippet, in bytes.
const (
	snippetBytes = 4 << 20  // from the start of a document
	snippetAfter = 64 << 10 // after the first page with a match
)

// snippets returns the hits with snippets. After the deadline of ctx, the remaining hits have none.
func (s *Service) snippets(ctx context.Context, highlighter *query.Highlighter, records []foundRecord) []Hit {
	hits := make([]Hit, len(records))
	for i, record := range records {
		hits[i] = record.Hit
		if ctx.Err() != nil {
			continue
		}
		var score int
		hits[i].Snippet, score = snippetOfFields(ctx, highlighter, record.fields)
		if record.File != nil {
			s.snippetOfText(ctx, highlighter, score, &hits[i])
		}
	}
	return hits
}

// snippetOfText sets the snippet to the page of the document text with the highest score. On a tie, the
// first page wins. If a match in the document name scores higher than every page, the snippet is not
// changed.
func (s *Service) snippetOfText(ctx context.Context, highlighter *query.Highlighter, nameScore int, hit *Hit) {
	left, best := snippetBytes, max(nameScore-1, 0)
	err := s.readText(hit.File.Digest, func(page int, text string) error {
		pieces, score, _ := highlighter.Snippet(ctx, strings.ToValidUTF8(text[:min(len(text), left)], ""))
		left -= len(text)
		if score > best {
			hit.Snippet, hit.Page, best = addEllipses(text, pieces), page, score
			left = min(left, snippetAfter)
		}
		if left <= 0 || ctx.Err() != nil {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) { // the text is missing or has to be regenerated
		s.Log.DebugContext(ctx, "document text for a search snippet not read", "file", hit.ID, "error", err)
	}
}

// addEllipses adds an ellipsis where a snippet starts or ends in the middle of its text.
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
