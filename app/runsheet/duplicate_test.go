package runsheet

import (
	"fmt"
	"testing"

	"deedkeep/app/model"
)

// duplicatesOf returns the index of a runsheet.
func duplicatesOf(types model.DocumentTypes, list ...model.Instrument) *Duplicates {
	byID := map[uint64]model.Instrument{}
	d := NewDuplicates(types, func(id uint64) (model.Instrument, bool) {
		i, found := byID[id]
		return i, found
	})
	for n := range list {
		list[n].ID = uint64(n + 1)
		byID[list[n].ID] = list[n]
		d.Add(list[n].RunsheetKey())
	}
	return d
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	types := model.NewDocumentTypes()
	typeID := func(name string) uint64 {
		kind, found := types.ByName(name)
		if !found {
			t.Fatalf("no document type %q", name)
		}
		return kind.ID
	}
	at := func(bookType, book, page string) model.Instrument {
		return model.Instrument{BookType: bookType, Book: book, Page: page}
	}
	typed := func(name string, i model.Instrument) model.Instrument { i.TypeID = typeID(name); return i }
	inCounty := func(county string, i model.Instrument) model.Instrument { i.County = county; return i }
	number := func(text, recorded string) model.Instrument {
		return model.Instrument{Number: text, Recorded: recorded}
	}
	deed := func(dated, grantor, grantee string) model.Instrument {
		return model.Instrument{TypeID: typeID("Warranty Deed"), Dated: dated, Grantors: []string{grantor}, Grantees: []string{grantee}}
	}
	with := func(i model.Instrument, change func(*model.Instrument)) model.Instrument { change(&i); return i }
	mortgage := func(amount string) model.Instrument {
		return with(typed("Mortgage", deed("2001-05-02", "Bea Cole", "First Bank")), func(i *model.Instrument) {
			i.TypeID, i.Consideration = typeID("Mortgage"), amount
		})
	}
	release := func(number, page string, of uint64) model.Instrument {
		i := model.Instrument{TypeID: typeID("Release or Satisfaction"), Recorded: "2001-05-02", Number: number, Page: page}
		if page != "" {
			i.Book = "1"
		}
		if of != 0 {
			i.Relations = []model.Relation{{Kind: model.Releases, InstrumentID: of}}
		}
		return i
	}
	for _, row := range []struct {
		name string
		a, b model.Instrument
		want string // "", "same", or "possible"
	}{
		{"nothing in common", at("Deed Book", "1", "2"), at("Deed Book", "1", "3"), ""},
		{"blank rows", model.Instrument{}, model.Instrument{}, ""},

		{"the same number", number("2019-0417", ""), number("20190417", "2019-04-17"), "same"},
		{"a number with a label", number("Inst. No. 0088123", ""), number("88123", ""), "same"},
		{"a number of another year", number("117", "2018-03-01"), number("117", "2019-03-01"), ""},
		{"a number of the same year", number("117", "2019-02-01"), number("117", "2019-03-01"), "same"},
		{"a number without digits", number("n/a", ""), number("N/A", ""), ""},
		{"a number of another county", inCounty("Wexcombe", number("117", "")), inCounty("Dunmore County", number("117", "")), ""},
		{"a number of the same county", inCounty("Wexcombe", number("117", "")), inCounty("wexcombe county", number("117", "")), "same"},
		{"the same number in another book", with(number("117", ""), func(i *model.Instrument) { i.Book, i.Page = "1", "2" }),
			with(number("117", ""), func(i *model.Instrument) { i.Book, i.Page = "1", "3" }), "possible"},

		{"leading zeros", at("Deed Book", "3433", "481"), at("Deed Book", "03433", "0481"), "same"},
		{"an abbreviated book type", at("DB", "3433", "481"), at("Deed Book", "3433", "0481"), "same"},
		{"no book type", at("", "3433", "0481"), at("Deed Book", "3433", "481"), "same"},
		{"a liber is a book", at("Liber", "3433", "481"), at("Deeds", "3433", "481"), "same"},
		{"book and page with their words", at("", "DB 3433", "p. 481"), at("Deed Book", "3433", "481"), "same"},
		{"a range of pages", at("DB", "3433", "481-492"), at("DB", "3433", "481"), "same"},
		{"official records", at("O.R.", "3433", "481"), at("Official Records Book", "3433", "481"), "same"},
		{"another book type", at("Mortgage Book", "3433", "481"), at("Deed Book", "3433", "481"), ""},
		{"a book of deeds of trust", at("Trust Deed Book", "3433", "481"), at("Deed Book", "3433", "481"), ""},
		{"the same uncommon book type", at("Lien Bk.", "3433", "481"), at("lien book", "3433", "481"), "same"},
		{"a letter in the page", at("DB", "3433", "481A"), at("DB", "3433", "481"), ""},
		{"a book alone", at("DB", "3433", ""), at("DB", "3433", ""), ""},
		{"similar types", typed("Warranty Deed", at("DB", "3433", "481")), typed("Quitclaim Deed", at("DB", "3433", "481")), "same"},
		{"a deed and a mortgage on one page", typed("Warranty Deed", at("", "1", "2")), typed("Mortgage", at("", "1", "2")), "possible"},
		{"a mortgage and its assignment on one page", typed("Mortgage", at("", "1", "2")), typed("Assignment", at("", "1", "2")),
			"possible"},
		{"a type on one side", typed("Mortgage", at("", "1", "2")), at("", "1", "2"), "same"},
		{"two numbers on one page", with(at("", "1", "2"), func(i *model.Instrument) { i.Number = "7" }),
			with(at("", "1", "2"), func(i *model.Instrument) { i.Number = "8" }), "possible"},

		{"type, date, and parties", deed("2001-05-02", "Bea Cole", "Carl Diaz"), deed("2001-05-02", "COLE, BEA", "Carl  Diaz"), "same"},
		{"the date of recording", with(deed("", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.Recorded = "2001-05-03" }),
			with(deed("2001-05-02", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.Recorded = "2001-05-03" }), "same"},
		{"another date", deed("2001-05-02", "Bea Cole", "Carl Diaz"), deed("2001-05-03", "Bea Cole", "Carl Diaz"), ""},
		{"no date", deed("", "Bea Cole", "Carl Diaz"), deed("", "Bea Cole", "Carl Diaz"), ""},
		{"one date recorded, another dated", deed("2001-05-02", "Bea Cole", "Carl Diaz"),
			with(deed("", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.Recorded = "2001-05-02" }), ""},
		{"another grantee", deed("2001-05-02", "Bea Cole", "Carl Diaz"), deed("2001-05-02", "Bea Cole", "Dora Finch"), ""},
		{"one more grantee", deed("2001-05-02", "Bea Cole", "Carl Diaz"),
			with(deed("2001-05-02", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.Grantees = append(i.Grantees, "D. F.") }), ""},
		{"no parties", release("", "", 0), release("", "", 0), "possible"},
		{"no parties, and a place on one side", release("", "", 0), release("", "7", 3), "possible"},
		{"no parties, and the same page", release("", "7", 0), release("", "7", 0), "same"},
		{"no parties, and another page", release("", "6", 0), release("", "7", 0), ""},
		{"no parties, and another number", release("5", "", 0), release("6", "", 0), ""},
		{"no parties, and a release of another mortgage", release("", "", 3), release("", "", 4), ""},
		{"parties on one side", release("", "", 0),
			with(release("", "", 0), func(i *model.Instrument) { i.Grantees = []string{"Bea Cole"} }), ""},
		{"no type", with(deed("2001-05-02", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.TypeID = 0 }),
			with(deed("2001-05-02", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.TypeID = 0 }), ""},
		{"two mortgages on one day", mortgage("1000.00"), mortgage("2000.00"), "possible"},
		{"two deeds on one day", with(deed("2001-05-02", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.Number = "7" }),
			with(deed("2001-05-02", "Bea Cole", "Carl Diaz"), func(i *model.Instrument) { i.Number = "8" }), "possible"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, pair := range [][2]model.Instrument{{row.a, row.b}, {row.b, row.a}} {
				got := ""
				found := duplicatesOf(types, pair[0]).Of(pair[1])
				if like := likeOf(types, pair[1], pair[0]); like != found {
					t.Errorf("%+v and %+v: got %+v after AddLike, want %+v", pair[0], pair[1], like, found)
				}
				switch {
				case found.ID == 1 && found.Possible:
					got = "possible"
				case found.ID == 1:
					got = "same"
				}
				if got != row.want {
					t.Errorf("%+v and %+v are %q, want %q", pair[0], pair[1], got, row.want)
				}
			}
		})
	}
}

// likeOf returns the first instrument of a runsheet that i repeats, found without an index of all.
func likeOf(types model.DocumentTypes, i model.Instrument, list ...model.Instrument) Duplicate {
	d := duplicatesOf(types, list...)
	d.byKey = map[string][]uint64{}
	var keys []model.RunsheetKey
	for _, other := range list {
		keys = append(keys, other.RunsheetKey())
	}
	d.AddLike(i, keys)
	return d.Of(i)
}

// A certain duplicate comes before a possible one, and an instrument isn't its own duplicate.
func TestFirstDuplicate(t *testing.T) {
	t.Parallel()
	types := model.NewDocumentTypes()
	one := model.Instrument{Book: "1", Page: "2", Number: "7"}
	same := model.Instrument{Book: "1", Page: "02", Number: "8"}
	d := duplicatesOf(types, one, same, same)
	if got := d.Of(model.Instrument{Book: "1", Page: "2", Number: "8"}); got != (Duplicate{ID: 2}) {
		t.Errorf("Of = %+v, want the first one with this number", got)
	}
	own := same
	own.ID = 2
	if got := d.Of(own); got != (Duplicate{ID: 3}) {
		t.Errorf("Of an instrument on the runsheet = %+v, want the other one", got)
	}
}

// The duplicates of a long runsheet are found through an index.
func TestDuplicatesOfManyRows(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	list := make([]model.Instrument, rows)
	for n := range list {
		list[n] = model.Instrument{Book: "7", Page: "7", Number: fmt.Sprint(n + 1), Dated: "2001-05-02", Recorded: "2001-05-03"}
	}
	d := duplicatesOf(model.NewDocumentTypes(), list...)
	for n := range list {
		i := list[n]
		i.ID, i.Page = 0, "8"
		if got := d.Of(i); got.ID != uint64(n+1) {
			t.Fatalf("row %d: duplicate %+v", n, got)
		}
	}
}
