package vaulttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// MixUntil is when the last record of a kept vault was made.
var MixUntil = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// Mix is what a title firm's records say: numbers, parcels, people and counties as
// they are looked for. What the n-th of a kind says follows from n alone, so that
// whoever asks for it can tell what is to be found.
type Mix struct {
	Until   time.Time // when the last record was made
	Moments int       // moments in the firm's years, each with an order, an abstract and FilesPerMoment files
	Texts   int       // files that have a text, each another; see Vocabulary
}

// MixRecord is what a record of the mix says.
type MixRecord struct {
	At                  time.Time
	Number              string // of the order, 24-012345, or of the file, 2024-012345
	Parcel              string // 12-3-045
	County, State, City string
	Address             string
	Owner, Borrower     string // first and last name
	Client              string // of an order
	Book, Page          int    // of the vesting deed
	Commercial          bool   // by the second template
}

// MixCounties is how many counties there are; a few have most of the work.
const MixCounties = 88

// At is when the n-th moment was.
func (m Mix) At(n int) time.Time {
	step := firmYears * 365 * 24 * time.Hour / time.Duration(max(m.Moments, 1))
	return m.Until.Add(-step * time.Duration(m.Moments-n)).UTC().Truncate(time.Microsecond)
}

// Abstract is what the abstract of the n-th moment says.
func (m Mix) Abstract(n int) MixRecord {
	s := m.record(n, 1)
	s.Number = fmt.Sprintf("%d-%06d", s.At.Year(), n)
	return s
}

// Order is what the order of the n-th moment says.
func (m Mix) Order(n int) MixRecord {
	s := m.record(n, 2)
	s.Number = fmt.Sprintf("%02d-%06d", s.At.Year()%100, n)
	return s
}

// File is what the name of the k-th file is made of.
func (m Mix) File(k int) MixRecord { return m.record(k/FilesPerMoment, 3+uint64(k%FilesPerMoment)) } // #nosec G115 -- not negative

// Filename is the name people give a document.
func (s MixRecord) Filename(n int) string {
	return fmt.Sprintf("%02d_Deed_%s_Bk%d-Pg%d_%s-to-%s.pdf", 1+n%20, s.At.Format(time.DateOnly), s.Book, s.Page, lastName(s.Owner), lastName(s.Borrower))
}

// lastName is the family name.
func lastName(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

func (m Mix) record(n int, kind uint64) MixRecord {
	chance := rand.New(rand.NewPCG(uint64(n), kind)) // #nosec G115 -- not negative
	county := int(MixCounties * math.Pow(chance.Float64(), 3))
	return MixRecord{
		At:     m.At(n),
		Parcel: fmt.Sprintf("%02d-%d-%03d", chance.IntN(100), chance.IntN(10), chance.IntN(1000)),
		County: MixCounty(county), State: []string{"OH", "IN", "KY"}[county%3], City: MixCounty((county*7+chance.IntN(5))%MixCounties) + " City",
		Address: fmt.Sprintf("%d %s Rd", 1+chance.IntN(9000), firmStreets[chance.IntN(len(firmStreets))]),
		Owner:   mixName(chance), Borrower: mixName(chance), Client: MixLast(chance.IntN(40)) + " Closing",
		Book: 1 + chance.IntN(3000), Page: 1 + chance.IntN(900), Commercial: chance.IntN(5) == 0,
	}
}

func mixName(chance *rand.Rand) string {
	return MixFirst(chance.IntN(MixNames)) + " " + MixLast(chance.IntN(MixNames))
}

// MixNames is how many first names there are, and as many last ones.
const MixNames = 2000

var (
	mixCountyA = strings.Fields("Wex Ash Brad Cor Dun El Farn Gran Hol Kings Lan")
	mixCountyB = strings.Fields("combe ford bury wick stead mere dale shaw")
	mixFirstA  = strings.Fields("Al Am Ar Bel Ber Car Cel Cor Dar Del Dor Ed El Em Er Fel Fer Gar Gil Har Hel Her Is Jan Jer Jol Kar Kel Lor Lu Mar Mel Mil Nor Or Pat Per Ray Ron Ros Sam Sel Ter Val Wil")
	mixFirstB  = strings.Fields("a an andra ard bert bina cia da dine don dra elle en eric ette fred gail ia ian ice ina is ita jamin la lene lie lyn man mina mond na nard nell ney nice nold o on ora rence ric rina ris son tha ton vin ward")
	mixLastA   = strings.Fields("Abber Alder Bar Bick Bram Brigg Carl Chad Clay Cray Dal Den Drum Eck Ever Fair Fen Gar Glen Gold Hag Hart Haw Hen Hib Ing Jar Kel Kirk Lam Lang Lock Mal Mor New Oak Pem Pres Rad Rock Sand Shel Stan Thorn Tre Wal War Wes Whit Yar")
	mixLastB   = strings.Fields("ard bee bell berg bourne brook by croft dell den ell er ett feld field ford gate ham hurst ing inger ington ison kin land ley lock low man mar mont more ner ney nolds over quist ridge row sen shire son stock ton vale wall well wick win wood worth")
)

// MixCounty is the name of a county, 0 to 87.
func MixCounty(n int) string { return mixCountyA[n%11] + mixCountyB[n/11] }

// MixFirst is a first name, 0 to 1,999.
func MixFirst(n int) string { return mixFirstA[n%45] + mixFirstB[n/45] }

// MixLast is a last name, 0 to 1,999.
func MixLast(n int) string { return mixLastA[n%50] + mixLastB[n/50] }
