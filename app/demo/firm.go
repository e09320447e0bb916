package demo

import (
	_ "embed" // for papers.txt
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode"

	"deedkeep/app/model"
)

// All names, places, and numbers are invented. Telephone numbers are from 555-0100 to 555-0199, which are reserved for
// fiction, and addresses of mail from example.com.
var (
	counties = []string{"Wexcombe", "Larkmoor"}
	cities   = [][]string{{"Nether Gossamer", "Merriweather", "Port Gossamer"}, {"Harlow Mills", "Tarnbridge", "Upper Larkmoor"}}
	streets  = strings.Split("Candlewick Hollow Road,Mill Pond Lane,Old Stage Highway,Courthouse Square,Ferry Street,Quarry Hill Road,"+
		"Orchard Ridge Road,Tannery Row,Lantern Court,Gristmill Road,Saltbox Lane,Cooper Street,Thimble Way,Windrow Drive", ",")
	subdivisions = []string{"Orchard Ridge Subdivision", "Gossamer Heights", "Larkmoor Meadows", "Tannery Row Addition", "Quarry Hill Estates"}
	surnames     = strings.Fields("Quillfeather Pennyfarthing Lanternhouse Brindlewood Marchbanks Thistledown Hollowell Winterbourne " +
		"Applegarth Fennimore Goldwhistle Harrowgate Inkpenny Juniperson Kettlebrook Lovegrove Mossgrave Nightingdale")
	givenNames = [][]string{strings.Fields("Harlan Silas Ambrose Desmond Orville Rufus Lionel Everett Thaddeus Bertram Cornelius"),
		strings.Fields("Odessa Eudora Winifred Marguerite Philippa Rosalind Beatrice Henrietta Imogen Clementine Theodora Lavinia Cordelia")}
	banks = []string{"Tollgate Savings Bank", "First Larkmoor Bank", "Wexcombe Valley Credit Union", "Gristmill Mortgage Company"}
	// clients order searches.
	clients   = []string{"Tollgate Savings Bank", "Lanternhouse Settlement Services", "First Larkmoor Bank", "Marchbanks Law Office"}
	utility   = "Gossamer Valley Electric Cooperative"
	creditors = []string{"Thimble Way Lumber Company", "Harlow Mills Hospital"}
	indices   = []string{"Grantor/Grantee", "Mortgages", "Judgments", "Federal/State Tax Liens", "Plats"}
)

// people are the users of the firm.
var people = []struct {
	name, fullName, title string
	role                  model.Role
}{
	{"rowena", "Rowena Hollowell", "Owner", model.RoleAdmin},
	{"maya", "Maya Winterbourne", "Senior Title Examiner", model.RoleStaff},
	{"felix", "Felix Applegarth", "Closing Assistant", model.RoleViewer},
}

// search describes the title work of a file. Each letter of its chain is an instrument: see kinds. A capital letter has
// a scan. Letters in parentheses are in one scan. Instruments after "|" have only a scan, and the server suggests them.
type search struct{ product, status, chain string }

// searches are those of the first files. The others are orders without a search. The first one has a gap, an open
// mortgage, and at the end a deed with a text layer that isn't recorded yet.
var searches = []search{
	{"Full Search", "In Exam", "PdEDMRG(DM)A|JD"},
	{"Full Search", "Complete", "DMR(DM)"}, {"Current Owner", "Needs Curative", "DMDMJ"}, {"60 Year", "In Search", "ddmrDM|E"},
	{"Two Owner", "New", ""}, {"Full Search", "Complete", "PdEmRD"}, {"30 Year", "In Search", "dmr|DM"}, {"Current Owner", "New", "|D"},
	{"60 Year", "Complete", "ddMR"}, {"40 Year", "In Exam", "dddmA"}, {"Current Owner", "In Search", "|DM"}, {"Two Owner", "Complete", "dDmr"},
	{"Full Search", "In Search", "dedQ|M"}, {"Current Owner", "New", ""}, {"30 Year", "Needs Curative", "dmgDj"},
	{"60 Year", "In Exam", "dmrdm"}, {"Current Owner", "Complete", "dDM"}, {"Two Owner", "In Search", "dm|D"}, {"Full Search", "New", ""},
	{"40 Year", "In Exam", "ddmr"}, {"Current Owner", "Cancelled", ""}, {"30 Year", "In Search", "d|M"}, {"Two Owner", "In Exam", "dQ"},
	{"Current Owner", "Complete", "dmr"}, // and one bring-down of the second search
}

const orderCount = 40

// kinds are the instruments in the chain of a search, by letter.
var kinds = map[rune]string{'d': "Warranty Deed", 'g': "Warranty Deed", 'q': "Quitclaim Deed", 'm': "Mortgage",
	'r': "Release or Satisfaction", 'a': "Assignment", 'e': "Easement or Right of Way", 'j': "Judgment", 'p': "Plat"}

// remarks are those of the instruments, by type.
var remarks = map[string]string{"Mortgage": "Open-end", "Easement or Right of Way": "20 feet, electric lines",
	"Assignment": "With the note", "Judgment": "Certificate of judgment", "Quitclaim Deed": "No consideration stated",
	"Plat": "12 lots", "Warranty Deed": "Subject to easements of record"}

// file is a property with its order and, mostly, its search.
type file struct {
	search
	n                                int // from 0
	number                           string
	street, city, county             string
	subdivision, lot, parcel, client string
	PlatBook, PlatPage               string
	owners                           []string
	papers                           []*paper
}

// paper is an instrument and the text of its scan.
type paper struct {
	*file
	Type                     string
	Number, Book, Page, Case string
	Recorded, Dated          time.Time
	Grantors, Grantees       []string
	Amount                   int
	Prior                    *paper // the vesting deed before a deed, or the mortgage that is released or assigned
	scan                     int    // scans with the same number are one document; 0: none
	suggested                bool   // the instrument isn't recorded in the runsheet
	first, last              int    // its pages in the document
}

// Names of fields for papers.txt.

func (p *paper) County() string      { return p.county }
func (p *paper) City() string        { return p.city }
func (p *paper) Lot() string         { return p.lot }
func (p *paper) Parcel() string      { return p.parcel }
func (p *paper) Subdivision() string { return p.subdivision }
func (p *paper) Address() string     { return p.street + ", " + p.city + ", Ohio" }
func (p *paper) Client() string      { return p.client }
func (p *paper) Order() string       { return p.number }

// Signers returns who signs the instrument. A judgment is signed by the clerk.
func (p *paper) Signers() []string { return p.Grantors }

// party returns the n-th owner: a couple, a person, or a company.
func party(n int) []string {
	surname := surnames[n*5%len(surnames)]
	person := func(list []string, k int) string {
		return fmt.Sprintf("%s %c. %s", list[(n+k)%len(list)], 'A'+(n*7+k*3)%23, surname)
	}
	switch n % 6 {
	case 4:
		return []string{surname + " Orchard Holdings, LLC"}
	case 2, 5:
		return []string{person(givenNames[1], 2)}
	}
	return []string{person(givenNames[0], 0), person(givenNames[1], 1)}
}

// files returns the files of the firm on a day.
func files(today time.Time) (list []*file) {
	for n := range orderCount {
		f := &file{n: n, number: fmt.Sprintf("%d-%04d", today.Year(), 411+3*n), county: counties[n%2], city: cities[n%2][n/2%3],
			street:      fmt.Sprintf("%d %s", 12+n*37%880, streets[n%len(streets)]),
			subdivision: subdivisions[n%len(subdivisions)], lot: fmt.Sprint(1 + n*5%12), client: clients[n%len(clients)],
			parcel:   fmt.Sprintf("%02d-%04d-%03d", 10+n%2*20, 300+n*7, 100+n*13%800),
			PlatBook: fmt.Sprint(20 + n%30), PlatPage: fmt.Sprint(4 + n*3), owners: party(5 * n)}
		if n < len(searches) {
			f.search = searches[n]
		}
		f.addPapers(today)
		list = append(list, f)
	}
	return list
}

// addPapers adds the instruments of the chain. They end some weeks before the day.
func (f *file) addPapers(today time.Time) {
	letters := []rune(strings.NewReplacer("(", "", ")", "", "|", "").Replace(f.chain))
	group, scan, suggested := false, 0, false
	at := today.AddDate(-33, -f.n%11, -f.n)
	step := (33*365 - 60) / max(len(letters), 1)
	var vesting, mortgage *paper
	for _, letter := range f.chain {
		kind, known := kinds[unicode.ToLower(letter)]
		if !known {
			suggested = suggested || letter == '|'
			if group = letter == '('; group {
				scan++
			}
			continue
		}
		if k := len(f.papers); k > 0 && (kind != "Mortgage" || f.papers[k-1] != vesting) { // a purchase money mortgage is of the same day
			at = at.AddDate(0, 0, step)
		}
		p := &paper{file: f, Type: kind, suggested: suggested}
		p.record(at)
		if strings.ToUpper(string(letter)) == string(letter) {
			if !group {
				scan++
			}
			p.scan = scan
		}
		switch letter | 0x20 {
		case 'd', 'q', 'g':
			p.convey(vesting, letter|0x20)
			vesting = p
		case 'm':
			p.Grantors, p.Grantees, p.Amount, mortgage = f.owners, banks[len(f.papers)%4:][:1], p.Amount*4/5, p
		case 'r':
			p.Grantors, p.Grantees, p.Prior = mortgage.Grantees, mortgage.Grantors, mortgage
		case 'a':
			p.Grantors, p.Grantees, p.Prior = mortgage.Grantees, banks[(slices.Index(banks, mortgage.Grantees[0])+1)%4:][:1], mortgage
		case 'e':
			p.Grantors, p.Grantees = f.owners, []string{utility}
		case 'j':
			p.Grantors, p.Grantees, p.Amount = f.owners[:1], creditors[f.n%2:][:1], 1200+f.n*731
			p.Case = fmt.Sprintf("%d-CV-%04d", p.Recorded.Year(), 100+f.n*17)
		case 'p':
			p.Grantors, p.Grantees, p.Book, p.Page = f.owners, f.owners, f.PlatBook, f.PlatPage
		}
		f.papers = append(f.papers, p)
	}
}

// convey sets the parties of a deed. The grantor of the kind 'g' never received the property.
func (p *paper) convey(vesting *paper, kind rune) {
	k := len(p.file.papers)
	p.Grantors, p.Prior = p.file.owners, vesting
	if p.Grantees = party(5*p.file.n + k + 1); kind == 'g' {
		p.Grantors = party(5*p.file.n + k + 47)
	}
	p.file.owners = p.Grantees
}

// record sets the numbers and dates of an instrument that is recorded on a day, or on the Monday after it.
func (p *paper) record(day time.Time) {
	for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		day = day.AddDate(0, 0, 1)
	}
	k := len(p.file.papers)
	days := int(day.Sub(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)).Hours() / 24)
	p.Recorded = day.Add(9*time.Hour + time.Duration(k*61+p.file.n*7)*time.Minute/2 + time.Duration(k*13%60)*time.Second)
	p.Dated = day.AddDate(0, 0, -3)
	p.Number = fmt.Sprintf("%s%05d", day.Format("20060102"), 10000+(days*37+p.file.n*101+k*3)%80000)
	p.Book, p.Page = fmt.Sprint(200+days/9), fmt.Sprint(11+(days*31+p.file.n*17+k*3)%880)
	p.Amount = (62+(days*7+p.file.n)%90)*1000 + days*9
	p.Amount -= p.Amount % 500
}

//go:embed papers.txt
var paperTexts string

// newTexts returns the templates in papers.txt.
func newTexts() (*template.Template, error) {
	return template.New("papers").Funcs(template.FuncMap{
		"upper": strings.ToUpper,
		"money": func(amount int) string { return "$" + model.InsertCommas(fmt.Sprint(amount)) + ".00" },
		"names": func(names []string) string {
			if len(names) == 2 {
				return names[0] + " and " + names[1] + ", husband and wife,"
			}
			return strings.Join(names, ", ")
		},
	}).Parse(paperTexts)
}
