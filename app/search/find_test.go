package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// createAbstract creates an abstract without documents.
func createAbstract(t *testing.T, v *instance.Instance, number, parcel string, at model.Inputs) model.Abstract {
	t.Helper()
	draft := model.AbstractDraft{Fields: vaulttest.MergeInputs(at, model.Inputs{"tax_map": model.StringInput(parcel)})}
	if number != "" {
		draft.Custom = vaulttest.CustomText("file_number", fmt.Sprintf("%q", number))
	}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	return created.Abstract
}

// elmStreet returns a property in a city and county. The street address is always the same.
func elmStreet(city, county string) model.Inputs {
	return model.Inputs{"address": model.StringInput("12 Elm St."), "city": model.StringInput(city),
		"county": model.StringInput(county), "state": model.StringInput("NY")}
}

func TestFind(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrderForProperty(t, v, "26-100", "", "12.-3-45", elmStreet("Troy", "Rensselaer"))
	vaulttest.CreateOrderForProperty(t, v, "26-1", "", "", model.Inputs{})
	createAbstract(t, v, "26-1", "12.-3-4", elmStreet("Troy", "Rensselaer"))
	createAbstract(t, v, "", "", model.Inputs{})
	for _, row := range []struct {
		text   string
		want   []string
		single string // the only exact hit; "" if there are none or several
	}{
		{"", nil, ""},
		{" - ", nil, ""},
		{"elm", nil, ""},
		{strings.Repeat("1", 600), nil, ""},
		{"\xff1", nil, ""},
		{" 26-100 ", []string{"order 1 order_number 26-100 exactly"}, "order 1"},
		{"26-1", []string{"order 2 order_number 26-1 exactly", "order 1 order_number 26-100", "abstract 1 file_number 26-1 exactly"}, ""},
		{"26", []string{"order 2 order_number 26-1", "order 1 order_number 26-100", "abstract 1 file_number 26-1"}, ""},
		{"12-34", []string{"order 1 parcel 12.-3-45", "abstract 1 parcel 12.-3-4 exactly"}, "abstract 1"},
		{"12 elm st", []string{"order 1 address 12 Elm St., Troy, NY exactly", "abstract 1 address 12 Elm St., Troy, NY exactly"}, ""},
		{"12 ELM ST, TR", []string{"order 1 address 12 Elm St., Troy, NY", "abstract 1 address 12 Elm St., Troy, NY"}, ""},
	} {
		t.Run(fmt.Sprintf("%.20q", row.text), func(t *testing.T) {
			f, err := v.Search.Find(t.Context(), row.text, 0)
			if got := vaulttest.FormatFound(f); err != nil || !slices.Equal(got, row.want) {
				t.Errorf("Find(%q) = %q, %v; want %q", row.text, got, err, row.want)
			}
			hit, ok := f.SingleExact()
			if got := fmt.Sprintf("%s %d", hit.Kind, hit.ID); ok != (row.single != "") || ok && got != row.single {
				t.Errorf("SingleExact() = %s, %v; want %q", got, ok, row.single)
			}
		})
	}
	if f, err := v.Search.Find(t.Context(), "26", 1); err != nil || len(f) != 2 || len(f[0].Hits) != 1 ||
		!f[0].More || f[1].More {
		t.Errorf("Find(26) with limit 1 = %+v, %v; want two groups with More in the first", f, err)
	}
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	if f, err := v.Search.Find(t.Context(), "26-100", 0); err != nil || len(f) != 0 {
		t.Errorf("Find(26-100) in the trash = %+v, %v; want no groups", f, err)
	}
}

// The heading of an abstract without a file number or property is its public ID.
func TestHeadingOfEmptyAbstract(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	empty := createAbstract(t, v, "", "", model.Inputs{})
	other := createAbstract(t, v, "26-1", "", model.Inputs{})
	headings, err := v.Abstracts.Headings(t.Context(), empty, other)
	if want := []string{"Abstract " + v.Secrets.IDs("abstracts").Encode(empty.ID), "26-1"}; err != nil || !slices.Equal(headings, want) {
		t.Fatalf("Headings() = %q, %v; want %q", headings, err, want)
	}
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, empty.ID, vault.Match{}))
	vaulttest.WantTrash(t, v, "abstract 1 "+headings[0])
}

func TestRelated(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	first := vaulttest.CreateOrderForProperty(t, v, "26-1", "", "12.-3-4", elmStreet("Troy", "Rensselaer"))
	vaulttest.CreateOrderForProperty(t, v, "26-2", "", "12-34", model.Inputs{})              // same parcel
	vaulttest.CreateOrderForProperty(t, v, "26-3", "", "12-34", elmStreet("Troy", "Albany")) // another county
	vaulttest.CreateOrderForProperty(t, v, "26-4", "", "12-345", model.Inputs{})             // same prefix only
	vaulttest.CreateOrderForProperty(t, v, "12-34", "", "",
		model.Inputs{}) // same value as order number
	vaulttest.CreateOrderForProperty(t, v, "26-6", "", "", elmStreet("Utica", "")) // another city
	parcel := createAbstract(t, v, "26-7", "1234", model.Inputs{})                 // same parcel
	createAbstract(t, v, "26-8", "9", elmStreet("TROY", "Rensselaer"))             // same address
	createAbstract(t, v, "26-9", "9", model.Inputs{})                              // nothing in common
	trashed := vaulttest.CreateOrderForProperty(t, v, "26-0", "", "12-34", model.Inputs{})
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	f, err := v.Search.RelatedToOrder(t.Context(), first)
	want := []string{"order 2 parcel 12-34 exactly", "abstract 2 address 12 Elm St., TROY, NY exactly", "abstract 1 parcel 1234 exactly"}
	if err != nil || !slices.Equal(vaulttest.FormatFound(f), want) {
		t.Errorf("RelatedToOrder() = %q, %v; want %q", vaulttest.FormatFound(f), err, want)
	}
	createAbstract(t, v, "27-1", "12.34", elmStreet("Troy", "Albany")) // another county
	createAbstract(t, v, "27-2", "12.34", elmStreet("", "ALBANY"))
	f, err = v.Search.RelatedToAbstract(t.Context(), parcel)
	want = []string{"order 3 parcel 12-34 exactly", "order 2 parcel 12-34 exactly", "order 1 parcel 12.-3-4 exactly",
		"abstract 5 parcel 12.34 exactly", "abstract 4 parcel 12.34 exactly"}
	if err != nil || !slices.Equal(vaulttest.FormatFound(f), want) {
		t.Errorf("RelatedToAbstract() without a county = %q, %v; want %q", vaulttest.FormatFound(f), err, want)
	}
	if f.ByKind("abstract").Hits[0].Documents != 0 || f.ByKind("abstract").Hits[0].CreatedAt.IsZero() || f.ByKind("folder").Hits != nil {
		t.Errorf("result = %+v, want a creation time but no documents of the abstract, and no folders", f)
	}
	parcel.County = "Rensselaer"
	f, err = v.Search.RelatedToAbstract(t.Context(), parcel)
	want = []string{"order 2 parcel 12-34 exactly", "order 1 parcel 12.-3-4 exactly"}
	if err != nil || !slices.Equal(vaulttest.FormatFound(f), want) {
		t.Errorf("RelatedToAbstract() with a county = %q, %v; want %q", vaulttest.FormatFound(f), err, want)
	}
	if f, err := v.Search.RelatedToAbstract(t.Context(), model.Abstract{ID: 99}); err != nil || len(f) != 0 {
		t.Errorf("RelatedToAbstract() without values = %+v, %v; want no groups", f, err)
	}
}

// A county is the same with or without the word County, and a state by its name or its abbreviation.
func TestRelatedFoldsCountyAndState(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	in := func(county, state string) model.Inputs {
		return model.Inputs{"county": model.StringInput(county), "state": model.StringInput(state)}
	}
	subject := vaulttest.CreateOrderForProperty(t, v, "26-1", "", "12-34", in("Wexcombe", "NY"))
	vaulttest.CreateOrderForProperty(t, v, "26-2", "", "12-34", in("Wexcombe County", "New York"))
	vaulttest.CreateOrderForProperty(t, v, "26-3", "", "12-34", in("County of Wexcombe", "ny"))
	vaulttest.CreateOrderForProperty(t, v, "26-4", "", "12-34", in("Wexcombe County", "New Jersey"))
	f, err := v.Search.RelatedToOrder(t.Context(), subject)
	want := []string{"order 3 parcel 12-34 exactly", "order 2 parcel 12-34 exactly"}
	if err != nil || !slices.Equal(vaulttest.FormatFound(f), want) {
		t.Errorf("RelatedToOrder() = %q, %v; want %q", vaulttest.FormatFound(f), err, want)
	}
}

func TestSameNumber(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	first := vaulttest.CreateOrderForProperty(t, v, "A-1", "", "", model.Inputs{})
	if list, more, err := v.Search.SameNumber(t.Context(), first); err != nil || more || len(list) != 0 {
		t.Errorf("SameNumber() of a unique number = %v, %v, %v; want none", list, more, err)
	}
	vaulttest.CreateOrderForProperty(t, v, "a-1", "", "", model.Inputs{})
	vaulttest.CreateOrderForProperty(t, v, "A-10", "", "", model.Inputs{})
	if list, more, err := v.Search.SameNumber(t.Context(), first); err != nil || more || len(list) != 1 || list[0].ID != 2 {
		t.Errorf("SameNumber() = %v, %v, %v; want order 2", list, more, err)
	}
	for range vault.MaxFound {
		vaulttest.CreateOrderForProperty(t, v, "A-1", "", "", model.Inputs{})
	}
	if list, more, err := v.Search.SameNumber(t.Context(), first); err != nil || !more || len(list) != vault.MaxFound {
		t.Errorf("SameNumber() = %d orders, more %v, %v; want %d, true", len(list), more, err, vault.MaxFound)
	}
}
