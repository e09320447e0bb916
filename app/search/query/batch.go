package query

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

// maxID is the greatest ID: the byte above it is the kind.
const maxID = 1<<56 - 1

// MaxTextWords is how many words of the text of one document are in the index; what
// stands behind them is not found.
const MaxTextWords = 4_000_000

// MaxDocumentMemory is how many bytes a batch may grow by the text of one document; what
// stands behind them is not found either. An ordinary text of MaxTextWords stays far
// below: it is for those in which every word is another. In the second half of it words
// are found whole and by more than six characters, not by shorter beginnings, which cost
// more than the words do.
const MaxDocumentMemory = 32 << 20

// Of the first repetitionCheckFrom words of a text, and of all behind them, one of so many
// must be another.
const (
	repetitionCheckFrom = 1 << 20
	maxWordsPerDistinct = 1024
)

// Batch gathers documents for one Apply. It is of one goroutine.
type Batch struct {
	log       *slog.Logger
	engine    *index.Batch
	sink      sink // the same
	term      []byte
	fields    analyzer
	text      analyzer
	textLimit int  // Bytes up to which the text of this document goes
	truncated bool // it had more

	distinctWords uint32 // words of the text of this document
}

// NewBatch returns an empty batch.
func (x *Index) NewBatch() *Batch {
	engine := x.engine.NewBatch()
	return &Batch{log: x.options.Log, engine: engine, sink: engine}
}

// sink is where the terms of documents go: a batch of the engine, which takes a flat
// term once, however often it comes.
type sink interface {
	StartDocument(key uint64, group uint8, date int32)
	AddTerm(term []byte)
	AddWord(term []byte, position uint32) (first bool)
	Remove(key uint64)
	Bytes() int
}

// Bytes is the memory that the batch holds. The caller cuts where that is enough for
// him, or 4 MB of text.
func (b *Batch) Bytes() int { return b.sink.Bytes() }

// Remove takes a document out of the index, if it is there.
func (b *Batch) Remove(k Kind, id uint64) { b.sink.Remove(docKey(k, id)) }

// Put puts a document into the index, in place of an earlier one of the same kind and
// ID. Where d.Text returns an error, that comes back, and the document is in the batch
// with the pages before it.
func (b *Batch) Put(d Document) error {
	if d.Kind < Abstract || d.Kind > File || d.ID > maxID {
		return fmt.Errorf("document %d of kind %d has no place in the index", d.ID, d.Kind)
	}
	b.fields.position, b.text.position = 0, 0
	b.sink.StartDocument(docKey(d.Kind, d.ID), uint8(d.Kind), d.CreatedDay)
	for _, t := range filterTerms(d.Template, d.County, d.State, d.Status) {
		b.sink.AddTerm([]byte(t))
	}
	for _, s := range d.Numbers {
		b.addNumber(s)
	}
	for _, s := range d.Names {
		b.addName(s)
	}
	for _, s := range d.Fields {
		b.addField(s)
	}
	if d.Text == nil {
		return nil
	}
	b.truncated, b.textLimit, b.distinctWords = false, b.sink.Bytes()+MaxDocumentMemory, 0
	if err := d.Text(b.addPage); err != nil {
		return fmt.Errorf("text of document %d: %w", d.ID, err)
	}
	if b.truncated && b.log != nil {
		b.log.Warn("the end of a text is not in the search index: it has too many words", "kind", d.Kind, "id", d.ID, "words", b.text.position)
	}
	return nil
}

// isRepetitive reports a text that says nothing new for so long that it is none of people: a
// few bytes can be packed to become millions of words, and all others wait meanwhile.
func (b *Batch) isRepetitive(position uint32) bool {
	return position >= repetitionCheckFrom && b.distinctWords < position/maxWordsPerDistinct
}

// addNumber puts what a document is called by.
func (b *Batch) addNumber(s string) {
	var parts []string
	var at []int
	first := b.fields.position
	firstEnd, end := 0, 0
	b.fields.scan(s, func(t token) {
		b.addWord(nsFieldWord, t)
		if !t.variant {
			if len(parts) == 0 {
				firstEnd = t.end
			}
			parts, at, end = append(parts, string(t.text)), append(at, t.start), t.end
		}
		if t.position != first || t.variant && t.end == firstEnd {
			b.addPrefixes(nsWordPrefix, t.text, longPrefixes) // those of the first are nsNumberPrefix
		}
	})
	b.fields.skip()
	if len(parts) == 0 {
		return
	}
	head := countLabels(parts)
	if head > 0 {
		b.addPrefixes(nsWordPrefix, []byte(parts[0]), longPrefixes)
	}
	parts, at = parts[head:], at[head:]
	all := compactNumber(parts)
	b.sink.AddTerm([]byte(term(nsPlainNumber, boundedValue(trimmedNumber(parts)))))
	b.addPrefixes(nsNumberPrefix, []byte(all), longPrefixes)
	if joined := strings.Join(parts, ""); joined != all {
		b.addPrefixes(nsNumberPrefix, []byte(joined), longPrefixes) // Bk 1022 Pg 3
	}
	if r, is := model.ParseBookPage(parts); is {
		b.sink.AddTerm([]byte(term(nsTypedNumber, boundedValue(referenceTerm(r.Type, r.Numbers)))))
		b.sink.AddTerm([]byte(term(nsNumber, boundedValue(bookPageNumber(r.Numbers)))))
		b.sink.AddTerm([]byte(term(nsNumber, boundedValue(bookPageNumber([]string{all})))))
		return
	}
	b.sink.AddTerm([]byte(term(nsNumber, boundedValue(all))))
	typed := typedForm(s[at[0]:end])
	b.sink.AddTerm([]byte(term(nsTypedNumber, boundedValue(typed))))
	b.addTypedPrefixes(typed)
}

// addTypedPrefixes puts the beginnings of a number as it is written, those that have
// punctuation; nobody's ends with that.
func (b *Batch) addTypedPrefixes(typed string) {
	characters, apart := 0, false
	for i := range typed {
		if characters++; characters > longPrefixes.max {
			return
		}
		c, _, size := classAt(typed, i)
		if c == separator || c == apostrophe {
			apart = true
		} else if end := i + size; apart && end <= maxWordBytes {
			b.term = appendTerm(b.term, nsNumberPrefix, []byte(typed[:end]))
			b.sink.AddTerm(b.term)
		}
	}
}

// addName puts what is found by beginnings.
func (b *Batch) addName(s string) {
	b.fields.joinNames = true
	b.fields.scan(s, func(t token) {
		b.addWord(nsFieldWord, t)
		b.addPrefixes(nsWordPrefix, t.text, longPrefixes)
	})
	b.fields.joinNames = false
	b.fields.skip()
}

// addField puts what is found by words.
func (b *Batch) addField(s string) {
	b.fields.scan(s, func(t token) {
		b.addWord(nsFieldWord, t)
		b.addPrefixes(nsOtherPrefix, t.text, fieldPrefixes)
	})
	b.fields.skip()
}

// addPage puts a page of the text.
func (b *Batch) addPage(text string) error {
	if b.truncated {
		return nil
	}
	b.text.scan(text, func(t token) {
		if b.truncated = b.truncated || t.position >= MaxTextWords || b.sink.Bytes() >= b.textLimit || b.isRepetitive(t.position); b.truncated {
			return
		}
		if !b.addWord(nsTextWord, t) {
			return // it was here before, with its beginnings
		}
		if b.distinctWords++; b.sink.Bytes() < b.textLimit-MaxDocumentMemory/2 {
			b.addPrefixes(nsOtherPrefix, t.text, textPrefixes)
		}
	})
	b.text.skip()
	return nil
}

func (b *Batch) addWord(space byte, t token) (first bool) {
	b.term = appendTerm(b.term, space, t.text)
	return b.sink.AddWord(b.term, t.position)
}

// addPrefixes puts the beginnings of a word; the engine takes each once a document.
func (b *Batch) addPrefixes(space byte, word []byte, which prefixLengths) {
	characters, least := 0, which.min
	if len(word) > 0 && isDigit(word[0]) {
		least = which.minDigits
	}
	for end := 0; end < len(word) && characters < which.max; {
		_, size := utf8.DecodeRune(word[end:])
		end += size
		if characters++; characters >= least && end <= maxWordBytes {
			b.term = appendTerm(b.term, space, word[:end])
			b.sink.AddTerm(b.term)
		}
	}
}

// docKey is the engine's of a document.
func docKey(k Kind, id uint64) uint64 { return uint64(k)<<56 | id }

// filterTerms gives the terms of the filters that are set.
func filterTerms(template uint64, county, state, status string) []string {
	var terms []string
	if template != 0 {
		terms = append(terms, templateTerm(template))
	}
	for _, f := range []struct {
		space byte
		value string
	}{{nsCounty, model.FoldCounty(county)}, {nsState, model.FoldState(state)}, {nsStatus, model.Fold(status)}} {
		if f.value != "" {
			terms = append(terms, term(f.space, boundedValue(f.value)))
		}
	}
	return terms
}
