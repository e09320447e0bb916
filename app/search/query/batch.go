package query

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

// mostID is the greatest ID: the byte above it is the kind.
const mostID = 1<<56 - 1

// MostPositions is how many words of the text of one document are in the index; what
// stands behind them is not found.
const MostPositions = 4_000_000

// MostMemory is how many bytes a batch may grow by the text of one document; what
// stands behind them is not found either. An ordinary text of MostPositions stays far
// below: it is for those in which every word is another. In the second half of it words
// are found whole and by more than six characters, not by shorter beginnings, which cost
// more than the words do.
const MostMemory = 32 << 20

// Of the first leastRepeated words of a text, and of all behind them, one of so many
// must be another.
const (
	leastRepeated  = 1 << 20
	leastDifferent = 1024
)

// Batch gathers documents for one Apply. It is of one goroutine.
type Batch struct {
	log    *slog.Logger
	engine *index.Batch
	to     sink // the same
	term   []byte
	fields analyser
	text   analyser
	most   int  // Bytes up to which the text of this document goes
	cut    bool // it had more

	different uint32 // words of the text of this document
}

// Batch returns an empty batch.
func (x *Index) Batch() *Batch {
	engine := x.engine.Batch()
	return &Batch{log: x.options.Log, engine: engine, to: engine}
}

// sink is where the terms of documents go: a batch of the engine, which takes a flat
// term once, however often it comes.
type sink interface {
	Begin(key uint64, group uint8, date int32)
	Flat(term []byte)
	Word(term []byte, position uint32) (first bool)
	Remove(key uint64)
	Bytes() int
}

// Bytes is the memory that the batch holds. The caller cuts where that is enough for
// him, or 4 MB of text.
func (b *Batch) Bytes() int { return b.to.Bytes() }

// Remove takes a document out of the index, if it is there.
func (b *Batch) Remove(k Kind, id uint64) { b.to.Remove(key(k, id)) }

// Put puts a document into the index, in place of an earlier one of the same kind and
// ID. Where d.Text returns an error, that comes back, and the document is in the batch
// with the pages before it.
func (b *Batch) Put(d Document) error {
	if d.Kind < Abstract || d.Kind > File || d.ID > mostID {
		return fmt.Errorf("document %d of kind %d has no place in the index", d.ID, d.Kind)
	}
	b.fields.position, b.text.position = 0, 0
	b.to.Begin(key(d.Kind, d.ID), uint8(d.Kind), d.Day)
	for _, t := range where(d.Template, d.County, d.State, d.Status) {
		b.to.Flat([]byte(t))
	}
	for _, s := range d.Numbers {
		b.number(s)
	}
	for _, s := range d.Names {
		b.name(s)
	}
	for _, s := range d.Fields {
		b.field(s)
	}
	if d.Text == nil {
		return nil
	}
	b.cut, b.most, b.different = false, b.to.Bytes()+MostMemory, 0
	if err := d.Text(b.page); err != nil {
		return fmt.Errorf("text of document %d: %w", d.ID, err)
	}
	if b.cut && b.log != nil {
		b.log.Warn("the end of a text is not in the search index: it has too many words", "kind", d.Kind, "id", d.ID, "words", b.text.position)
	}
	return nil
}

// repeats reports a text that says nothing new for so long that it is none of people: a
// few bytes can be packed to become millions of words, and all others wait meanwhile.
func (b *Batch) repeats(position uint32) bool {
	return position >= leastRepeated && b.different < position/leastDifferent
}

// number puts what a document is called by.
func (b *Batch) number(s string) {
	var parts []string
	var at []int
	first := b.fields.position
	firstEnd, end := 0, 0
	b.fields.scan(s, func(t token) {
		b.word(fieldWord, t)
		if !t.also {
			if len(parts) == 0 {
				firstEnd = t.end
			}
			parts, at, end = append(parts, string(t.text)), append(at, t.start), t.end
		}
		if t.position != first || t.also && t.end == firstEnd {
			b.starts(wordStart, t.text, anyStart) // those of the first are numberStart
		}
	})
	b.fields.skip()
	if len(parts) == 0 {
		return
	}
	head := heading(parts)
	if head > 0 {
		b.starts(wordStart, []byte(parts[0]), anyStart)
	}
	parts, at = parts[head:], at[head:]
	all := squeezed(parts)
	b.to.Flat([]byte(term(plainNumber, whole(plain(parts)))))
	b.starts(numberStart, []byte(all), anyStart)
	if joined := strings.Join(parts, ""); joined != all {
		b.starts(numberStart, []byte(joined), anyStart) // Bk 1022 Pg 3
	}
	if r, is := model.ReferenceOf(parts); is {
		b.to.Flat([]byte(term(asTyped, whole(entered(r.Register, r.Numbers)))))
		b.to.Flat([]byte(term(number, whole(paged(r.Numbers)))))
		b.to.Flat([]byte(term(number, whole(paged([]string{all})))))
		return
	}
	b.to.Flat([]byte(term(number, whole(all))))
	typed := typedForm(s[at[0]:end])
	b.to.Flat([]byte(term(asTyped, whole(typed))))
	b.typedStarts(typed)
}

// typedStarts puts the beginnings of a number as it is written, those that have
// punctuation; nobody's ends with that.
func (b *Batch) typedStarts(typed string) {
	characters, apart := 0, false
	for i := range typed {
		if characters++; characters > anyStart.most {
			return
		}
		c, _, size := classAt(typed, i)
		if c == between || c == apostrophe {
			apart = true
		} else if end := i + size; apart && end <= mostWord {
			b.term = appendTerm(b.term, numberStart, []byte(typed[:end]))
			b.to.Flat(b.term)
		}
	}
}

// name puts what is found by beginnings.
func (b *Batch) name(s string) {
	b.fields.names = true
	b.fields.scan(s, func(t token) {
		b.word(fieldWord, t)
		b.starts(wordStart, t.text, anyStart)
	})
	b.fields.names = false
	b.fields.skip()
}

// field puts what is found by words.
func (b *Batch) field(s string) {
	b.fields.scan(s, func(t token) {
		b.word(fieldWord, t)
		b.starts(otherStart, t.text, fewStarts)
	})
	b.fields.skip()
}

// page puts a page of the text.
func (b *Batch) page(text string) error {
	if b.cut {
		return nil
	}
	b.text.scan(text, func(t token) {
		if b.cut = b.cut || t.position >= MostPositions || b.to.Bytes() >= b.most || b.repeats(t.position); b.cut {
			return
		}
		if !b.word(textWord, t) {
			return // it was here before, with its beginnings
		}
		if b.different++; b.to.Bytes() < b.most-MostMemory/2 {
			b.starts(otherStart, t.text, textStarts)
		}
	})
	b.text.skip()
	return nil
}

func (b *Batch) word(space byte, t token) (first bool) {
	b.term = appendTerm(b.term, space, t.text)
	return b.to.Word(b.term, t.position)
}

// starts puts the beginnings of a word; the engine takes each once a document.
func (b *Batch) starts(space byte, word []byte, which lengths) {
	characters, least := 0, which.least
	if len(word) > 0 && isDigit(word[0]) {
		least = which.leastDigits
	}
	for end := 0; end < len(word) && characters < which.most; {
		_, size := utf8.DecodeRune(word[end:])
		end += size
		if characters++; characters >= least && end <= mostWord {
			b.term = appendTerm(b.term, space, word[:end])
			b.to.Flat(b.term)
		}
	}
}

// key is the engine's of a document.
func key(k Kind, id uint64) uint64 { return uint64(k)<<56 | id }

// where gives the terms of the filters that are set.
func where(template uint64, county, state, status string) []string {
	var terms []string
	if template != 0 {
		terms = append(terms, templateTerm(template))
	}
	for _, f := range []struct {
		space byte
		value string
	}{{byCounty, model.FoldCounty(county)}, {byState, model.FoldState(state)}, {byStatus, model.Fold(status)}} {
		if f.value != "" {
			terms = append(terms, term(f.space, whole(f.value)))
		}
	}
	return terms
}
