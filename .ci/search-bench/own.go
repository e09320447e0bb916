package main

import (
	"context"
	"strings"
	"time"

	"deedkeep/app/search/query"
)

// own is the index of deedkeep.
type own struct {
	index     *query.Index
	batch     *query.Batch
	textBytes int
}

func openOwn(dir string) (engine, error) {
	x, err := query.Open(dir, query.Options{Deadline: time.Minute})
	if err != nil {
		return nil, err
	}
	return &own{index: x, batch: x.NewBatch()}, nil
}

// put writes a batch at the limits of app/search: 4 MB of text, or 32 MB of memory.
func (o *own) put(r record) error {
	d := query.Document{Kind: query.File, ID: r.id, County: r.county, Numbers: []string{r.number}, Names: []string{r.name}}
	if r.text != "" {
		d.Text = func(page func(text string) error) error { return page(r.text) }
	}
	if err := o.batch.Put(d); err != nil {
		return err
	}
	if o.textBytes += len(r.text); o.textBytes < 4<<20 && o.batch.Bytes() < 32<<20 {
		return nil
	}
	return o.flush()
}

func (o *own) flush() error {
	err := o.index.Apply(context.Background(), o.batch, []byte("checkpoint"))
	o.batch, o.textBytes = o.index.NewBatch(), 0
	return err
}

func (o *own) search(s search) (total int, err error) {
	text := strings.Join(s.words, " ")
	switch s.class {
	case phrase, rarePhrase:
		text = `"` + text + `"`
	case numberPrefix:
	default:
		text += " " // otherwise, the last word is a prefix
	}
	result, err := o.index.Search(context.Background(), query.Query{Text: text, County: s.county, Limit: maxHits})
	return result.Counts[query.File], err
}

func (o *own) close() error { return o.index.Close() }
