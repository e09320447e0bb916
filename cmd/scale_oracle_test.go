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

// searchCase is a search with its expected results.
type searchCase struct {
	class, text string
	words       []string // words of the search text, in lower case and without punctuation
	phrase      bool
	county      string // filters, together with from and to; "" if the search has no filters
	from, to    time.Time
	first       string   // number or parcel ID of the expected first hit; "" if unknown
	count       int      // number of records that contain all words exactly
	want        []record // the first expected records, at most one more than fit on a page
	latest      record   // the last expected record
}

// maxWanted is the maximum number of records on a page.
const maxWanted = 100

// record identifies a record by its type and number. Numbers start at 0.
type record struct {
	kind string
	n    int
}

// oracle knows the content of a vault that was created from a mix.
type oracle struct {
	vaulttest.Mix
	words *vaulttest.Vocabulary
	ids   map[string]*secret.IDs
}

// newOracle returns an oracle for the vault in dir, which was created from m.
func newOracle(t *testing.T, m vaulttest.Mix, dir string) *oracle {
	t.Helper()
	ring, _, err := secret.LoadKeys(filepath.Join(dir, "secret.key"), rand.Reader)
	if err != nil {
		t.Fatalf("load keys: %v", err)
	}
	return &oracle{m, vaulttest.NewVocabulary(), map[string]*secret.IDs{"abstract": ring.IDs("abstracts"), "order": ring.IDs("orders")}}
}

// record returns the record with the given type and ID, as returned in a hit.
func (o *oracle) record(kind string, id json.RawMessage) (record, error) {
	var n uint64
	if ids := o.ids[kind]; ids != nil {
		var text string
		if err := json.Unmarshal(id, &text); err != nil {
			return record{}, err
		}
		decoded, ok := ids.Decode(text)
		if n = decoded; !ok {
			return record{}, fmt.Errorf("%s is not the ID of a %s", id, kind)
		}
	} else if err := json.Unmarshal(id, &n); err != nil {
		return record{}, err
	}
	return record{kind, int(n) - 1}, nil // counts from 1
}

// matchesFilters reports whether a record matches the filters of a search.
func (sc *searchCase) matchesFilters(o *oracle, r record) bool {
	if sc.county == "" {
		return true
	}
	s := o.mixRecord(r)
	if r.kind == "file" {
		s.County = o.Abstract(r.n / vaulttest.FilesPerOrder).County
		if o.InFolder(r.n) {
			return false
		}
	}
	return s.County == sc.county && !s.At.Before(sc.from) && s.At.Before(sc.to.AddDate(0, 0, 1))
}

// mixRecord returns the fields of a record as defined by the mix.
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

// names returns the numbers of a record without punctuation and the words in its fields. It reuses buf.
func (o *oracle) names(r record, buf []string) []string {
	s, buf := o.mixRecord(r), buf[:0]
	switch r.kind {
	case "abstract":
		buf = append(buf, compact(s.Number), compact(s.Parcel), fmt.Sprintf("bk%dpg%d", s.Book, s.Page), fmt.Sprintf("%d%d", s.Book, s.Page))
		buf = append(buf, wordsOf(fmt.Sprintf("%s %s Full Search %s %s Bk %d Pg %d Lot %d Block %d", s.Number, s.Parcel, s.Owner,
			s.Borrower, s.Book, s.Page, s.Page%90, s.Book%20))...)
	case "order":
		buf = append(buf, compact(s.Number), compact(s.Parcel))
		buf = append(buf, wordsOf(fmt.Sprintf("%s %s Full Search Purchase %s %s %s", s.Number, s.Parcel, s.Owner, s.Borrower, s.Client))...)
	default:
		buf = append(buf, fmt.Sprintf("bk%dpg%d", s.Book, s.Page), fmt.Sprintf("%d%d", s.Book, s.Page), "bk", strconv.Itoa(s.Book),
			"pg", strconv.Itoa(s.Page), compact(s.At.Format(time.DateOnly)))
		return append(buf, wordsOf(s.Filename(r.n))...)
	}
	return append(buf, wordsOf(s.Address+" "+s.City+" "+s.County+" "+s.State)...)
}

// text returns the frequency ranks of the words in a document, in sequence, or nil if the record has no text.
func (o *oracle) text(r record) []uint16 {
	if r.kind == "file" {
		if n, ok := o.TextNumber(r.n); ok {
			return o.words.Ranks(n, nil)
		}
	}
	return nil
}

// wordsOf returns the words in text, in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// compact returns text in lower case, without spaces or punctuation.
func compact(text string) string { return strings.Join(wordsOf(text), "") }

// matchLevel is how closely a hit must match a search.
type matchLevel int

const (
	exactMatch  matchLevel = iota // the record contains every word
	prefixMatch                   // the last search word may be a prefix
	typoMatch                     // words may contain a typo, and a short last word may be missing
)

// checkHit returns an error if a hit doesn't match a search at the given level. A phrase must be on the given page.
func (o *oracle) checkHit(a *searchCase, r record, page int, level matchLevel) error {
	if !a.matchesFilters(o, r) {
		return fmt.Errorf("%v doesn't match the filters %s, %s to %s", r, a.county, a.from.Format(time.DateOnly), a.to.Format(time.DateOnly))
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
		matches := func(have string) bool {
			return have == word || level >= prefixMatch && last && strings.HasPrefix(have, word) ||
				level == typoMatch && (isTypo(have, word) || last && hasPrefixWithTypo(have, word))
		}
		if missing := level == typoMatch && last && i > 0 && len(word) < 4; !missing && !slices.ContainsFunc(names, matches) {
			return fmt.Errorf("%v has no %q: %.300q", r, word, names)
		}
	}
	return nil
}

// derivedWords returns words by which a search may find a record although they aren't in its fields: statuses and
// possible due dates (which the mix doesn't define), the full words for Bk, Pg, and Rd, short first names joined with
// the last name, and numbers without leading zeros.
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

// phrasePositions returns the positions at which the words of a search are consecutive on the given page, or on any
// page if page is 0.
func (o *oracle) phrasePositions(a *searchCase, ranks []uint16, page int) (positions []int) {
	for at := 0; at+len(a.words) <= len(ranks); at++ {
		current := vaulttest.PageOf(at)
		if current != vaulttest.PageOf(at+len(a.words)-1) || page != 0 && current != page {
			continue
		}
		for i, word := range a.words {
			if o.words.Word(int(ranks[at+i])) != word {
				break
			}
			if i == len(a.words)-1 {
				positions = append(positions, at)
			}
		}
	}
	return positions
}

// hasPrefixWithTypo reports whether a prefix of have is word with one typo.
func hasPrefixWithTypo(have, word string) bool {
	for n := len(word) - 1; n <= min(len(word)+1, len(have)); n++ {
		if isTypo(have[:n], word) {
			return true
		}
	}
	return false
}

// isTypo reports whether two words differ by one inserted, removed, or replaced letter, or by two swapped letters.
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
