package mention

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// read returns the mentions of a document with the given pages.
func read(filename string, pages ...string) List {
	r := NewReader(filename)
	for n, text := range pages {
		if !r.Add(n+1, text) {
			break
		}
	}
	return r.List()
}

// texts returns mentions as texts with what is known about them.
func texts(list []Mention) (all []string) {
	for _, c := range list {
		text := c.Text
		if c.Labeled {
			text += " labeled"
		}
		all = append(all, fmt.Sprintf("%s, page %d", text, c.Page))
	}
	return all
}

func TestNumbers(t *testing.T) {
	for _, row := range []struct {
		filename, text string
		want           []string
	}{
		{"scan.pdf", "Re: Our File No. 2024-118", []string{"2024-118 labeled, page 1"}},
		{"scan.pdf", "TITLE ORDER #118\nORDER NUMBER: R-77", []string{"118 labeled, page 1", "R-77 labeled, page 1"}},
		{"2024-118-deed.pdf", "", []string{"2024-118-deed labeled, page 0", "2024-118 labeled, page 0"}},
		{"deed_26-0140_signed.pdf", "", []string{"26-0140 labeled, page 0"}},
		{"Deed 2019.pdf", "", nil},
		{"IMG 0042.pdf", "", []string{"0042 labeled, page 0"}},
		{"scan.pdf", "Tax map 47.0312.b.11904", []string{"47.0312.b.11904, page 1"}},
		{"scan.pdf", "dated June 12, 2019, recorded 6/12/2019 at 555-123-4567 for $125,000.00 on the 14th", nil},
		{"scan.pdf", "in Book 1204 at Page 88, Troy, NY 12180", []string{"12180, page 1"}},
		{"scan.pdf", "APN 12-34567 and order no. 9912-A", []string{"9912-A labeled, page 1", "12-34567, page 1"}},
		{"scan.pdf", "", nil},
	} {
		got := texts(read(row.filename, row.text).Numbers)
		if !slices.Equal(got, row.want) {
			t.Errorf("numbers of %q, %q = %q, want %q", row.filename, row.text, got, row.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, row := range []struct {
		text string
		want string
	}{
		{"known as 12 Elm Street, Troy, New York", "12 Elm Street|12 Elm st"},
		{"Property Address: 1408 N. Grand Ave.\nAmes, IA", "1408 N. Grand Ave|1408 north Grand avenue"},
		{"88 State Route 9, Hoosick", "88 State Route 9|88 State rte 9"},
		{"7 Old Mill Run", "7 Old Mill Run"},
		{"on the 12 day of June, 2019, at the corner of Elm Street", ""},
	} {
		list := read("scan.pdf", row.text).Addresses
		got := ""
		if len(list) > 0 {
			got = strings.Join(list[0].Forms, "|")
		}
		if len(list) > 1 || got != row.want {
			t.Errorf("addresses of %q = %q, %d of them; want %q", row.text, got, len(list), row.want)
		}
	}
	if after := read("scan.pdf", "12 Elm Street,\nTroy, NY").Addresses[0].After; !strings.Contains(after, "Troy") {
		t.Errorf("After = %q, want the city", after)
	}
}

func TestNames(t *testing.T) {
	text := "Borrower(s): Ada B. Quill and John Quill   Loan 1234\nRE: Our file 2024-118\n Seller: Poe, Sam;\n" +
		"The seller agrees to pay: nothing\nCurrent Owner - Eve Poe\nBuyer:\n"
	want := []string{"Ada B. Quill and John Quill, page 1", "Poe, Sam, page 1", "Eve Poe, page 1"}
	if got := texts(read("scan.pdf", text).Names); !slices.Equal(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
}

// Each mention counts once, from its first page, and a long document is read only in part.
func TestLimits(t *testing.T) {
	if got := texts(read("scan.pdf", "File 2024-118", "file 2024-118").Numbers); !slices.Equal(got, []string{"2024-118 labeled, page 1"}) {
		t.Errorf("numbers = %q, want one", got)
	}
	var b strings.Builder
	for n := 0; b.Len() < 2<<20; n++ {
		fmt.Fprintf(&b, "12-%07d, of %d Elm Street, order no. A%06d\nOwner: Person %s\n", n, n, n, strings.Repeat("x", n%50))
	}
	text := b.String()
	got := read("scan.pdf", text, "File 2024-118")
	if len(got.Numbers) != maxLabeled+maxNumbers || len(got.Addresses) != maxAddresses || len(got.Names) != maxNames {
		t.Errorf("got %d numbers, %d addresses, %d names, want the limits", len(got.Numbers), len(got.Addresses), len(got.Names))
	}
	if got := read("scan.pdf", strings.Repeat("1,234 ", maxBytes/6)); len(got.Numbers) != 0 { // takes minutes if each number reads the line
		t.Errorf("numbers of amounts on one long line = %+v, want none", got.Numbers)
	}
	r := NewReader("scan.pdf")
	if r.Add(maxPages+1, "File 2024-118") || len(r.List().Numbers) != 0 {
		t.Error("a page after the last one was read")
	}
	for _, text := range []string{"", "\x00\xff\xfe", "\n\n\t", strings.Repeat("-", 1000), strings.Repeat("1", 1000), "Re:", "Owner: 12"} {
		if c := read(text, text); len(c.Numbers)+len(c.Addresses)+len(c.Names) != 0 {
			t.Errorf("mentions of %.20q = %+v, want none", text, c)
		}
	}
}
