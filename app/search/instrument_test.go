package search_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// patchInstrument changes an instrument. fields is a JSON object.
func patchInstrument(t testing.TB, v *instance.Instance, id uint64, fields string) {
	t.Helper()
	var in model.Inputs
	err := json.Unmarshal([]byte(fields), &in)
	if err == nil {
		_, err = v.Instruments.Patch(t.Context(), vaulttest.Operator, id, vault.InstrumentPatch{Input: in}, vault.Match{})
	}
	if err != nil {
		t.Fatalf("change instrument %d to %s: %v", id, fields, err)
	}
}

// deed and mortgage are instruments of one property.
const (
	deed = `{"type":"Warranty Deed","instrument_number":"201904170093382","book_type":"Deed Book","book":"2417","page":"0883",
		"county":"Wexcombe","state":"NY","recorded":"2019-04-17","grantors":["Elm Street Holdings, L.L.C."],"grantees":["Quill, Ada B.","Smith, John"],
		"parcels":["47-0312-B-119.04"],"legal":"Lot 7 of Birch Orchard","consideration":"387500",
		"consideration_text":"love and affection"}`
	mortgage = `{"type":"Mortgage","book":"1022","page":"311","county":"Wexcombe","state":"NY","grantors":["John Quill"],
		"grantees":["First National Bank"],"other_parties":[{"role":"Trustee","name":"Ann O'Brien"}]}`
)

// instrumentIDs returns the instruments that a search finds in all lists.
func instrumentIDs(t testing.TB, v *instance.Instance, q search.Query) string {
	t.Helper()
	var list []uint64
	for {
		page, err := v.Search.Instruments(t.Context(), vaulttest.Operator, q, vault.Query{})
		if err != nil {
			t.Fatalf("Instruments(%+v): %v", q, err)
		}
		for _, i := range page.Items {
			list = append(list, i.ID)
		}
		if q.Offset = page.Next; q.Offset == 0 {
			return strings.Trim(fmt.Sprint(list), "[]")
		}
	}
}

// Instruments are found by their numbers, names, and other values, with filters.
func TestSearchInstruments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	abstract := createAbstract(t, v, "26-0017", "", elmStreet("Troy", "Rensselaer"))
	vaulttest.CreateInstrument(t, v, abstract.ID, deed)
	vaulttest.CreateInstrument(t, v, abstract.ID, mortgage)
	vaulttest.WaitIndexed(t, v)
	for text, want := range map[string]string{
		"2417/0883":                  "1",
		"2417/883":                   "1",
		"Deed Book 2417 Page 0883":   "1",
		"bk 2417 pg 883":             "1",
		"1022/311":                   "2",
		"201904170093382":            "1",
		"2019041700":                 "1",
		"47-0312-B-119.04":           "1",
		"warranty deed ":             "1",
		"birch orchard ":             "1",
		"love affection ":            "1",
		"elm street holdings llc ":   "1",
		"obrien ":                    "2",
		"quill":                      "2 1",
		"4/17/2019":                  "1",
		"387,500 ":                   "1",
		"wexcombe county ":           "2 1",
		"mortgage first national ba": "2",
	} {
		t.Run(text, func(t *testing.T) {
			if got := instrumentIDs(t, v, search.Query{Text: text}); got != want {
				t.Errorf("instruments for %q = %q, want %q", text, got, want)
			}
		})
	}
	types, err := v.Instruments.Types(t.Context())
	if err != nil {
		t.Fatalf("Types: %v", err)
	}
	mortgageType, _ := types.ByName("Mortgage")
	for name, row := range map[string]struct {
		q    search.Query
		want string
	}{
		"party":                 {search.Query{Party: "ADA quill"}, "1"},
		"words of two parties":  {search.Query{Party: "ada smith"}, ""},
		"trustee":               {search.Query{Party: "o'brien, ann"}, "2"},
		"pages":                 {search.Query{Party: "quill", Limit: 1}, "2 1"},
		"party and type":        {search.Query{Party: "quill", DocumentType: mortgageType.ID}, "2"},
		"party and text":        {search.Query{Party: "quill", Text: "2417/0883"}, "1"},
		"party and county":      {search.Query{Party: "quill", County: "wexcombe parish"}, "2 1"},
		"party and state":       {search.Query{Party: "quill", State: "New York"}, "2 1"},
		"county of an abstract": {search.Query{Party: "quill", County: "Rensselaer"}, ""},
		"other state":           {search.Query{Text: "quill", State: "VT"}, ""},
		"text and type":         {search.Query{Text: "quill", DocumentType: mortgageType.ID}, "2"},
		"template":              {search.Query{Text: "quill", Template: abstract.TemplateID}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := instrumentIDs(t, v, row.q); got != row.want {
				t.Errorf("instruments = %q, want %q", got, row.want)
			}
		})
	}
	q := search.Query{Party: "quill", DocumentType: mortgageType.ID}
	page, err := v.Search.Instruments(t.Context(), vaulttest.Operator, q, vault.Query{})
	if err != nil || page.Items[0].Type != mortgageType || page.Items[0].Status != model.InstrumentOpen {
		t.Errorf("Instruments() = %+v, %v; want an open mortgage", page, err)
	}
}

// A hit of an instrument has a readable heading, and its second line is its abstract.
func TestInstrumentHits(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	abstract := createAbstract(t, v, "26-0017", "", elmStreet("Troy", "Rensselaer"))
	vaulttest.CreateInstrument(t, v, abstract.ID, deed)
	vaulttest.CreateOrderForProperty(t, v, "T-2417", "", "", elmStreet("Troy", "Rensselaer"))
	vaulttest.WaitIndexed(t, v)
	page := searchRecords(t, v, search.Query{Text: "2417/0883"})
	if len(page.Items) != 1 || page.Counts["instrument"] != 1 {
		t.Fatalf("page = %+v, want one instrument", page)
	}
	const heading = "Warranty Deed · Deed Book 2417, Page 0883; Inst. 201904170093382 · Elm Street Holdings, L.L.C. to Quill, Ada B. et al."
	if h := page.Items[0]; h.Kind != "instrument" || h.ID != 1 || h.Heading != heading || h.Subheading != "26-0017" ||
		h.AbstractID != abstract.ID || h.Match != search.MatchExact || h.Page != 0 || !strings.Contains(markedText(h.Snippet),
		"[2417, Page 0883]") {
		t.Errorf("hit = %+v with snippet %s, want %s", h, markedText(h.Snippet), heading)
	}
	for text, want := range map[string]string{
		"ada quill":      "Grantee: [Quill], [Ada] B.; Smith, John",
		"birch orchard":  "Legal description: Lot 7 of [Birch Orchard]",
		"47-0312-B-119":  "Parcel IDs: [47-0312-B-119.04]",
		"april 17, 2019": "Recorded: [2019-04-17]",
	} {
		if h := searchRecords(t, v, search.Query{Text: text}).Items[0]; markedText(h.Snippet) != want {
			t.Errorf("snippet for %q = %q, want %q", text, markedText(h.Snippet), want)
		}
	}
	if got := hitIDs(searchRecords(t, v, search.Query{Text: "elm"})); !slices.Equal(got, []string{"abstract 1", "order 1", "instrument 1"}) {
		t.Errorf("hits of all types = %q, want an abstract, an order, and an instrument", got)
	}
	if got := hitIDs(searchRecords(t, v, search.Query{Text: "elm", Kind: "instrument"})); !slices.Equal(got, []string{"instrument 1"}) {
		t.Errorf("hits with the type instrument = %q, want one", got)
	}
}

// Searches find an instrument by its current values, and only while it isn't in the trash.
func TestIndexFollowsInstruments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now = vaulttest.NewClock().Now })
	vaulttest.WaitIndexed(t, v)
	abstract := createAbstract(t, v, "26-0017", "", elmStreet("Troy", "Rensselaer")).ID
	ctx := t.Context()
	for _, row := range []struct {
		name        string
		change      func() error
		text, party string
		want        string
	}{
		{"create", func() error { vaulttest.CreateInstrument(t, v, abstract, deed); return nil }, "2417/0883", "john smith", "1"},
		{"change", func() error {
			patchInstrument(t, v, 1, `{"page":"0884","grantees":["Smith, Jane"]}`)
			return nil
		}, "2417/0884", "jane smith", "1"},
		{"old values", nil, "2417/0883", "john smith", ""},
		{"trash", func() error { return v.Instruments.Trash(ctx, vaulttest.Operator, 1, vault.Match{}) }, "2417/0884", "jane smith", ""},
		{"restore", func() error {
			_, err := v.Instruments.Restore(ctx, vaulttest.Operator, 1, vault.Idempotency[vault.InstrumentView]{})
			return err
		}, "2417/0884", "jane smith", "1"},
		{"trash the abstract", func() error { return v.Abstracts.Trash(ctx, vaulttest.Operator, abstract, vault.Match{}) },
			"2417/0884", "jane smith", ""},
		{"restore the abstract", func() error {
			_, err := v.Abstracts.Restore(ctx, vaulttest.Operator, abstract, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}, "2417/0884", "jane smith", "1"},
		{"rename the type", func() error {
			types, err := v.Instruments.Types(ctx)
			if err != nil {
				return err
			}
			types = slices.Clone(types)
			types[0].Name = "Grant Deed"
			_, err = v.Instruments.SetTypes(ctx, vaulttest.Operator, types, false)
			return err
		}, "grant deed ", "jane smith", "1"},
		{"retire the type", func() error {
			types, err := v.Instruments.Types(ctx)
			if err != nil {
				return err
			}
			_, err = v.Instruments.SetTypes(ctx, vaulttest.Operator, types[1:], false)
			return err
		}, "grant deed ", "jane smith", "1"},
		{"trash again", func() error { return v.Instruments.Trash(ctx, vaulttest.Operator, 1, vault.Match{}) }, "2417/0884", "jane smith", ""},
		{"purge", func() error { _, err := v.Purger.Purge(ctx, vaulttest.Operator, "instrument", 1, ""); return err },
			"2417/0884", "jane smith", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.change != nil {
				if err := row.change(); err != nil {
					t.Fatalf("change: %v", err)
				}
			}
			vaulttest.WaitIndexed(t, v)
			if got := instrumentIDs(t, v, search.Query{Text: row.text}); got != row.want {
				t.Errorf("instruments for %q = %q, want %q", row.text, got, row.want)
			}
			if got := instrumentIDs(t, v, search.Query{Party: row.party}); got != row.want {
				t.Errorf("instruments of the party %q = %q, want %q", row.party, got, row.want)
			}
		})
	}
	if s := vaulttest.WaitIndexed(t, v); s.Documents != 1 {
		t.Errorf("records in the index = %d, want only the abstract", s.Documents)
	}
}

func TestSearchInstrumentsRejects(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.WaitIndexed(t, v)
	for name, row := range map[string]struct {
		q    search.Query
		want string
	}{
		"nothing":        {search.Query{}, "The q field is required."},
		"blank party":    {search.Query{Party: " "}, "The q field is required."},
		"bad characters": {search.Query{Party: "a\x00b"}, "The party field contains invalid characters."},
		"too long":       {search.Query{Party: strings.Repeat("ü", 501)}, "The party field must not be greater than 500 characters."},
		"no words":       {search.Query{Party: ".,"}, "The party field must have at least one word and at most 32."},
		"too many words": {search.Query{Party: strings.Repeat("a ", 33)}, "The party field must have at least one word and at most 32."},
		"short text":     {search.Query{Party: "quill", Text: "a"}, "The q field must have at least two letters or digits."},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := v.Search.Instruments(t.Context(), vaulttest.Operator, row.q, vault.Query{}); err == nil || err.Error() != row.want {
				t.Errorf("error = %v, want %s", err, row.want)
			}
		})
	}
}
