//go:build scale && linux

package cmd

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"deedkeep/app/secret"
	"deedkeep/app/vaulttest"
)

// searchCase is one search, and what is to be found by it.
type searchCase struct {
	class, text string
	words       []string // of the text: small letters and digits
	phrase      bool
	county      string // filters; "" for none
	from, to    time.Time
	first       string   // what the first hit is called, or a parcel of it; "" where that is not known
	count       int      // records that have every word as it was asked
	want        []record // the first of them, one more than fit on a page
	latest      record   // the last of them
}

// maxWanted is what fits on a page.
const maxWanted = 100

// record is the n-th of a kind, from 0.
type record struct {
	kind string
	n    int
}

// oracle knows what the vault of a mix holds.
type oracle struct {
	vaulttest.Mix
	words *vaulttest.Vocabulary
	ids   map[string]*secret.IDs
}

func newOracle(t *testing.T, m vaulttest.Mix, dir string) *oracle {
	t.Helper()
	ring, _, err := secret.LoadKeys(filepath.Join(dir, "secret.key"), rand.Reader)
	if err != nil {
		t.Fatalf("load keys: %v", err)
	}
	return &oracle{m, vaulttest.NewVocabulary(), map[string]*secret.IDs{"abstract": ring.IDs("abstracts"), "order": ring.IDs("orders")}}
}

// record is the one that a hit names.
func (o *oracle) record(kind string, id json.RawMessage) (record, error) {
	var n uint64
	if ids := o.ids[kind]; ids != nil {
		var text string
		if err := json.Unmarshal(id, &text); err != nil {
			return record{}, err
		}
		decoded, ok := ids.Decode(text)
		if n = decoded; !ok {
			return record{}, fmt.Errorf("%s is no id of a %s", id, kind)
		}
	} else if err := json.Unmarshal(id, &n); err != nil {
		return record{}, err
	}
	return record{kind, int(n) - 1}, nil // #nosec G115 -- counts from 1
}

// matchesFilters judges the filters of a search.
func (a *searchCase) matchesFilters(o *oracle, r record) bool {
	if a.county == "" {
		return true
	}
	s := o.mixRecord(r)
	if r.kind == "file" {
		s.County = o.Abstract(r.n / vaulttest.FilesPerOrder).County
		if o.InFolder(r.n) {
			return false
		}
	}
	return s.County == a.county && !s.At.Before(a.from) && s.At.Before(a.to.AddDate(0, 0, 1))
}

func (o *oracle) mixRecord(r record) vaulttest.MixRecord {
	switch r.kind {
	case "abstract":
		return o.Abstract(r.n)
	case "order":
		return o.Order(r.n)
	default:
		return o.File(r.n)
	}
}

// names are the numbers of a record without punctuation, and the words of its fields.
func (o *oracle) names(r record, into []string) []string {
	s, into := o.mixRecord(r), into[:0]
	switch r.kind {
	case "abstract":
		into = append(into, compact(s.Number), compact(s.Parcel), fmt.Sprintf("bk%dpg%d", s.Book, s.Page), fmt.Sprintf("%d%d", s.Book, s.Page))
		into = append(into, wordsOf(fmt.Sprintf("%s %s Full Search %s %s Bk %d Pg %d Lot %d Block %d", s.Number, s.Parcel, s.Owner,
			s.Borrower, s.Book, s.Page, s.Page%90, s.Book%20))...)
	case "order":
		into = append(into, compact(s.Number), compact(s.Parcel))
		into = append(into, wordsOf(fmt.Sprintf("%s %s Full Search Purchase %s %s %s", s.Number, s.Parcel, s.Owner, s.Borrower, s.Client))...)
	default:
		into = append(into, fmt.Sprintf("bk%dpg%d", s.Book, s.Page), fmt.Sprintf("%d%d", s.Book, s.Page), "bk", strconv.Itoa(s.Book),
			"pg", strconv.Itoa(s.Page), compact(s.At.Format(time.DateOnly)))
		return append(into, wordsOf(s.Filename(r.n))...)
	}
	return append(into, wordsOf(s.Address+" "+s.City+" "+s.County+" "+s.State)...)
}

// text is the words of a document, and where they stand; nil of what has none.
func (o *oracle) text(r record) []uint16 {
	if r.kind == "file" {
		if n, has := o.TextNumber(r.n); has {
			return o.words.Ranks(n, nil)
		}
	}
	return nil
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func compact(text string) string { return strings.Join(wordsOf(text), "") }

// matchLevel is how much of what was asked a hit has.
type matchLevel int

const (
	exactMatch  matchLevel = iota // every word
	prefixMatch                   // the last one as a beginning
	typoMatch                     // a word with an error, or without the last one where that is short
)

// checkHit says whether a hit has that much; the page of a document has the phrase.
func (o *oracle) checkHit(a *searchCase, r record, page int, like matchLevel) error {
	if !a.matchesFilters(o, r) {
		return fmt.Errorf("%v is not of %s, %s to %s", r, a.county, a.from.Format(time.DateOnly), a.to.Format(time.DateOnly))
	}
	names, ranks := o.names(r, nil), o.text(r)
	if a.phrase {
		if len(ranks) > 0 && len(o.phrasePositions(a, ranks, page)) == 0 {
			return fmt.Errorf("%v has no %q on page %d", r, a.words, page)
		}
		return nil
	}
	for _, rank := range ranks {
		names = append(names, o.words.Word(int(rank)))
	}
	names = append(names, o.derivedWords(r)...)
	for i, word := range a.words {
		last := i == len(a.words)-1
		has := func(have string) bool {
			return have == word || like >= prefixMatch && last && strings.HasPrefix(have, word) || like == typoMatch &&
				(isTypo(have, word) || last && hasPrefixWithTypo(have, word))
		}
		if missing := like == typoMatch && last && i > 0 && len(word) < 4; !missing && !slices.ContainsFunc(names, has) {
			return fmt.Errorf("%v has no %q: %.300q", r, word, names)
		}
	}
	return nil
}

// derivedWords is what a record may have besides: its status, and when an order is due, are not
// of the mix. Bk, Pg and Rd are also found when they are written out, and short first names
// together with the last, and numbers without the zeros before them.
func (o *oracle) derivedWords(r record) []string {
	s := o.mixRecord(r)
	names := wordsOf("book page road new in search in exam needs curative complete cancelled active on hold completed")
	for days := 3; r.kind == "order" && days < 23; days++ {
		names = append(names, wordsOf(s.At.AddDate(0, 0, days).Format(time.DateOnly))...)
	}
	for _, part := range wordsOf(s.Number + " " + s.Parcel) {
		if short := strings.TrimLeft(part, "0"); short != part && short != "" {
			names = append(names, short)
		}
	}
	for _, name := range []string{s.Owner, s.Borrower, s.Address} {
		words := wordsOf(name)
		for i := range len(words) - 1 {
			if len(words[i]) <= 3 {
				names = append(names, words[i]+words[i+1])
			}
		}
	}
	return names
}

// phrasePositions is where the words stand one behind the other, on a page or, for page 0, on any.
func (o *oracle) phrasePositions(a *searchCase, ranks []uint16, page int) (places []int) {
	for at := 0; at+len(a.words) <= len(ranks); at++ {
		here := vaulttest.PageOf(at)
		if here != vaulttest.PageOf(at+len(a.words)-1) || page != 0 && here != page {
			continue
		}
		for i, word := range a.words {
			if o.words.Word(int(ranks[at+i])) != word {
				break
			}
			if i == len(a.words)-1 {
				places = append(places, at)
			}
		}
	}
	return places
}

// hasPrefixWithTypo says whether a word begins with another that has an error.
func hasPrefixWithTypo(have, word string) bool {
	for n := len(word) - 1; n <= min(len(word)+1, len(have)); n++ {
		if isTypo(have[:n], word) {
			return true
		}
	}
	return false
}

// isTypo says whether two words are one insertion, removal, exchange or swap apart.
func isTypo(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	head := 0
	for head < len(a) && a[head] == b[head] {
		head++
	}
	switch rest, other := a[head:], b[head:]; {
	case len(b)-len(a) > 1:
		return false
	case len(b) > len(a):
		return rest == other[1:]
	case len(rest) < 2:
		return true
	default:
		return rest[1:] == other[1:] || rest[2:] == other[2:] && rest[0] == other[1] && rest[1] == other[0]
	}
}
