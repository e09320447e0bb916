package documents

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestSafeName(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ name, want string }{
		{"02_Deed_2019-03-14_Bk1022-Pg311.pdf", "02_Deed_2019-03-14_Bk1022-Pg311.pdf"},
		{`..\..\evil.pdf`, `.._.._evil.pdf`},
		{"../../etc/passwd", ".._.._etc_passwd"},
		{"a/b:c*d?e\"f<g>h|i.pdf", "a_b_c_d_e_f_g_h_i.pdf"},
		{"con.pdf", "_con.pdf"},
		{"LPT1", "_LPT1"},
		{"COMB.pdf", "COMB.pdf"},
		{"COM¹.txt", "_COM¹.txt"},
		{"lpt³", "_lpt³"},
		{"conin$.pdf", "_conin$.pdf"},
		{" Deed . ", "Deed"},
		{"..", "unnamed"},
		{"", "unnamed"},
		{"a\x00\nb\u202Egpj.exe.pdf", "abgpj.exe.pdf"},
		{"bad\xff.pdf", "bad.pdf"},
		{long + ".tiff", strings.Repeat("é", 87) + ".tiff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := safeName(c.name); got != c.want {
				t.Errorf("safeName(%q) = %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func TestZipNames(t *testing.T) {
	entry := func(name string, folder ...string) vault.Descendant {
		return vault.Descendant{Path: folder, File: model.File{Filename: name}}
	}
	for _, c := range []struct {
		name string
		list []vault.Descendant
		want []string
	}{
		{"in order", []vault.Descendant{entry("01 a.pdf"), entry("02 b.pdf")}, []string{"01 a.pdf", "02 b.pdf"}},
		{"out of order", []vault.Descendant{entry("b.pdf"), entry("a.pdf")}, []string{"01 b.pdf", "02 a.pdf"}},
		{"duplicates", []vault.Descendant{entry("a.pdf"), entry("A.pdf"), entry("a.pdf")}, []string{"a.pdf", "A (2).pdf", "a (3).pdf"}},
		{"name of a renamed duplicate", []vault.Descendant{entry("a (2).pdf"), entry("a.pdf"), entry("a.pdf")},
			[]string{"a (2).pdf", "a.pdf", "a (3).pdf"}},
		{"folders", []vault.Descendant{entry("z.pdf", "Deeds"), entry("a.pdf", "Plats", "..")}, []string{"Deeds/z.pdf", "Plats/unnamed/a.pdf"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := zipNames(c.list); !slices.Equal(got, c.want) {
				t.Errorf("zipNames() = %q, want %q", got, c.want)
			}
		})
	}
}

// A folder and a document in the same ZIP file can't have the same name.
func TestZipNamesBesideFolders(t *testing.T) {
	list := []vault.Descendant{
		{File: model.File{Filename: "deeds.pdf"}},
		{Path: []string{"Deeds.PDF", "Old"}, File: model.File{Filename: "a.pdf"}},
		{Path: []string{"Deeds.PDF"}, File: model.File{Filename: "old"}},
	}
	want := []string{"01 deeds.pdf", "Deeds.PDF/Old/a.pdf", "Deeds.PDF/old (2)"}
	if got := zipNames(list); !slices.Equal(got, want) {
		t.Errorf("zipNames() = %q, want %q", got, want)
	}
	want = []string{"deeds (2).pdf", "Deeds.PDF/Old/a.pdf"}
	if got := zipNames(list[:2]); !slices.Equal(got, want) {
		t.Errorf("zipNames() = %q, want %q", got, want)
	}
}

// The run time must grow linearly with the number of equal names.
func TestZipNamesOfManyDuplicates(t *testing.T) {
	list := make([]vault.Descendant, maxZipDocuments)
	for i := range list {
		list[i].File.Filename = "Deed.pdf"
	}
	began := time.Now()
	names := zipNames(list)
	if took := time.Since(began); took > time.Minute { // a hang, also on a busy machine
		t.Errorf("zipNames of %d documents took %s, want at most a minute", len(list), took)
	}
	if last := names[len(names)-1]; last != "Deed (20000).pdf" {
		t.Errorf("last name = %q, want %q", last, "Deed (20000).pdf")
	}
}
