package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// formatTokens formats the tokens of s as words with their positions. Variants are in parentheses.
func formatTokens(s string) string {
	var b strings.Builder
	var a analyzer
	a.scan(s, func(t token) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if t.variant {
			fmt.Fprintf(&b, "(%s)%d", t.text, t.position)
		} else {
			fmt.Fprintf(&b, "%s%s%d", t.text, "@", t.position)
		}
	})
	return b.String()
}

func TestTokens(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"punctuation only", " --- . ,/ ", ""},
		{"words", "Deed of TRUST", "deed@0 of@1 trust@2"},
		{"accents", "Peña Żółć façade", "pena@0 zolc@1 facade@2"},
		{"accents in two characters", "Pen\u0303a", "pena@0"},
		{"letters that do not decompose", "Straße Łódź Ørsted Æsir", "strasse@0 lodz@1 orsted@2 aesir@3"},
		{"ligatures and full width", "ﬁrst １２３", "first@0 123@1"},
		{"superscripts are digits", "m²", "m@0 2@1 (m2)0"},
		{"half is separate from the number", "5½ acres", "5@0 1@1 2@2 acres@3"},
		{"fractions", "S½ of SW¼-3, ⅟5 ⒈", "s@0 1@1 2@2 of@3 sw@4 1@5 4@6 3@7 1@8 5@9"},
		{"letters and digits are separate words", "Bk1022-Pg311", "bk@0 (book)0 1022@1 pg@2 (page)2 311@3 (bk1022pg311)0"},
		{"numbers with hyphens", "12-3-045", "12@0 3@1 045@2 (45)2 (123045)0"},
		{"numbers with blanks", "12 3 045.", "12@0 3@1 045@2 (45)2 (123045)0"},
		{"amounts", "$1,234,567.89", "1@0 234@1 567@2 89@3 (123456789)0"},
		{"number with hyphens, then a blank", "12-3-045 0001", "12@0 3@1 045@2 (45)2 (123045)0 0001@3 (1)3"},
		{"blanks, then a hyphen", "7 12 3-045", "7@0 12@1 3@2 045@3 (45)3 (3045)2"},
		{"comma and blank separate numbers", "12, 3", "12@0 3@1"},
		{"table row", "1 2 3 4 5 6 7", "1@0 2@1 3@2 4@3 5@4 6@5 7@6"},
		{"line breaks separate numbers", "12\n3", "12@0 3@1"},
		{"phone numbers", "(985) 555-0142, (985)555.0142", "985@0 555@1 0142@2 (142)2 (9855550142)0 985@3 555@4 0142@5 (142)5 (9855550142)3"},
		{"phone number with blanks", "(985) 555 0142", "985@0 555@1 0142@2 (142)2 (9855550142)0"},
		{"other parentheses", "(12) 345-6789 (985) and 555", "12@0 345@1 6789@2 (3456789)1 985@3 and@4 555@5"},
		{"dates", "2019-03-14", "2019@0 03@1 (3)1 14@2 (20190314)0"},
		{"O'Brien", "O'Brien O’BRIEN OBrien", "obrien@0 obrien@1 obrien@2"},
		{"O Brien", "O Brien", "o@0 brien@1 (obrien)0"},
		{"okina", "Hawaiʻi OʻAHU ʻEwa", "hawaii@0 oahu@1 ewa@2"},
		{"McDonald", "McDonald Mc Donald", "mcdonald@0 mc@1 donald@2 (mcdonald)1"},
		{"initials", "J.P. Smith L.L.C., U.S.", "j@0 p@1 (jp)0 smith@2 l@3 l@4 c@5 (llc)3 u@6 s@7 (us)6"},
		{"initials before words and digits", "a.b.cd e.1 f. g", "a@0 b@1 (ab)0 cd@2 e@3 1@4 (e1)3 f@5 g@6 (fg)5"},
		{"initials with slashes", "Bo a/k/a Jo, f/b/o, h/w and/or", "bo@0 a@1 k@2 a@3 (aka)1 jo@4 f@5 b@6 o@7 (fbo)5 h@8 w@9 (hw)8 and@10 or@11"},
		{"initials with blanks", "J. P. Morganfield, J P", "j@0 p@1 (jp)0 morganfield@2 j@3 p@4"},
		{"possessive", "Smith's farm", "smith@0 (smiths)0 farm@1"},
		{"plural possessive", "Smiths' farm", "smiths@0 farm@1"},
		{"two apostrophes", "O'Brien's", "obrien@0 (obriens)0"},
		{"hyphenated name", "Smith-Jones", "smith@0 jones@1 (smithjones)0"},
		{"hyphens between words", "Winston-Salem, al-Hakim Smith-to-Jones B-Line gov-ernor",
			"winston@0 salem@1 (winstonsalem)0 al@2 hakim@3 (alhakim)2 smith@4 to@5 jones@6 b@7 line@8 gov@9 (governor)9 ernor@10"},

		{"hyphen at the end of a line", "convey-\n  ance", "convey@0 ance@1 (conveyance)0"},
		{"numbers with letters", "47-0312-B-119.04 T24.1093-A",
			"47@0 0312@1 (312)1 (470312)0 b@2 119@3 04@4 (4)4 (470312b11904)0 (11904)3 t@5 24@6 1093@7 (241093)6 a@8 (t241093a)5"},
		{"leading zeros", "007 000 0", "007@0 (7)0 000@1 (0)1 0@2 (0070000)0"},
		{"particles", "de la Croix Le Blanc", "de@0 la@1 (dela)0 croix@2 (delacroix)0 (lacroix)1 le@3 blanc@4 (leblanc)3"},
		{"particles at the end of a line", "Le\nBlanc, de \r\n la\n\nCroix Jo\nAnn",
			"le@0 blanc@1 (leblanc)0 de@2 la@3 (dela)2 croix@4 jo@5 ann@6"},
		{"van der", "van der Berg ter Horst d Angelo",
			"van@0 der@1 (vander)0 berg@2 (vanderberg)0 (derberg)1 ter@3 horst@4 (terhorst)3 d@5 angelo@6"},
		{"not particles", "lee roy of la and le x", "lee@0 roy@1 of@2 la@3 and@4 le@5 x@6"},
		{"saints", "St. Pierre-Ste. Anne", "st@0 (street)0 (saint)0 pierre@1 (stpierre)0 ste@2 (pierreste)1 (sainte)2 anne@3 (steanne)2"},
		{"and", "Smith & Jones R&R", "smith@0 and@1 jones@2 r@3 r@4"},
		{"soft hyphens", "con\u00advey", "convey@0"},
		{"control characters", "a\x00b\x1b[1mc", "a@0 b@1 1@2 mc@3 (1mc)2"},
		{"invalid UTF-8", "de\xffed \xc3", "de@0 ed@1"},
		{"Chinese", "土地契約 2019", "土@0 地@1 契@2 約@3 2019@4"},
		{"Greek and Russian", "ΟΔΌΣ Ёлка", "οδοσ@0 елка@1"},
		{"combining marks only", "\u0301\u0301", ""},
		{"file name", "02_Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf",
			"02@0 (2)0 deed@1 2019@2 03@3 (3)3 14@4 (20190314)2 " +
				"bk@5 (book)5 1022@6 pg@7 (page)7 311@8 (bk1022pg311)5 smith@9 to@10 jones@11 pdf@12"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := formatTokens(row.text); got != row.want {
				t.Errorf("tokens of %q:\n got %s\nwant %s", row.text, got, row.want)
			}
		})
	}
}

// A short word in Names may be the first part of a name.
func TestTokensOfNames(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"short word", "Jo Ann Lee", "joann@0"},
		{"three words", "Van der Berg", "vanderberg@0"},
		{"d for an apostrophe", "D Angelo", "dangelo@0"},
		{"initial", "Robert D. Smith", ""},
		{"company", "Acme Inc of Ohio", ""},
		{"initials", "J P Morgan", ""},
		{"line break", "Jo\nAnn", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			a := analyzer{joinNames: true}
			a.scan(row.text, func(k token) {
				if k.nameVariant {
					got = append(got, fmt.Sprintf("%s@%d", k.text, k.position))
				}
			})
			if !slices.Contains(got, row.want) && (row.want != "" || len(got) > 0) {
				t.Errorf("names in %q = %q, want %q", row.text, got, row.want)
			}
		})
	}
}

func TestLongWordsAreTruncated(t *testing.T) {
	for _, row := range []struct{ name, text string }{
		{"letters", strings.Repeat("a", 1000)},
		{"letters of two bytes", strings.Repeat("ж", 1000)},
		{"digits", strings.Repeat("7", 1000)},
		{"number with hyphens", strings.Repeat("7-", 1000)},
	} {
		t.Run(row.name, func(t *testing.T) {
			var a analyzer
			a.scan(row.text, func(k token) {
				if len(k.text) > maxWordBytes || strings.ToValidUTF8(string(k.text), "?") != string(k.text) {
					t.Errorf("token %q has %d bytes, want valid text of at most %d", k.text, len(k.text), maxWordBytes)
				}
			})
		})
	}
}

func TestCompactNumber(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"parcel", "12-3-045", "123045"},
		{"order", "2026-0117", "20260117"},
		{"letters count", "T-24.1093a", "t241093a"},
		{"book and page", "Bk 1022 Pg 311", "1022311"},
		{"book and page in words", "Book 1022, Page 311", "1022311"},
		{"book and page as a fraction", "1022/311", "1022311"},
		{"book and page without blanks", "Bk1022-Pg311", "1022311"},
		{"page only", "Page 311", "page311"},
		{"book only", "Book 1022", "book1022"},
		{"deed book", "Deed Book 1022 Page 311", "1022311"},
		{"liber and folio", "Liber 7 f. 12", "712"},
		{"deed book without \"page\"", "DB 1022/311", "1022311"},
		{"book, page, and a name", "Bk 1022 Pg 311 Smith", "bk1022pg311smith"},
		{"two pages", "Pg 311 Pg 312", "pg311pg312"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var parts []string
			var a analyzer
			a.scan(row.text, func(k token) {
				if !k.variant {
					parts = append(parts, string(k.text))
				}
			})
			if got := compactNumber(parts); got != row.want {
				t.Errorf("compactNumber(%q) = %q, want %q", row.text, got, row.want)
			}
		})
	}
}

// FuzzTokens checks that all tokens lie within the text, are in order, and fit into a term.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{
		"", "Deed of O'Brien's 12-3-045", "12 3-045 6", "\xff\x00é", "o o mc mac-\nx", "1 1-1 1 11-1",
		"1 1\n11", "a.a aa a.a.a", "a.s.a's.s", "1 1 11,0", "土地 Ǆ ﷺ ½", "a's's b'",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := &naiveEngine{t: t}
		n.StartDocument(1, 1, 0)
		a := analyzer{joinNames: len(s)%2 == 0}
		next := uint32(0)
		a.scan(s, func(k token) {
			n.AddWord(appendTerm(nil, nsTextWord, k.text), k.position)
			if k.start < 0 || k.end > len(s) || k.start >= k.end {
				t.Fatalf("%q: token = %d to %d, want it within %d bytes", s, k.start, k.end, len(s))
			}
			if !k.variant {
				if k.position != next {
					t.Fatalf("%q: position of %q = %d, want %d", s, k.text, k.position, next)
				}
				next++
			}
		})
	})
}

func BenchmarkAnalyze(b *testing.B) {
	text := strings.Repeat(deedText, 100)
	b.SetBytes(int64(len(text)))
	words := 0
	for b.Loop() {
		var a analyzer
		a.scan(text, func(token) { words++ })
	}
	b.ReportMetric(float64(words)/b.Elapsed().Seconds(), "words/s")
}

// deedText resembles a recorded deed.
const deedText = `THIS DEED, made this 14th day of March, 2019, by and between John A. Smith and Mary O'Brien Smith,
husband and wife, of the County of Wexcombe, Grantors, and Peter Jones, Grantee. WITNESSETH: that for and in
consideration of the sum of $245,000.00, receipt of which is hereby acknowl-
edged, the said Grantors do grant, bargain and sell all that certain lot or parcel of land, Tax Map 12-3-045, being
the same conveyed to the Grantors by deed recorded in Book 1022, Page 311, among the land records.
`

func TestMatchesNumber(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text, number string
		want         bool
	}{
		{"12-3-045", "12-3-045", true}, {"123045 ", "12-3-045", true}, {"“12 3 045”", "12.3.045", true}, {"‟12 3 045”", "12.3.045", true},
		{"１２－３－０４５", "12-3-045", true},
		{"12-3-45", "12-3-045", false}, {"012-3-045", "12-3-045", false}, {"12-3-04", "12-3-045", false}, {"parcel 12-3-045", "12-3-045", false},
		{"1022/311", "Bk 1022 Pg 311", true}, {"liber 1022 folio 311", "Book 1022, Page 311", true}, {"1022 312", "Bk 1022 Pg 311", false},
		{"a 9", "A-9", true}, {"-", "-", false}, {"", "", false},
	} {
		t.Run(row.text, func(t *testing.T) {
			if got := MatchesNumber(row.text, []string{"other", row.number}); got != row.want {
				t.Errorf("MatchesNumber(%q, %q) = %t, want %t", row.text, row.number, got, row.want)
			}
		})
	}
}
