package vaulttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// MixUntil is the time of the last record in mixes that are generated once and used by several test runs.
var MixUntil = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// Mix generates the records of a title firm with realistic numbers, Parcel IDs, names, and counties. Each record
// depends only on its number, so that search tests can compute the expected results.
type Mix struct {
	Until  time.Time // the time of the last record
	Orders int       // number of orders; each has an abstract and FilesPerOrder files
	Texts  int       // number of files with text, all different; see Vocabulary

	Instruments int // number of instruments of each abstract
}

// MixRecord is the content of a record of the mix.
type MixRecord struct {
	At                  time.Time
	Number              string // order number, such as 24-012345, or file number, such as 2024-012345
	Parcel              string // such as 12-3-045
	County, State, City string
	Address             string
	Owner, Borrower     string // first and last name
	Client              string // only for orders
	Book, Page          int    // of the vesting deed
	Commercial          bool   // whether the abstract uses the second template
}

// MixCounties is the number of counties. Most records are in a few of them.
const MixCounties = 88

// At returns the creation time of order n, its abstract, and its files.
func (m Mix) At(n int) time.Time {
	step := firmYears * 365 * 24 * time.Hour / time.Duration(max(m.Orders, 1))
	return m.Until.Add(-step * time.Duration(m.Orders-n)).UTC().Truncate(time.Microsecond)
}

// Abstract returns the abstract of order n.
func (m Mix) Abstract(n int) MixRecord {
	s := m.record(n, 1)
	s.Number = fmt.Sprintf("%d-%06d", s.At.Year(), n)
	return s
}

// Order returns order n.
func (m Mix) Order(n int) MixRecord {
	s := m.record(n, 2)
	s.Number = fmt.Sprintf("%02d-%06d", s.At.Year()%100, n)
	return s
}

// File returns the values used in the filename of file k.
func (m Mix) File(k int) MixRecord { return m.record(k/FilesPerOrder, 3+uint64(k%FilesPerOrder)) } // not negative

// Filename returns a realistic file name for file n.
func (m MixRecord) Filename(n int) string {
	return fmt.Sprintf("%02d_Deed_%s_Bk%d-Pg%d_%s-to-%s.pdf", 1+n%20, m.At.Format(time.DateOnly), m.Book, m.Page, lastName(m.Owner),
		lastName(m.Borrower))
}

// lastName returns the part of name after the last space.
func lastName(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

// record returns the random content of a record of order n. kind distinguishes its order, its abstract, and its files.
func (m Mix) record(n int, kind uint64) MixRecord {
	rng := rand.New(rand.NewPCG(uint64(n), kind)) // not negative
	county := int(MixCounties * math.Pow(rng.Float64(), 3))
	return MixRecord{
		At:     m.At(n),
		Parcel: fmt.Sprintf("%02d-%d-%03d", rng.IntN(100), rng.IntN(10), rng.IntN(1000)),
		County: MixCounty(county), State: []string{"OH", "IN", "KY"}[county%3], City: MixCounty((county*7+rng.IntN(5))%MixCounties) + " City",
		Address: fmt.Sprintf("%d %s Rd", 1+rng.IntN(9000), firmStreets[rng.IntN(len(firmStreets))]),
		Owner:   mixName(rng), Borrower: mixName(rng), Client: MixLastName(rng.IntN(40)) + " Closing",
		Book: 1 + rng.IntN(3000), Page: 1 + rng.IntN(900), Commercial: rng.IntN(5) == 0,
	}
}

func mixName(rng *rand.Rand) string {
	return MixFirstName(rng.IntN(MixNames)) + " " + MixLastName(rng.IntN(MixNames))
}

// MixNames is the number of first names and of last names.
const MixNames = 2000

var (
	mixCountyA = strings.Fields("Wex Ash Brad Cor Dun El Farn Gran Hol Kings Lan")
	mixCountyB = strings.Fields("combe ford bury wick stead mere dale shaw")
	mixFirstA  = strings.Fields(`Al Am Ar Bel Ber Car Cel Cor Dar Del Dor Ed El Em Er Fel Fer Gar Gil Har Hel Her Is Jan Jer Jol Kar
		Kel Lor Lu Mar Mel Mil Nor Or Pat Per Ray Ron Ros Sam Sel Ter Val Wil`)
	mixFirstB = strings.Fields(`a an andra ard bert bina cia da dine don dra elle en eric ette fred gail ia ian ice ina is ita jamin
		la lene lie lyn man mina mond na nard nell ney nice nold o on ora rence ric rina ris son tha ton vin
		ward`)
	mixLastA = strings.Fields(`Abber Alder Bar Bick Bram Brigg Carl Chad Clay Cray Dal Den Drum Eck Ever Fair Fen Gar Glen Gold Hag
		Hart Haw Hen Hib Ing Jar Kel Kirk Lam Lang Lock Mal Mor New Oak Pem Pres Rad Rock Sand Shel Stan
		Thorn Tre Wal War Wes Whit Yar`)
	mixLastB = strings.Fields(`ard bee bell berg bourne brook by croft dell den ell er ett feld field ford gate ham hurst ing inger
		ington ison kin land ley lock low man mar mont more ner ney nolds over quist ridge row sen shire son
		stock ton vale wall well wick win wood worth`)
)

// MixCounty returns the name of county n, 0 to 87.
func MixCounty(n int) string { return mixCountyA[n%11] + mixCountyB[n/11] }

// MixFirstName returns first name n, 0 to 1,999.
func MixFirstName(n int) string { return mixFirstA[n%45] + mixFirstB[n/45] }

// MixLastName returns last name n, 0 to 1,999.
func MixLastName(n int) string { return mixLastA[n%50] + mixLastB[n/50] }
