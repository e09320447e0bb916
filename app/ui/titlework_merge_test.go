package ui_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// namesForm is the form of a names run as a browser has it.
type namesForm struct{ url.Values }

var (
	formInput = regexp.MustCompile(`<input type="hidden" name="(base|was|had)"\s+value="([^"]*)"`)
	indexBox  = regexp.MustCompile(`<input type="checkbox" name="(indexes-[0-9]+)" value="([^"]*)" checked>`)
	nameInput = regexp.MustCompile(`<input\s+name="(name|from|to|indexes)"[^>]* value="([^"]*)"`)
	resultBox = regexp.MustCompile(`(?s)<textarea name="result"[^>]*>\n(.*?)</textarea>`)
)

func readNamesForm(text string) namesForm {
	form := url.Values{}
	for _, pattern := range []*regexp.Regexp{formInput, nameInput, indexBox} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			form.Add(m[1], m[2])
		}
	}
	for _, m := range resultBox.FindAllStringSubmatch(text, -1) {
		form.Add("result", m[1])
	}
	return namesForm{form}
}

// with returns the form with another value in a row, counted from 0.
func (f namesForm) with(field string, row int, value string) namesForm {
	f.Values[field][row] = value
	return f
}

// without returns the form without a row.
func (f namesForm) without(row int) namesForm {
	for _, field := range []string{"was", "had", "name", "from", "to", "indexes", "result"} {
		f.Values[field] = append(f.Values[field][:row:row], f.Values[field][row+1:]...)
	}
	return f
}

// Two people edit the names run at the same time: what each of them did is kept, and no row replaces another.
func TestNamesRunMergesByRow(t *testing.T) {
	t.Parallel()
	const changed = "Someone else changed or removed this row while you were editing it."
	for name, row := range map[string]struct {
		hers, mine func(namesForm) namesForm
		status     int
		want       string
	}{
		"other rows": {func(f namesForm) namesForm { return f.with("result", 0, "clear") },
			func(f namesForm) namesForm { return f.with("result", 2, "2 judgments") }, 303, "Ann clear, Bo , Cy 2 judgments"},
		"both add": {func(f namesForm) namesForm { return f.with("name", 3, "Dee") },
			func(f namesForm) namesForm { return f.with("name", 3, "Eve") }, 303, "Ann , Bo , Cy , Dee , Eve "},
		"she removes, I change another": {func(f namesForm) namesForm { return f.without(1) },
			func(f namesForm) namesForm { return f.with("result", 0, "clear") }, 303, "Ann clear, Cy "},
		"she changes, I remove another": {func(f namesForm) namesForm { return f.with("result", 1, "clear") },
			func(f namesForm) namesForm { return f.without(0) }, 303, "Bo clear, Cy "},
		"both change a row": {func(f namesForm) namesForm { return f.with("result", 1, "clear") },
			func(f namesForm) namesForm { return f.with("result", 1, "1 lien") }, 412, "Ann , Bo clear, Cy "},
		"she removes what I change": {func(f namesForm) namesForm { return f.without(1) },
			func(f namesForm) namesForm { return f.with("result", 1, "1 lien") }, 412, "Ann , Cy "},
		"both remove a row": {func(f namesForm) namesForm { return f.without(1) },
			func(f namesForm) namesForm { return f.without(1) }, 303, "Ann , Cy "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newTestServer(t)
			kim, lee := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleAdmin)
			path, abstract := h.createAbstract(t, vaulttest.Operator, nil, model.Property{})
			section := path + "/names-run"
			kim.post(t, 303, section, url.Values{"name": {"Ann", "Bo", "Cy"}})
			form := func(b *browser) namesForm { return readNamesForm(string(b.get(t, 200, section+"?edit=1").body)) }
			mine, hers := form(kim), form(lee)
			if len(mine.Values["was"]) != 4 || len(mine.Values["base"]) != 4 {
				t.Fatalf("the form has %v", mine)
			}
			lee.post(t, 303, section, row.hers(hers).Values)
			answer := kim.post(t, row.status, section, row.mine(mine).Values)
			stored := func() string {
				work, err := h.vault.TitleWork.Get(t.Context(), abstract.Abstract.ID)
				if err != nil {
					t.Fatalf("TitleWork.Get: %v", err)
				}
				var list []string
				for _, run := range work.NamesRun {
					list = append(list, run.Name+" "+run.Result)
				}
				return strings.Join(list, ", ")
			}
			if got := stored(); got != row.want {
				t.Errorf("the names run is %q, want %q", got, row.want)
			}
			if row.status == 303 {
				return
			}
			answer.has(t, changed, "1 lien")
			again := readNamesForm(string(answer.body)) // with both versions of the row
			kim.post(t, 303, section, again.Values)
			if got := stored(); !strings.Contains(got, "Bo 1 lien") || strings.Contains(row.want, "clear") != strings.Contains(got, "Bo clear") {
				t.Errorf("after both versions were saved, the names run is %q", got)
			}
		})
	}
}

// The form adds the names of the chain that aren't listed, with the period in which they owned the property.
func TestNamesFromChain(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, abstract := h.createAbstract(t, vaulttest.Operator, nil, model.Property{})
	for _, deed := range []string{`"grantors":["Farmer, Al"],"grantees":["Lee, Ann"],"recorded":"1990-05-01"`,
		`"grantors":["Lee, Ann"],"grantees":["Roe, Bo"],"recorded":"1998-03-09"`} {
		h.createInstrument(t, abstract.Abstract.ID, `{"type":"Warranty Deed",`+deed+`}`)
	}
	section := path + "/names-run"
	form := readNamesForm(string(kim.get(t, 200, section+"?edit=1").body))
	form.with("name", 0, "Farmer, Al").with("indexes", 0, "Deeds").Set("do", "fill")
	filled := readNamesForm(string(kim.post(t, 200, section, form.Values).body))
	if got := strings.Join(filled.Values["name"], "|"); got != "Farmer, Al|Lee, Ann|Roe, Bo" {
		t.Errorf("names = %s", got)
	}
	if got := strings.Join(append(filled.Values["from"], filled.Values["to"]...), "|"); got != "|May 1, 1990|Mar 9, 1998||Mar 9, 1998|" {
		t.Errorf("periods = %s", got)
	}
	for _, row := range []string{"indexes-1", "indexes-2", "indexes-3"} {
		if got := strings.Join(filled.Values[row], "|"); got != "Deeds" {
			t.Errorf("%s = %s, want Deeds", row, got)
		}
	}
	kim.post(t, 303, section, filled.Values)
	kim.get(t, 200, path).has(t, "May 1, 1990 to Mar 9, 1998", "names run 3 of 3")
}

// The form offers the indexes of the template, and those of the rows, as check boxes. A row that isn't changed keeps the
// spelling and sequence of its indexes.
func TestIndexCheckBoxes(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, abstract := h.createAbstract(t, vaulttest.Operator, nil, model.Property{})
	section := path + "/names-run"
	stored := func() string {
		t.Helper()
		work, err := h.vault.TitleWork.Get(t.Context(), abstract.Abstract.ID)
		if err != nil {
			t.Fatalf("TitleWork.Get: %v", err)
		}
		var list []string
		for _, run := range work.NamesRun {
			list = append(list, run.Name+": "+strings.Join(run.Indexes, "; "))
		}
		return strings.Join(list, " | ")
	}
	var rows []model.Input
	for _, name := range []string{"Ann", "Bo", "Cy"} {
		run := model.Inputs{"name": model.StringInput(name)}
		if name == "Ann" {
			run["indexes"] = model.StringsInput([]string{"ucc", "Dockets, City", "Judgments"})
		}
		rows = append(rows, model.ObjectInput(run))
	}
	if _, err := h.vault.TitleWork.SetNamesRun(t.Context(), vaulttest.Operator, abstract.Abstract.ID, model.ListInput(rows...),
		vault.Match{}); err != nil {
		t.Fatalf("SetNamesRun: %v", err)
	}
	read := func() (string, namesForm) {
		text := string(kim.get(t, 200, section+"?edit=1").body)
		return text, readNamesForm(text)
	}
	text, form := read()
	for _, box := range []string{`name="indexes-1" value="UCC" checked>`, `name="indexes-2" value="UCC">`,
		`name="indexes-2" value="Grantor/Grantee">`,
		`name="indexes-1" value="Dockets, City" checked>`, `name="indexes-2" value="Dockets, City">`, `name="indexes-4" value="Judgments">`,
		`data-chosen>ucc, Dockets, City, Judgments</span>`, `data-chosen>None</span>`} {
		if !strings.Contains(text, box) {
			t.Errorf("the form lacks %s", box)
		}
	}
	kim.post(t, 303, section, form.with("result", 1, "clear").Values)
	if got := stored(); got != "Ann: ucc; Dockets, City; Judgments | Bo:  | Cy: " {
		t.Errorf("after another row was changed: %s", got)
	}

	_, form = read()
	form.Values["indexes-2"] = []string{"Judgments", "Plats"}
	form.with("indexes", 1, "judgments, Marriage; Map Book").Del("indexes-1")
	kim.post(t, 303, section, form.Values)
	if got := stored(); got != "Ann:  | Bo: Judgments; Plats; Marriage; Map Book | Cy: " {
		t.Errorf("after boxes were checked and indexes typed: %s", got)
	}

	_, form = read()
	form.Set("do", "indexes-2")
	again := kim.post(t, 200, section, form.Values)
	again.has(t, `<summary autofocus><span class="visually-hidden">Indices, row 2: `)
	if got := stored(); !strings.HasSuffix(got, "Cy: ") {
		t.Errorf("before the form is saved: %s", got)
	}
	kim.post(t, 303, section, readNamesForm(string(again.body)).Values)
	const all = "Judgments; Plats; Marriage; Map Book"
	if got := stored(); got != "Ann: "+all+" | Bo: "+all+" | Cy: "+all {
		t.Errorf("after the boxes of a row were checked for all names: %s", got)
	}
}

// The names of a template without indexes have those of another template.
func TestIndexesOfOtherTemplate(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path := kim.post(t, 303, "/abstracts", url.Values{"template": {"3"}, "custom_fields.file_number": {"1"},
		"custom_fields.current_owner": {"Lee"}, "custom_fields.effective_date": {"1/2/2026"}, "once": {"x"}}).location()
	kim.get(t, 200, path+"/names-run?edit=1").has(t, `name="indexes-1" value="Lis Pendens">`)
}
