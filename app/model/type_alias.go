package model

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// typeAliases lists how users, titles, and filenames abbreviate document types. A row comes before the rows that it
// wins over: "Mortgage Release" is a release, and "Oil and Gas Lease" is not a lease. Apostrophes
// are left out.
var typeAliases = []struct {
	name    string // of a document type of new vaults
	aliases []string
}{
	{"Partial Release", []string{"partial release", "partial rel", "part rel", "partial satisfaction"}},
	{"Reconveyance", []string{"reconveyance", "recon"}},
	{"Release or Satisfaction", []string{"release or satisfaction", "release", "satisfaction", "discharge", "satis", "rel", "sat", "rlse"}},
	{"Assignment of Rents", []string{"assignment of leases and rents", "assignment of rents and leases", "assignment of rents", "alr", "aor"}},
	{"Assignment", []string{"assignment", "asgmt", "asgnmt", "assign", "asgn", "aom"}},
	{"Modification", []string{"modification", "mod", "lma"}},
	{"Subordination", []string{"subordination", "subord"}},
	{"Sheriff's Deed", []string{"sheriffs deed", "sheriff deed", "commissioners deed", "marshals deed"}},
	{"Tax Deed", []string{"tax deed", "treasurers deed", "tax claim deed"}},
	{"Deed of Trust", []string{"deed of trust", "trust deed", "dot"}},
	{"Mortgage", []string{"security deed", "deed to secure debt", "open end mortgage", "purchase money mortgage", "mortgage",
		"mtge", "mortg", "mort", "mtg"}},
	{"Special Warranty Deed", []string{"special warranty deed", "spec warranty deed", "deed of special warranty", "limited warranty deed", "swd", "lwd"}},
	{"Warranty Deed", []string{"general warranty deed", "warranty deed", "deed of general warranty", "war deed", "gwd", "wd"}},
	{"Quitclaim Deed", []string{"quitclaim deed", "quit claim deed", "quitclaim", "quit claim", "qc deed", "qcd", "qc"}},
	{"Fiduciary Deed", []string{"fiduciary deed", "executors deed", "executor deed", "executrix deed", "administrators deed",
		"administrator deed", "deed of distribution",
		"trustees deed", "trustee deed", "guardians deed", "personal representatives deed", "personal representative deed", "pr deed"}},
	{"Corrective Deed", []string{"corrective deed", "correction deed", "deed of correction", "corrected deed"}},
	{financingStatement, []string{"ucc financing statement", "financing statement", "fixture filing", "ucc 1", "ucc 3", "ucc"}},
	{"Federal Tax Lien", []string{"federal tax lien", "fed tax lien", "irs tax lien", "irs lien", "nftl", "ftl"}},
	{"State Tax Lien", []string{"state tax lien", "stl"}},
	{"Mechanic's Lien", []string{"mechanics lien", "mechanic lien", "construction lien", "materialmans lien"}},
	{"Municipal Lien", []string{"municipal lien", "city lien", "code lien"}},
	{"HOA Lien", []string{"hoa lien", "assessment lien", "lien for unpaid assessments", "lien for assessments"}},
	{"Judgment", []string{"abstract of judgment", "judgment", "judgement", "jdgmt", "jgmt", "judg", "jdg"}},
	{"Lis Pendens", []string{"lis pendens", "lis pend"}},
	{"Easement or Right of Way", []string{"easement or right of way", "right of way", "easement", "easmt", "esmnt", "esmt", "row"}},
	{"Restrictions", []string{"declaration of restrictions", "restrictive covenants", "restrictions", "covenants", "cc rs", "cc r",
		"ccrs", "ccr"}},
	{"Oil and Gas Lease", []string{"oil and gas lease", "oil gas lease", "og lease", "ogl"}},
	{"Lease", []string{"memorandum of lease", "lease"}},
	{"Party Wall", []string{"party wall agreement", "party wall"}},
	{"Agreement", []string{"agreement", "agmt"}},
	{"Plat", []string{"plat"}},
	{"Survey", []string{"survey"}},
	{"Probate", []string{"probate", "last will", "letters testamentary", "certificate of transfer"}},
	{"Divorce", []string{"divorce decree", "decree of divorce", "divorce"}},
	{"Bankruptcy", []string{"bankruptcy"}},
	{"Name Change", []string{"name change"}},
	{"Tax Certificate", []string{"tax certificate", "tax cert"}},
	{"Tax Bill", []string{"tax bill", "tax receipt"}},
	{"Power of Attorney", []string{"power of attorney", "poa"}},
	{"Affidavit", []string{"affidavit", "affid", "aff"}},
	{"Death Certificate", []string{"death certificate", "death cert"}},
}

// typeWords are how users abbreviate words in the name of a type. A name has too few words to tell what these mean.
var typeWords = map[string]string{"dt": "dot", "d/t": "dot", "p/a": "poa", "r/w": "row", "jmt": "jgmt",
	"prel": "partial release", "disch": "discharge", "affdvt": "affidavit", "assn": "assignment", "assgn": "assignment",
	"sub": "subordination", "mech": "mechanics", "mechs": "mechanics", "cert": "certificate", "st": "state",
	"gen": "general", "ltd": "limited", "spec": "special", "warr": "warranty", "shrf": "sheriffs", "sher": "sheriffs",
	"exec": "executors", "exr": "executors", "fid": "fiduciary", "admin": "administrators", "adm": "administrators",
	"grdn": "guardians", "corr": "corrective"}

// unclearTypes are abbreviations that mean several types, such as a tax deed, a trustee's deed, and a trust deed, or a
// sheriff's deed and a security deed. A person decides.
var unclearTypes = newSet("td", "sd", "not", "tod")

// namedInstruments are the words of the instrument that a release, an assignment, a modification,
// or a subordination is about. They belong to its type, not to its parties.
var namedInstruments = newSet("of", "mortgage", "mtg", "mtge", "mort", "mortg", "dot", "deed", "trust", "lien", "agreement",
	"agmt", "loan", "ucc",
	"federal", "tax", "judgment", "full", "recorded", "the")

// anyDeed is the word for a deed, and the name of its type, if the text doesn't say what kind it is.
const anyDeed = "deed"

// Alias finds the document type that a filename or a title names in its words, which are in lower case. It
// returns the range of words that name it, with the words of the instrument that it is about.
func (d DocumentTypes) Alias(words []string) (name, alias string, from, to int) {
	for _, row := range typeAliases {
		for _, alias := range row.aliases {
			from, count := indexPhrase(words, alias)
			if from < 0 {
				continue
			}
			to := from + count
			for ; to < len(words) && namedInstruments[words[to]]; to++ {
			}
			for ; from > 0 && namedInstruments[words[from-1]]; from-- {
			}
			return d.offered(row.name), alias, from, to
		}
	}
	for _, t := range d { // types that the firm added; the longest is the most specific
		phrase := strings.ReplaceAll(foldWords(t.Name), "'", "")
		if at, count := indexPhrase(words, phrase); at >= 0 && !t.Retired && len(phrase) > len(alias) {
			name, alias, from, to = t.Name, phrase, at, at+count
		}
	}
	if at, count := indexPhrase(words, anyDeed); alias == "" && at >= 0 {
		return d.offered(anyDeed), anyDeed, at, at + count
	}
	return name, alias, from, to
}

// offered returns the name of the type with this name, or "" if the firm doesn't have it or has retired
// it.
func (d DocumentTypes) offered(name string) string {
	if t, known := d.ByName(name); known && !t.Retired {
		return t.Name
	}
	return ""
}

// indexPhrase returns the index in words at which a phrase starts, and how many words it takes up there.
// The phrase may be written as one word. It returns -1 if the phrase doesn't occur.
func indexPhrase(words []string, phrase string) (from, count int) {
	parts := strings.Fields(phrase)
	if len(parts) == 0 {
		return -1, 0
	}
	for n := range words {
		if n+len(parts) <= len(words) && slices.Equal(words[n:n+len(parts)], parts) {
			return n, len(parts)
		}
		if len(parts) > 1 && words[n] == strings.Join(parts, "") {
			return n, 1
		}
	}
	return -1, 0
}

// Find returns the document type that a text names: by its name, an abbreviation as in filenames, its
// initials, or the start of its name if no other type fits. A word that several types have, such as
// "lien", names none of them.
func (d DocumentTypes) Find(text string) (DocumentType, bool) {
	folded := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if t, found := d.ByName(text); found || folded == "" {
		return t, found
	}
	words := wordsOfType(folded)
	if len(words) == 1 && unclearTypes[words[0]] {
		return DocumentType{}, false
	}
	if name, _, from, to := d.Alias(words); name != "" && from == 0 && to == len(words) {
		return d.ByName(name)
	}
	if t, found := d.only(func(t DocumentType) bool { return initials(t.Name) == folded }); found && len(folded) > 1 {
		return t, true
	}
	t, found := d.only(func(t DocumentType) bool { return strings.HasPrefix(strings.ToLower(t.Name), folded) })
	inOtherName := slices.ContainsFunc(d, func(other DocumentType) bool {
		return other.ID != t.ID && slices.Contains(strings.Fields(strings.ToLower(other.Name)), folded)
	})
	if !found || inOtherName || len(folded) < 3 {
		return DocumentType{}, false
	}
	return t, true
}

// wordsOfType returns the words of a name of a type. The letters of an abbreviation such as "d.o.t." are one word.
func wordsOfType(folded string) []string {
	words := strings.Fields(strings.NewReplacer("-", " ", ".", " ", "'", "", "’", "").Replace(folded))
	if !slices.ContainsFunc(words, func(word string) bool { return len(word) > 1 }) {
		words = []string{strings.Join(words, "")}
	}
	for n, word := range words {
		words[n] = cmp.Or(typeWords[word], word)
	}
	return strings.Fields(strings.Join(words, " "))
}

// only returns the offered type that fits, if it is the only one.
func (d DocumentTypes) only(fits func(DocumentType) bool) (DocumentType, bool) {
	var found DocumentTypes
	for _, t := range d {
		if !t.Retired && fits(t) {
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return DocumentType{}, false
	}
	return found[0], true
}

// initials returns the first letters of the words of a name, in lower case.
func initials(name string) string {
	var letters strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return unicode.IsSpace(r) || r == '-' }) {
		letters.WriteString(word[:1])
	}
	return letters.String()
}

// TypeInTitle returns the document type that the title of an instrument names, such as "General
// Warranty Deed" or "RELEASE OF DEED OF TRUST". The name is "" if it is a type that the firm doesn't
// have. It returns false if the title names no type.
func TypeInTitle(title string, types DocumentTypes) (name string, ok bool) {
	title = strings.ToLower(strings.ReplaceAll(title, "'", ""))
	if main, _, found := strings.Cut(title, " with "); found { // "Deed of Trust with Assignment of Rents"
		if name, ok := TypeInTitle(main, types); ok {
			return name, true
		}
	}
	words, _ := LowerWords(title)
	name, alias, _, _ := types.Alias(words)
	return name, alias != ""
}

// LowerWords returns the words of a text in lower case, and where they start.
func LowerWords(text string) (words []string, starts []int) {
	start := -1
	for at, r := range text + " " {
		switch isWord := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case isWord && start < 0:
			start = at
		case !isWord && start >= 0:
			words, starts = append(words, strings.ToLower(text[start:at])), append(starts, start)
			start = -1
		}
	}
	return words, starts
}
