package main

import (
	"errors"
	"path/filepath"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/simple"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
)

// bleveIndex is an index of bleve. Nothing but the ID is stored, only the text has positions, and there
// are no columns for sorting.
type bleveIndex struct {
	index     bleve.Index
	batch     *bleve.Batch
	textBytes int
}

func openBleve(dir string) (engine, error) {
	path := filepath.Join(dir, "bleve")
	x, err := bleve.Open(path)
	if errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		// Without pauses between batches and with fewer segments, bleve needs less memory.
		x, err = bleve.NewUsing(path, bleveMapping(), scorch.Name, scorch.Name, map[string]any{
			"scorchPersisterOptions": map[string]any{"PersisterNapTimeMSec": 0},
			"scorchMergePlanOptions": map[string]any{"MaxSegmentsPerTier": 8, "SegmentsPerMergeTask": 8, "MaxSegmentSize": 50_000_000,
				"TierGrowth": 8.0, "FloorSegmentSize": 2000, "ReclaimDeletesWeight": 2.0},
		})
	}
	if err != nil {
		return nil, err
	}
	return &bleveIndex{index: x, batch: x.NewBatch()}, nil
}

func bleveMapping() mapping.IndexMapping {
	field := func(analyzer string, positions bool) *mapping.FieldMapping {
		f := bleve.NewTextFieldMapping()
		f.Analyzer, f.IncludeTermVectors = analyzer, positions
		f.Store, f.DocValues, f.IncludeInAll, f.SkipFreqNorm = false, false, false, analyzer == keyword.Name
		return f
	}
	d := bleve.NewDocumentStaticMapping()
	d.AddFieldMappingsAt("number", field(keyword.Name, false))
	d.AddFieldMappingsAt("county", field(keyword.Name, false))
	d.AddFieldMappingsAt("name", field(simple.Name, false))
	d.AddFieldMappingsAt("text", field(simple.Name, true))
	m := bleve.NewIndexMapping()
	m.DefaultMapping = d
	return m
}

func (b *bleveIndex) put(r record) error {
	fields := map[string]any{"number": r.number, "county": r.county, "name": r.name, "text": r.text}
	if err := b.batch.Index(strconv.FormatUint(r.id, 10), fields); err != nil {
		return err
	}
	const overhead = 500 // of a record without text
	if b.textBytes += overhead + len(r.text); b.textBytes < 12<<20 {
		return nil
	}
	return b.flush()
}

func (b *bleveIndex) flush() error {
	err := b.index.Batch(b.batch)
	b.batch, b.textBytes = b.index.NewBatch(), 0
	return err
}

func (b *bleveIndex) search(s search) (total int, err error) {
	text := func(q query.FieldableQuery, field string) query.Query { q.SetField(field); return q }
	var parts []query.Query
	switch s.class {
	case exactNumber:
		parts = append(parts, text(bleve.NewTermQuery(s.words[0]), "number"))
	case numberPrefix:
		parts = append(parts, text(bleve.NewPrefixQuery(s.words[0]), "number"))
	case phrase, rarePhrase:
		parts = append(parts, bleve.NewPhraseQuery(s.words, "text"))
	case typingError:
		parts = append(parts, text(bleve.NewFuzzyQuery(s.words[0]), "name"))
	default:
		for _, w := range s.words {
			parts = append(parts, text(bleve.NewTermQuery(w), "text"))
		}
	}
	if s.county != "" {
		parts = append(parts, text(bleve.NewTermQuery(s.county), "county"))
	}
	result, err := b.index.Search(bleve.NewSearchRequestOptions(bleve.NewConjunctionQuery(parts...), maxHits, 0, false))
	if err != nil {
		return 0, err
	}
	return int(result.Total), nil
}

func (b *bleveIndex) close() error { return b.index.Close() }
