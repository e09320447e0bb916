package query

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

// maxID is the largest document ID. In a document key, the byte above the ID holds the kind.
const maxID = 1<<56 - 1

// MaxTextWords is the maximum number of words that are indexed from the text of one document.
const MaxTextWords = 4_000_000

// MaxDocumentMemory is the maximum number of bytes by which the text of one document may grow a
// batch. Words after that are not indexed. An ordinary text of MaxTextWords words needs far less:
// the limit is only reached by texts in which nearly every word is different. After half of the
// limit, prefixes of up to six characters are no longer indexed because they take more memory than
// the words.
const MaxDocumentMemory = 32 << 20

// After repetitionCheckFrom words of a text, at least one in maxWordsPerDistinct words must be
// distinct. Otherwise, the text is truncated.
const (
	repetitionCheckFrom = 1 << 20
	maxWordsPerDistinct = 1024
)

// Batch collects documents for one Apply. It is not safe for concurrent use.
type Batch struct {
	log       *slog.Logger
	engine    *index.Batch
	sink      sink // receives the terms; always engine, except in tests
	term      []byte
	fields    analyzer
	text      analyzer
	parties   analyzer
	textLimit int  // value of sink.Bytes at which indexing the text of the current document stops
	truncated bool // the text of the current document was longer than the limits allow

	distinctWords uint32 // in the text of the current document
}

// NewBatch returns an empty batch.
func (i *Index) NewBatch() *Batch {
	engine := i.Index.NewBatch()
	return &Batch{log: i.options.Log, engine: engine, sink: engine}
}

// sink receives the terms of documents. Adding the same term to a document repeatedly has no
// further effect.
type sink interface {
	StartDocument(key uint64, group uint8, date int32)
	AddTerm(term []byte)
	AddWord(term []byte, position uint32) (first bool)
	Remove(key uint64)
	Bytes() int
}

// Bytes returns the memory used by the batch. The caller decides when to apply the batch, usually
// after 4 MB of text.
func (b *Batch) Bytes() int { return b.sink.Bytes() }

// Remove removes a document from the index if it exists.
func (b *Batch) Remove(k Kind, id uint64) { b.sink.Remove(docKey(k, id)) }

// Put adds a document or replaces the one with the same kind and ID. If d.Text returns an error,
// Put returns it, and the batch contains the document with the pages before the error.
func (b *Batch) Put(d Document) error {
	if kindNumber(d.Kind) == 0 || d.ID > maxID {
		return fmt.Errorf("document %d: invalid type %q or ID", d.ID, d.Kind)
	}
	b.fields.position, b.text.position = 0, 0
	b.sink.StartDocument(docKey(d.Kind, d.ID), kindNumber(d.Kind), d.CreatedDay)
	for _, t := range d.filterTerms() {
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
	for i, s := range d.Parties {
		b.addParty(uint32(i), s) // instruments have few parties
	}
	if d.Text == nil {
		return nil
	}
	b.truncated, b.textLimit, b.distinctWords = false, b.sink.Bytes()+MaxDocumentMemory, 0
	if err := d.Text(b.addPage); err != nil {
		return fmt.Errorf("read text of document %d: %w", d.ID, err)
	}
	if b.truncated && b.log != nil {
		b.log.Warn("text has too many words; the search index contains only the beginning", "kind", d.Kind, "id", d.ID, "words", b.text.position)
	}
	return nil
}

// isRepetitive reports whether a text is too repetitive to be written by a person. A few kilobytes
// of compressed data can expand to millions of words, which would delay other documents.
func (b *Batch) isRepetitive(position uint32) bool {
	return position >= repetitionCheckFrom && b.distinctWords < position/maxWordsPerDistinct
}

// addNumber adds one of Document.Numbers.
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
			b.addPrefixes(nsWordPrefix, t.text, longPrefixes) // the prefixes of the first word are added as nsNumberPrefix
		}
	})
	b.fields.addGap()
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
		b.addPrefixes(nsNumberPrefix, []byte(joined), longPrefixes) // to find Bk 1022 Pg 311 by Bk 1022 Pg 3
	}
	if r, ok := model.ParseBookPage(parts); ok {
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

// addTypedPrefixes adds the prefixes of a number that contain punctuation but do not end with it.
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

// addName adds one of Document.Names, with prefixes.
func (b *Batch) addName(s string) {
	b.fields.joinNames = true
	b.fields.scan(s, func(t token) {
		b.addWord(nsFieldWord, t)
		b.addPrefixes(nsWordPrefix, t.text, longPrefixes)
	})
	b.fields.joinNames = false
	b.fields.addGap()
}

// addField adds one of Document.Fields.
func (b *Batch) addField(s string) {
	b.fields.scan(s, func(t token) {
		b.addWord(nsFieldWord, t)
		b.addPrefixes(nsOtherPrefix, t.text, fieldPrefixes)
	})
	b.fields.addGap()
}

// addPage adds one page of the document text.
func (b *Batch) addPage(text string) error {
	if b.truncated {
		return nil
	}
	b.text.scan(text, func(t token) {
		if b.truncated = b.truncated || t.position >= MaxTextWords || b.sink.Bytes() >= b.textLimit || b.isRepetitive(t.position); b.truncated {
			return
		}
		if !b.addWord(nsTextWord, t) {
			return // the word and its prefixes have already been added
		}
		if b.distinctWords++; b.sink.Bytes() < b.textLimit-MaxDocumentMemory/2 {
			b.addPrefixes(nsOtherPrefix, t.text, textPrefixes)
		}
	})
	b.text.addGap()
	return nil
}

func (b *Batch) addWord(ns byte, t token) (first bool) {
	b.term = appendTerm(b.term, ns, t.text)
	return b.sink.AddWord(b.term, t.position)
}

// addPrefixes adds the prefixes of a word.
func (b *Batch) addPrefixes(ns byte, word []byte, lengths prefixLengths) {
	characters, minLen := 0, lengths.min
	if len(word) > 0 && isDigit(word[0]) {
		minLen = lengths.minDigits
	}
	for end := 0; end < len(word) && characters < lengths.max; {
		_, size := utf8.DecodeRune(word[end:])
		end += size
		if characters++; characters >= minLen && end <= maxWordBytes {
			b.term = appendTerm(b.term, ns, word[:end])
			b.sink.AddTerm(b.term)
		}
	}
}

// docKey returns the key of a document in the index.
func docKey(k Kind, id uint64) uint64 { return uint64(kindNumber(k))<<56 | id }
