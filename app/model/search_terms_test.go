package model

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestSearchTerms(t *testing.T) {
	custom := func(pairs ...string) CustomValues {
		v := CustomValues{}
		for i := 0; i < len(pairs); i += 2 {
			v[pairs[i]] = json.RawMessage(pairs[i+1])
		}
		return v
	}
	for _, row := range []struct {
		name string
		got  SearchTerms
		want SearchTerms
	}{
		{"nothing", Abstract{}.SearchTerms(), SearchTerms{}},
		{
			"an abstract without custom fields",
			Abstract{Status: "In Search", TaxMap: "12-3-045",
				Property: Property{Address: "7 Elm St.", City: "Troy", County: "Rensselaer", State: "NY"}}.SearchTerms(),
			SearchTerms{Numbers: []string{"12-3-045"}, Names: []string{"7 Elm St.", "Troy", "Rensselaer"}, Other: []string{"NY", "In Search"}},
		},
		{
			"the usual template",
			Abstract{Custom: custom("file_number", `"26-0017"`, "search_type", `"Two Owner"`, "effective_date", `"2026-05-29"`,
				"current_owner", `"Ann O'Neil"`,
				"vesting", `"Ann O'Neil, by deed in Book 1022, Page 311"`, "deed_book_page", `"Bk 1022 Pg 311"`, "subdivision_lot_block",
				`"Oak Hill, Lot 5, Block 3"`,
				"indices_searched", `["Probate","UCC"]`, "names_run", `"Ann O'Neil\nBob Ames\n"`, "legal_description", `"All that lot"`)}.SearchTerms(),
			SearchTerms{
				Numbers: []string{"Bk 1022 Pg 311", "26-0017", "Book 1022, Page 311"},
				Names:   []string{"Ann O'Neil", "Bob Ames", "Oak Hill, Lot 5, Block 3", "Ann O'Neil, by deed in Book 1022, Page 311"},
				Other:   []string{"2026-05-29", "Probate", "UCC", "All that lot", "Two Owner"},
			},
		},
		{
			"an order",
			Order{Number: "A-1", Status: "active", DueDate: "2026-06-01",
				Custom: custom("parcel_id", `"12.-3-4"`, "client_file_number", `77`, "buyer_borrower", `"Cy Dee"`, "rush", `true`)}.SearchTerms(),
			SearchTerms{Numbers: []string{"A-1", "77", "12.-3-4"}, Names: []string{"Cy Dee"}, Other: []string{"2026-06-01", "active"}},
		},
		{
			"money, email, phone, and url",
			Order{Number: "A-1", Custom: custom("fee", `"1234.50"`, "reply_to", `"ann@bayou-title.com"`, "call", `"+1 (985) 555-0142 x7"`,
				"web", `"https://a.b/deeds?book=12"`)}.SearchTerms(),
			SearchTerms{Numbers: []string{"1234.50", "A-1", "+1 (985) 555-0142 x7"},
				Other: []string{"ann@bayou-title.com", "https://a.b/deeds?book=12"}},
		},
		{"by shape", Abstract{Custom: custom("remarks", `"1022/311"`, "x", `"no number"`)}.SearchTerms(),
			SearchTerms{Numbers: []string{"1022/311"}, Other: []string{"no number"}}},
		{"a number field without a number", Abstract{Custom: custom("file_number", `"none"`)}.SearchTerms(),
			SearchTerms{Other: []string{"none"}}},
		{"custom fields without a value", Abstract{Custom: custom("a", `""`, "b", `null`, "c", `{}`, "d", `[1]`, "e",
			``)}.SearchTerms(), SearchTerms{}},
		{"a file", File{Filename: "Deed Bk1022-Pg311.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"Deed Bk1022-Pg311"}, Names: []string{"Deed Bk1022-Pg311.pdf"}}},
		{"a file named by words", File{Filename: "Ann's Plat.pdf"}.SearchTerms(), SearchTerms{Names: []string{"Ann's Plat.pdf"}}},
		{"a file named by a number", File{Filename: "26-0017.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"26-0017"}, Names: []string{"26-0017.pdf"}}},
		{"a number among words", File{Filename: "Plat_26-0017 (copy).pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"26-0017"}, Names: []string{"Plat_26-0017 (copy).pdf"}}},
		{"a book with spaces", File{Filename: "Deed Bk 1022 Pg 311.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"Deed Bk 1022 Pg 311"}, Names: []string{"Deed Bk 1022 Pg 311.pdf"}}},
		{"a short number among words", File{Filename: "2019 Taxes.txt"}.SearchTerms(), SearchTerms{Names: []string{"2019 Taxes.txt"}}},
		{"a number before words", File{Filename: "20_Deed_2019-03-14_Bk1022-Pg311_Smith.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"Bk1022-Pg311"}, Names: []string{"20_Deed_2019-03-14_Bk1022-Pg311_Smith.pdf"}}},
		{"an exhibit", File{Filename: "Exhibit 3-1 of 12.pdf"}.SearchTerms(), SearchTerms{Names: []string{"Exhibit 3-1 of 12.pdf"}}},
		{"six digits", File{Filename: "Deed 883120 rev 3.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"883120"}, Names: []string{"Deed 883120 rev 3.pdf"}}},
		{"a Louisiana book", File{Filename: "Cash Sale COB 1022 Pg 311 Hebert to ONeal.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"COB 1022 Pg 311"}, Names: []string{"Cash Sale COB 1022 Pg 311 Hebert to ONeal.pdf"}}},
		{"a book between underscores", File{Filename: "Deed_COB_1022_Pg_311.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"Deed COB 1022 Pg 311"}, Names: []string{"Deed_COB_1022_Pg_311.pdf"}}},
		{"an instrument", File{Filename: "Deed Inst No. 88123.pdf"}.SearchTerms(),
			SearchTerms{Numbers: []string{"Inst No. 88123"}, Names: []string{"Deed Inst No. 88123.pdf"}}},
		{"keys that name books", Abstract{Custom: custom("cob", `"1505/205"`, "mortgage_book", `"12, see 7"`, "entry", `"No. 88 123"`,
			"this_or", `"Ann 1"`)}.SearchTerms(),
			SearchTerms{Numbers: []string{"1505/205", "12, see 7", "No. 88 123"}, Other: []string{"Ann 1"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for name, lists := range map[string][2][]string{
				"numbers": {row.got.Numbers, row.want.Numbers}, "names": {row.got.Names, row.want.Names}, "others": {row.got.Other, row.want.Other},
			} {
				slices.Sort(lists[0])
				slices.Sort(lists[1])
				if !slices.Equal(lists[0], lists[1]) {
					t.Errorf("%s = %q, want %q", name, lists[0], lists[1])
				}
			}
		})
	}
}

// The number of references taken from one long text is limited.
func TestSearchTermsOfLongText(t *testing.T) {
	raw, err := json.Marshal(strings.Repeat("Bk 1 Pg 2 and Bk 3 Pg 4; ", 4000))
	if err != nil {
		t.Fatalf("encode text: %v", err)
	}
	if k := (Abstract{Custom: CustomValues{"exceptions": raw}}).SearchTerms(); len(k.Numbers) != 2 || len(k.Other) != 1 {
		t.Errorf("terms = %d numbers and %d others, want 2 and 1", len(k.Numbers), len(k.Other))
	}
}
