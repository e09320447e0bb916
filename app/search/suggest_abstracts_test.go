package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// uploadRead uploads a document to no abstract and waits for its text.
func uploadRead(t *testing.T, v *instance.Instance, filename, text string) model.File {
	t.Helper()
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(filename, text))[0]
	vaulttest.ProcessingFailure(t, v, file.ID)
	return vaulttest.File(t, v, file.ID)
}

// suggested returns the suggested abstracts of a document, each with its reasons.
func suggested(t *testing.T, v *instance.Instance, f model.File) (list []string) {
	t.Helper()
	found, err := v.Search.SuggestAbstracts(t.Context(), vaulttest.Operator, f)
	if err != nil || found.Incomplete {
		t.Fatalf("SuggestAbstracts(%s): incomplete %t, %v", f.Filename, found.Incomplete, err)
	}
	for _, p := range found.List {
		var reasons []string
		for _, r := range p.Reasons {
			reasons = append(reasons, strings.TrimSpace(fmt.Sprintf("%s %q page %d %s", r.Kind, r.Value, r.Page, r.In.Kind)))
		}
		list = append(list, p.Heading+": "+strings.Join(reasons, ", "))
	}
	return list
}

// linkOrder creates an order for an abstract.
func linkOrder(t *testing.T, v *instance.Instance, abstract uint64, number string, custom model.Custom) {
	t.Helper()
	order, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{
		Fields: model.Inputs{"order_number": model.StringInput(number)}, Custom: custom}, vault.Idempotency[model.Order]{})
	if err == nil {
		_, err = v.TitleWork.SetOrder(t.Context(), vaulttest.Operator, abstract, order.ID, vault.Match{})
	}
	if err != nil {
		t.Fatalf("create and link order: %v", err)
	}
}

func TestSuggestAbstracts(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	linkOrder(t, v, createAbstract(t, v, "26-0140", "", inCounty("Wexcombe")).ID, "R-2024-118", model.Custom{})
	createAbstract(t, v, "26-0141", "47-0312-B-119.04", inCounty("Wexcombe"))
	createAbstract(t, v, "26-0142", "", elmStreet("Troy", "Wexcombe"))
	createAbstract(t, v, "26-0143", "", elmStreet("Albany", "Wexcombe"))
	linkOrder(t, v, createAbstract(t, v, "26-0144", "", inCounty("Wexcombe")).ID, "R-2024-119",
		vaulttest.CustomText("seller_owner", `"Ada and John Quill"`))
	vaulttest.CreateInstrument(t, v, createAbstract(t, v, "26-0145", "", inCounty("Wexcombe")).ID,
		`{"type":"Warranty Deed","county":"Wexcombe","state":"NY","grantees":["Sam T. Poe"]}`)
	trashed := createAbstract(t, v, "26-0146", "", inCounty("Wexcombe"))
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	vaulttest.WaitIndexed(t, v)

	for _, row := range []struct {
		name, filename, text string
		want                 []string
	}{
		{"order number", "scan.pdf", "first page|Your Order No. R-2024-118, payoff of 11 Oak Road",
			[]string{`26-0140: order number "R-2024-118" page 2 order`}},
		{"file number in the name", "26-0142 survey.pdf", "a survey of tax map 47.0312.B.11904", []string{
			`26-0142: file number "26-0142" page 0`, `26-0141: parcel "47-0312-B-119.04" page 1`}},
		{"parcel beside a number of something else", "scan.pdf", "Parcel ID: 47-0312-B-119.04\nReceipt 26-0140", []string{
			`26-0141: parcel "47-0312-B-119.04" page 1`, `26-0140: file number "26-0140" page 1`}},
		{"address in its city", "scan.pdf", "Property: 12 Elm Street, Troy, NY", []string{
			`26-0142: address "12 Elm St., Troy, NY" page 1`, `26-0143: address "12 Elm St., Albany, NY" page 1`}},
		{"name of the owner of the order", "scan.pdf", "Borrower: Quill, Ada", []string{
			`26-0144: name "Quill, Ada" page 1 order`}},
		{"name of a party", "scan.pdf", "Seller: Sam Poe", []string{`26-0145: party "Sam Poe" page 1 instrument`}},
		{"words of two names", "scan.pdf", "Seller: John Poe", nil},
		{"number of an abstract in the trash", "26-0146.pdf", "File No. 26-0146", nil},
		{"no text", "scan.pdf", "", nil},
		{"prefix of a number", "scan.pdf", "Order No. R-2024, file 26-014", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := suggested(t, v, uploadRead(t, v, row.filename, row.text)); !slices.Equal(got, row.want) {
				t.Errorf("SuggestAbstracts() =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

// A deed is suggested for the abstract whose instruments have its parties, and its lender isn't one of them.
func TestSuggestAbstractsOfMortgage(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	vaulttest.CreateInstrument(t, v, createAbstract(t, v, "26-1", "", inCounty("Wexcombe")).ID,
		`{"type":"Warranty Deed","county":"Wexcombe","state":"NY","grantees":["Ada Quill"]}`)
	vaulttest.CreateInstrument(t, v, createAbstract(t, v, "26-2", "", inCounty("Wexcombe")).ID,
		`{"type":"Sheriff's or Tax Deed","county":"Wexcombe","state":"NY","grantees":["Wexcombe Savings Bank"]}`)
	vaulttest.WaitIndexed(t, v)
	mortgage := uploadRead(t, v, "scan.pdf", "MORTGAGE\nMortgagor: Ada Quill\nMortgagee: Wexcombe Savings Bank\n")
	want := []string{`26-1: party "Ada Quill" page 1 instrument`}
	if got := suggested(t, v, mortgage); !slices.Equal(got, want) {
		t.Errorf("SuggestAbstracts() = %q, want %q", got, want)
	}
}

// A value that many abstracts have suggests none of them, and no more than 5 are suggested.
func TestSuggestAbstractsIgnoresCommonValues(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	const common = 40
	for n := range common {
		a := createAbstract(t, v, fmt.Sprintf("26-%03d", n), "99-999-9", inCounty("Wexcombe"))
		vaulttest.CreateInstrument(t, v, a.ID, `{"type":"Warranty Deed","county":"Wexcombe","state":"NY","grantors":["First Common Bank"]}`)
	}
	for n := range 7 {
		createAbstract(t, v, fmt.Sprintf("27-%03d", n), "88-888-8", inCounty("Wexcombe"))
	}
	vaulttest.WaitIndexed(t, v)
	if got := suggested(t, v, uploadRead(t, v, "a.pdf", "Seller: First Common Bank\nTax map 99-999-9")); len(got) != 0 {
		t.Errorf("SuggestAbstracts() = %q for values of %d abstracts, want none", got, common)
	}
	want := []string{`26-007: file number "26-007" page 1`}
	if got := suggested(t, v, uploadRead(t, v, "a.pdf", "File 26-007\nSeller: First Common Bank")); !slices.Equal(got, want) {
		t.Errorf("SuggestAbstracts() = %q, want %q", got, want)
	}
	found, err := v.Search.SuggestAbstracts(t.Context(), vaulttest.Operator, uploadRead(t, v, "b.pdf", "Tax map 88-888-8"))
	if err != nil || len(found.List) != 5 || !found.More || found.List[0].Heading != "27-006" {
		t.Errorf("SuggestAbstracts() = %q, more %t, %v; want the newest 5 of 7", formatPrior(found), found.More, err)
	}
}

// A long text is read only in part, and within the deadline.
func TestSuggestAbstractsForLongText(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	createAbstract(t, v, "26-1", "", inCounty("Wexcombe"))
	vaulttest.WaitIndexed(t, v)
	var b strings.Builder
	b.WriteString("File No. 26-1\n")
	for n := 0; b.Len() < 2<<20; n++ {
		fmt.Fprintf(&b, "Tract %d: tax map 12-%07d, %d Elm Street\nOwner: Ada Person %c\n", n, n, n, 'A'+n%26)
	}
	want := []string{`26-1: file number "26-1" page 1`}
	if got := suggested(t, v, uploadRead(t, v, "a.pdf", b.String())); !slices.Equal(got, want) {
		t.Errorf("SuggestAbstracts() = %q, want %q", got, want)
	}
}

// Without the index, numbers and parcels are still found. A canceled request is an error.
func TestSuggestAbstractsWithoutIndex(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	createAbstract(t, v, "26-0001", "12-34567", inCounty("Wexcombe"))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("26-0001 Poe to Quill deed.pdf", ""))[0]
	file.Filename = "26-0001 Sam Poe to Ada Quill deed.pdf"
	f.err = query.ErrDeadline
	found, err := v.Search.SuggestAbstracts(t.Context(), vaulttest.Operator, file)
	if err != nil || len(found.List) != 1 || !found.Incomplete || found.List[0].Reasons[0].Kind != search.SameFileNumber {
		t.Errorf("SuggestAbstracts() = %q, incomplete %t, %v; want 26-0001, incomplete", formatPrior(found), found.Incomplete, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Search.SuggestAbstracts(ctx, vaulttest.Operator, file); !errors.Is(err, context.Canceled) {
		t.Errorf("SuggestAbstracts of a canceled request: %v, want context.Canceled", err)
	}
}
