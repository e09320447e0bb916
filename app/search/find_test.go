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

func filedAbstract(t *testing.T, v *instance.Instance, number, parcel string, at model.PropertyDraft) model.Abstract {
	t.Helper()
	draft := model.AbstractDraft{PropertyDraft: at, TaxMap: model.StringInput(parcel)}
	if number != "" {
		draft.Custom = vaulttest.CustomText("file_number", fmt.Sprintf("%q", number))
	}
	made, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	return made.Abstract
}

func elmStreet(city, county string) model.PropertyDraft {
	return model.PropertyDraft{Address: model.StringInput("12 Elm St."), City: model.StringInput(city), County: model.StringInput(county), State: model.StringInput("NY")}
}

func TestFind(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrderForProperty(t, v, "26-100", "", "12.-3-45", elmStreet("Troy", "Rensselaer"))
	vaulttest.CreateOrderForProperty(t, v, "26-1", "", "", model.PropertyDraft{})
	filedAbstract(t, v, "26-1", "12.-3-4", elmStreet("Troy", "Rensselaer"))
	filedAbstract(t, v, "", "", model.PropertyDraft{})
	for _, row := range []struct {
		text string
		want []string
		only string
	}{
		{"", nil, ""},
		{" - ", nil, ""},
		{"elm", nil, ""},
		{strings.Repeat("1", 600), nil, ""},
		{"\xff1", nil, ""},
		{" 26-100 ", []string{"order 1 order_number 26-100| exactly"}, "order 1"},
		{"26-1", []string{"order 2 order_number 26-1| exactly", "order 1 order_number 26-1|00", "abstract 1 file_number 26-1| exactly"}, ""},
		{"26", []string{"order 2 order_number 26|-1", "order 1 order_number 26|-100", "abstract 1 file_number 26|-1"}, ""},
		{"12-34", []string{"order 1 parcel 12.-3-4|5", "abstract 1 parcel 12.-3-4| exactly"}, "abstract 1"},
		{"12 elm st", []string{"order 1 address 12 Elm St|., Troy, NY exactly", "abstract 1 address 12 Elm St|., Troy, NY exactly"}, ""},
		{"12 ELM ST, TR", []string{"order 1 address 12 Elm St., Tr|oy, NY", "abstract 1 address 12 Elm St., Tr|oy, NY"}, ""},
	} {
		f, err := v.Search.Find(t.Context(), row.text, 0)
		if err != nil || !slices.Equal(vaulttest.FormatFindResult(f), row.want) {
			t.Errorf("%q: %q, %v\nwant %q", row.text, vaulttest.FormatFindResult(f), err, row.want)
		}
		only, is := f.SingleExact()
		if name := fmt.Sprintf("%s %d", only.Kind, only.ID); is != (row.only != "") || is && name != row.only {
			t.Errorf("%q: the only one is %s, %v", row.text, name, is)
		}
	}
	if f, err := v.Search.Find(t.Context(), "26", 1); err != nil || len(f.Groups) != 2 || len(f.Groups[0].Hits) != 1 || !f.Groups[0].More || f.Groups[1].More {
		t.Errorf("one of each: %+v, %v", f, err)
	}
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	if f, err := v.Search.Find(t.Context(), "26-100", 0); err != nil || len(f.Groups) != 0 {
		t.Errorf("in the trash: %+v, %v", f, err)
	}
}

func TestHeadingOfAnAbstractWithoutAny(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	made := filedAbstract(t, v, "", "", model.PropertyDraft{})
	other := filedAbstract(t, v, "26-1", "", model.PropertyDraft{})
	headings, err := v.Abstracts.Headings(t.Context(), made, other)
	if want := []string{"Abstract " + v.Secrets.IDs("abstracts").Encode(made.ID), "26-1"}; err != nil || !slices.Equal(headings, want) {
		t.Fatalf("%q, %v, want %q", headings, err, want)
	}
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, made.ID, vault.Match{}))
	vaulttest.WantTrash(t, v, "abstract 1 "+headings[0])
}

func TestRelated(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	first := vaulttest.CreateOrderForProperty(t, v, "26-1", "", "12.-3-4", elmStreet("Troy", "Rensselaer"))
	vaulttest.CreateOrderForProperty(t, v, "26-2", "", "12-34", model.PropertyDraft{})       // the same parcel
	vaulttest.CreateOrderForProperty(t, v, "26-3", "", "12-34", elmStreet("Troy", "Albany")) // another county
	vaulttest.CreateOrderForProperty(t, v, "26-4", "", "12-345", model.PropertyDraft{})      // it only begins so
	vaulttest.CreateOrderForProperty(t, v, "12-34", "", "", model.PropertyDraft{})           // that is its number
	vaulttest.CreateOrderForProperty(t, v, "26-6", "", "", elmStreet("Utica", ""))           // another city
	parcel := filedAbstract(t, v, "26-7", "1234", model.PropertyDraft{})                     // the same parcel
	filedAbstract(t, v, "26-8", "9", elmStreet("TROY", "Rensselaer"))                        // the same address
	filedAbstract(t, v, "26-9", "9", model.PropertyDraft{})                                  // nothing in common
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, vaulttest.CreateOrderForProperty(t, v, "26-0", "", "12-34", model.PropertyDraft{}).ID, vault.Match{}))
	f, err := v.Search.RelatedToOrder(t.Context(), first)
	want := []string{"order 2 parcel |12-34 exactly", "abstract 2 address |12 Elm St., TROY, NY exactly", "abstract 1 parcel |1234 exactly"}
	if err != nil || !slices.Equal(vaulttest.FormatFindResult(f), want) {
		t.Errorf("%q, %v\nwant %q", vaulttest.FormatFindResult(f), err, want)
	}
	filedAbstract(t, v, "27-1", "12.34", elmStreet("Troy", "Albany")) // another county
	filedAbstract(t, v, "27-2", "12.34", elmStreet("", "ALBANY"))
	f, err = v.Search.RelatedToAbstract(t.Context(), parcel)
	want = []string{"order 3 parcel |12-34 exactly", "order 2 parcel |12-34 exactly", "order 1 parcel |12.-3-4 exactly", "abstract 5 parcel |12.34 exactly", "abstract 4 parcel |12.34 exactly"}
	if err != nil || !slices.Equal(vaulttest.FormatFindResult(f), want) {
		t.Errorf("of an abstract that names no county: %q, %v\nwant %q", vaulttest.FormatFindResult(f), err, want)
	}
	if f.ByKind("abstract")[0].Documents != 0 || f.ByKind("abstract")[0].CreatedAt.IsZero() || f.ByKind("folder") != nil {
		t.Errorf("%+v", f)
	}
	parcel.County = "Rensselaer"
	f, err = v.Search.RelatedToAbstract(t.Context(), parcel)
	want = []string{"order 2 parcel |12-34 exactly", "order 1 parcel |12.-3-4 exactly"}
	if err != nil || !slices.Equal(vaulttest.FormatFindResult(f), want) {
		t.Errorf("of an abstract of a county: %q, %v\nwant %q", vaulttest.FormatFindResult(f), err, want)
	}
	if f, err := v.Search.RelatedToAbstract(t.Context(), model.Abstract{ID: 99}); err != nil || len(f.Groups) != 0 {
		t.Errorf("of nothing: %+v, %v", f, err)
	}
}

func TestSameNumber(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	first := vaulttest.CreateOrderForProperty(t, v, "A-1", "", "", model.PropertyDraft{})
	if list, more, err := v.Search.SameNumber(t.Context(), first); err != nil || more || len(list) != 0 {
		t.Errorf("alone: %v, %v, %v", list, more, err)
	}
	vaulttest.CreateOrderForProperty(t, v, "a-1", "", "", model.PropertyDraft{})
	vaulttest.CreateOrderForProperty(t, v, "A-10", "", "", model.PropertyDraft{})
	if list, more, err := v.Search.SameNumber(t.Context(), first); err != nil || more || len(list) != 1 || list[0].ID != 2 {
		t.Errorf("two: %v, %v, %v", list, more, err)
	}
	for range vault.MaxFound {
		vaulttest.CreateOrderForProperty(t, v, "A-1", "", "", model.PropertyDraft{})
	}
	if list, more, err := v.Search.SameNumber(t.Context(), first); err != nil || !more || len(list) != vault.MaxFound {
		t.Errorf("many: %d, %v, %v", len(list), more, err)
	}
}
