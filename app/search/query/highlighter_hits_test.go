package query

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// phrasebook contains the words and numbers from which TestEveryHitIsHighlighted generates
// documents and queries.
var phrasebook = []string{
	"smith", "smyth", "Smithson", "jones", "John", "Jolnold", "O'Brien", "O Brien", "obrien", "Le Blanc", "leblanc", "de la Houssaye",
	"Delahoussaye", "Mac Dermott", "mcdermott", "St. Pierre", "Saint Pierre", "T&S", "T & S", "t", "s", "a", "b", "q", "A 1", "A-1", "1",
	"5", "7",
	"J.P.", "J P", "n", "N. T", "L.L.C.", "LLC", "of", "the", "to", "deed of trust", "trust deed", "Smith-Jones", "convey-\nance",
	"conveyance", "Peña",
	"Main Street", "main st", "117 Canal St", "no", "order no. 5", "parcel", "page", "bk", "book", "county", "Wexcombe", "Wexcombe County",
	"parish", "LA", "Louisiana",
	"417", "0417", "00417", "TT-2019-0417", "2019", "12-3-045", "12-3-45", "12 3 045", "123045", "2026-0117", "20260117", "Bk 1022 Pg 311",
	"Book 1022, Page 0311", "1022/311", "1022/0311", "Bk1022-Pg311", "1022", "311", "387,500", "387", "500", "T24.1093-A", "t241093a",
	"47-0312-B-119.04", "ORD-2026-000001-0077", "2417/883", "Bk 2417 Pg 0883", "bk 2417 pg 883", "liber 7 folio 12", "internationalization",
	"½", "S½", "SW¼", "sw 1/4", "s1/2", "土地", "a/k/a", "aka", "J. P.", "jp", "al-Hakim", "alhakim", "d Angelo", "d'Angelo", "Hawaiʻi",
	"2026-03-14", "3/14/2026", "03-14-2026", "3/14/26", "March 14, 2026", "Mar 14th 2026", "14th day of March, 2026", "14 March", "20260314",
	"12",
}

// randomQuery returns a query with random entries of the phrasebook.
func randomQuery(rng *rand.Rand) string {
	var words []string
	for range 1 + rng.IntN(3) {
		w := phrasebook[rng.IntN(len(phrasebook))]
		if rng.IntN(3) == 0 {
			w = misspell(rng, w)
		}
		words = append(words, w)
	}
	text := strings.Join(words, []string{" ", " ", " ", "-", ", "}[rng.IntN(5)])
	switch rng.IntN(8) {
	case 0:
		text = `"` + text + `"`
	case 1:
		text = `"` + text
	case 2:
		text += " "
	case 3, 4:
		text = strings.ToValidUTF8(text[:rng.IntN(len(text)+1)], "")
	}
	return text
}

// misspell returns a word with a typo.
func misspell(rng *rand.Rand, w string) string {
	r := []rune(w)
	at := rng.IntN(len(r))
	switch rng.IntN(4) {
	case 0:
		return string(r[:at]) + string(r[at+1:])
	case 1:
		return string(r[:at]) + string(rune('a'+rng.IntN(26))) + string(r[at:])
	case 2:
		r[at] = rune('a' + rng.IntN(26))
	case 3:
		if at > 0 {
			r[at-1], r[at] = r[at], r[at-1]
		}
	}
	return string(r)
}

// randomDocument returns a document with random entries of the phrasebook. texts are its fields and
// pages.
func randomDocument(rng *rand.Rand, id uint64) (d Document, texts []string) {
	text := func() string {
		var words []string
		for range 1 + rng.IntN(4) {
			words = append(words, phrasebook[rng.IntN(len(phrasebook))])
		}
		text := strings.Join(words, []string{" ", ", ", "_", "\n"}[rng.IntN(4)])
		texts = append(texts, text)
		return text
	}
	d = Document{Kind: kinds[1+rng.IntN(3)], ID: id, County: "Wexcombe", State: "LA"}
	for _, list := range []*[]string{&d.Numbers, &d.Names, &d.Fields} {
		for range rng.IntN(3) {
			*list = append(*list, strings.ReplaceAll(text(), "\n", " "))
		}
	}
	if at := len(texts); rng.IntN(2) == 0 {
		for range 1 + rng.IntN(2) {
			text()
		}
		d.Text = pages(texts[at:]...)
	}
	return d, texts
}

// Every hit of a random query has a highlighted match.
func TestEveryHitIsHighlighted(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	failures := 0
	for range 25 {
		var documents []Document
		texts := make(map[string][]string)
		for id := range uint64(12) {
			d, docTexts := randomDocument(rng, id)
			documents = append(documents, d)
			texts[fmt.Sprint(d.Kind, d.ID)] = docTexts
		}
		n := newNaiveEngine(t, documents)
		for range 60 {
			text := randomQuery(rng)
			a, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: text, Limit: 20})
			if err != nil {
				continue // the query is invalid
			}
			m := NewHighlighter(text)
			if a.Fuzzy {
				m = m.Fuzzy()
			}
			for _, h := range a.Hits {
				if docTexts := texts[fmt.Sprint(h.Kind, h.ID)]; !highlightsAny(m, docTexts) && failures < 20 {
					failures++
					t.Errorf("search(%q) finds %q (fuzzy: %t, relaxed: %t) but highlights nothing, want a match", text, docTexts, a.Fuzzy, a.Relaxed)
				}
			}
		}
	}
}

// highlightsAny reports whether a highlighter marks a part of at least one of the texts.
func highlightsAny(m *Highlighter, texts []string) bool {
	for _, text := range texts {
		for _, p := range m.Highlight(text) {
			if p.Marked {
				return true
			}
		}
	}
	return false
}
