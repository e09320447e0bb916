package query

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// uttered is what the documents of TestEveryHitSaysWhy say, and their queries look for.
var uttered = []string{
	"smith", "smyth", "Smithson", "jones", "John", "Jolnold", "O'Brien", "O Brien", "obrien", "Le Blanc", "leblanc", "de la Houssaye",
	"Delahoussaye", "Mac Dermott", "mcdermott", "St. Pierre", "Saint Pierre", "T&S", "T & S", "t", "s", "a", "b", "q", "A 1", "A-1", "1", "5", "7",
	"J.P.", "J P", "n", "N. T", "L.L.C.", "LLC", "of", "the", "to", "deed of trust", "trust deed", "Smith-Jones", "convey-\nance", "conveyance", "Peña",
	"Main Street", "main st", "117 Canal St", "no", "order no. 5", "parcel", "page", "bk", "book", "county", "Wexcombe", "Wexcombe County", "parish", "LA", "Louisiana",
	"417", "0417", "00417", "TT-2019-0417", "2019", "12-3-045", "12-3-45", "12 3 045", "123045", "2026-0117", "20260117", "Bk 1022 Pg 311",
	"Book 1022, Page 0311", "1022/311", "1022/0311", "Bk1022-Pg311", "1022", "311", "387,500", "387", "500", "T24.1093-A", "t241093a",
	"47-0312-B-119.04", "ORD-2026-000001-0077", "2417/883", "Bk 2417 Pg 0883", "bk 2417 pg 883", "liber 7 folio 12", "internationalization", "½", "S½", "SW¼", "sw 1/4", "s1/2", "土地", "a/k/a", "aka", "J. P.", "jp", "al-Hakim", "alhakim", "d Angelo", "d'Angelo", "Hawaiʻi",
	"2026-03-14", "3/14/2026", "03-14-2026", "3/14/26", "March 14, 2026", "Mar 14th 2026", "14th day of March, 2026", "14 March", "20260314", "12",
}

// typed is what somebody may type who looks for some of it.
func typed(chance *rand.Rand) string {
	var words []string
	for range 1 + chance.IntN(3) {
		w := uttered[chance.IntN(len(uttered))]
		if chance.IntN(3) == 0 {
			w = erred(chance, w)
		}
		words = append(words, w)
	}
	text := strings.Join(words, []string{" ", " ", " ", "-", ", "}[chance.IntN(5)])
	switch chance.IntN(8) {
	case 0:
		text = `"` + text + `"`
	case 1:
		text = `"` + text
	case 2:
		text += " "
	case 3, 4:
		text = strings.ToValidUTF8(text[:chance.IntN(len(text)+1)], "")
	}
	return text
}

// erred is a word with a typing error.
func erred(chance *rand.Rand, w string) string {
	r := []rune(w)
	at := chance.IntN(len(r))
	switch chance.IntN(4) {
	case 0:
		return string(r[:at]) + string(r[at+1:])
	case 1:
		return string(r[:at]) + string(rune('a'+chance.IntN(26))) + string(r[at:])
	case 2:
		r[at] = rune('a' + chance.IntN(26))
	case 3:
		if at > 0 {
			r[at-1], r[at] = r[at], r[at-1]
		}
	}
	return string(r)
}

// spokenBy is a document that says some of it, and its texts.
func spokenBy(chance *rand.Rand, id uint64) (d Document, texts []string) {
	text := func() string {
		var words []string
		for range 1 + chance.IntN(4) {
			words = append(words, uttered[chance.IntN(len(uttered))])
		}
		text := strings.Join(words, []string{" ", ", ", "_", "\n"}[chance.IntN(4)])
		texts = append(texts, text)
		return text
	}
	d = Document{Kind: Kind(1 + chance.IntN(3)), ID: id, County: "Wexcombe", State: "LA"}
	for _, list := range []*[]string{&d.Numbers, &d.Names, &d.Fields} {
		for range chance.IntN(3) {
			*list = append(*list, strings.ReplaceAll(text(), "\n", " "))
		}
	}
	if at := len(texts); chance.IntN(2) == 0 {
		for range 1 + chance.IntN(2) {
			text()
		}
		d.Text = pages(texts[at:]...)
	}
	return d, texts
}

// Whatever is found, something is marked in a text of it.
func TestEveryHitSaysWhy(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 11))
	silent := 0
	for range 25 {
		var documents []Document
		texts := make(map[string][]string)
		for id := range uint64(12) {
			d, its := spokenBy(chance, id)
			documents = append(documents, d)
			texts[fmt.Sprint(d.Kind, d.ID)] = its
		}
		n := naiveOf(t, documents)
		for range 60 {
			text := typed(chance)
			a, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: text, Limit: 20})
			if err != nil {
				continue // it is refused
			}
			m := NewHighlighter(text)
			if a.Fuzzy {
				m = m.Fuzzy()
			}
			for _, h := range a.Hits {
				if its := texts[fmt.Sprint(h.Kind, h.ID)]; !marksAny(m, its) && silent < 20 {
					silent++
					t.Errorf("%q finds %q (fuzzy: %t, loose: %t) and marks nothing", text, its, a.Fuzzy, a.Relaxed)
				}
			}
		}
	}
}

func marksAny(m *Highlighter, texts []string) bool {
	for _, text := range texts {
		for _, p := range m.Highlight(text) {
			if p.Marked {
				return true
			}
		}
	}
	return false
}
