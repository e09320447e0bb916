package extract_test

import (
	"fmt"
	"strings"
)

var (
	counties = []string{"Albemarle", "Guilford", "Kanawha", "Marion", "Jefferson", "Washtenaw", "Larimer", "Hillsborough", "Tarrant",
		"Summit", "Davidson", "St. Louis", "Baldwin", "Fayette", "Santa Clara", "King"}
	states = []string{"Virginia", "West Virginia", "Kentucky", "Ohio", "Oklahoma", "Missouri", "Tennessee", "Colorado", "Minnesota",
		"South Carolina", "Indiana", "Kansas"}
	cities = []string{"Springfield", "Franklin", "Clinton", "Greenville", "Bristol", "Salem", "Georgetown", "Ashland", "Oak Ridge",
		"Fairview"}
	streets = []string{"Maple Street", "Old Mill Road", "Highway 29", "Page Avenue", "Grant Lane", "Court Square",
		"Lot Circle", "Deer Run"}
	firstMale = []string{"James", "Robert", "John", "William", "Thomas", "Charles", "Kenneth", "Larry", "Raymond", "Walter", "Luis",
		"Tyrone", "Clyde", "Homer", "Virgil", "Wei", "Andre", "Dale", "Earl", "Grant"}
	firstFemale = []string{"Mary", "Patricia", "Linda", "Barbara", "Susan", "Dorothy", "Ruth", "Nancy", "Carolyn", "Wanda", "Maria",
		"Latoya", "Bonnie", "Glenda", "Opal", "Mei", "Celeste", "June", "April", "Faye"}
	surnames = []string{"Smith", "Johnson", "Henderson", "Kowalski", "McAllister", "O'Brien", "Van Dyke", "Castillo", "De La Cruz",
		"Nguyen", "Fitzgerald", "Booker", "Page", "Parcell", "Grant", "Deeds", "Lotz", "Whitaker", "Abernathy", "Stallings", "Bumgarner",
		"Okonkwo", "Schwartz", "Yoder", "St. Clair", "Montgomery", "Hollis", "Kessler", "Prather", "Dillard", "Ramos", "Underwood",
		"Trent", "Bond", "Sellers", "Church", "Banks", "Land", "Cornelius", "Barnhart", "Burnham", "Clarkson", "Illingworth", "Hornsby"}
	banks = []string{"First National Bank", "Wells Fargo Bank, N.A.", "JPMorgan Chase Bank, National Association", "Fifth Third Bank",
		"Bank of America, N.A.", "Branch Banking and Trust Company", "Quicken Loans Inc.", "Farmers and Merchants Bank",
		"U.S. Bank National Association", "SunTrust Mortgage, Inc.", "Countrywide Home Loans, Inc.", "Homestead Savings and Loan Association",
		"Members Choice Credit Union", "PennyMac Loan Services, LLC", "Citizens State Bank of Ashland"}
	companies = []string{"Blue Ridge Homes, LLC", "Henderson and Sons, Inc.", "Tri-County Concrete Co.", "Oak Hill Development, L.P.",
		"Midland Funding LLC", "Capital One Bank (USA), N.A.", "J & K Roofing, Inc.", "Valley Electric Company",
		"Ryan Homes Limited Partnership",
		"Prather Land Corporation"}
	utilities = []string{"Appalachian Power Company", "Duke Energy Carolinas, LLC", "Kentucky Utilities Company",
		"Columbia Gas Transmission Corporation", "Pioneer Rural Electric Cooperative, Inc."}
	trustees = []string{"First American Title Insurance Company", "Stewart Title Company", "Northwest Trustee Services, Inc.",
		"Land Title Guarantee Company", "Fidelity National Title Insurance Company"}
	subdivisions = []string{"Sunset Hills", "Oak Ridge Estates", "Meadowbrook Addition", "Fox Run Subdivision", "Highland Park",
		"Windsor Place, Phase II", "Lakeview Heights", "Whispering Pines", "Country Club Manor", "Section Three of River Bend"}
)

func (w *writer) first(female bool) string {
	if female {
		return pick(w.r, firstFemale)
	}
	return pick(w.r, firstMale)
}

func (w *writer) personNamed(surname string, female bool) string {
	name := w.first(female)
	switch w.r.IntN(4) {
	case 0:
		name += " " + w.first(female)
	case 1, 2:
		name += " " + string(rune('A'+w.r.IntN(26))) + "."
	}
	name += " " + surname
	if !female && w.r.IntN(8) == 0 {
		name += pick(w.r, []string{", Jr.", " III", ", Sr."})
	}
	return name
}

func (w *writer) person(female bool) string { return w.personNamed(pick(w.r, surnames), female) }

func (w *writer) address() string {
	return fmt.Sprintf("%d %s, %s, %s %05d", 10+w.r.IntN(9900), pick(w.r, streets), pick(w.r, cities),
		pick(w.r, []string{"VA", "NC", "FL", "TX", "OH", "TN", "CO", "MI"}), 20000+w.r.IntN(60000))
}

// parties prints the parties of one side with their descriptions, in one of the usual ways. style is
// "plain" for names only, "one" for a single person, or "index" for names as an index has them.
func (w *writer) parties(field string, style ...string) string {
	names, text := w.someone(len(style) > 0 && style[0] == "one")
	if len(style) > 0 {
		shown := make([]string, len(names))
		for n, name := range names {
			shown[n], _, _ = strings.Cut(name, "|")
		}
		text = strings.Join(shown, " and ")
		if style[0] == "index" {
			for n, name := range names {
				name, _, _ = strings.Cut(name, "|")
				words := strings.Fields(strings.NewReplacer(", Jr.", "", ", Sr.", "", " III", "").Replace(name))
				if last := len(words) - 1; !strings.Contains(name, "LLC") && last > 0 && last < 3 {
					names[n] = words[last] + ", " + strings.Join(words[:last], " ")
				}
			}
			text = strings.Join(names, "; ")
		}
	}
	w.set(field, names...)
	if w.capitals {
		for _, name := range names {
			name, _, _ = strings.Cut(name, "|")
			text = strings.ReplaceAll(text, name, strings.ToUpper(name))
		}
	}
	return text
}

// someone returns parties and how a deed describes them.
func (w *writer) someone(single bool) (names []string, text string) {
	surname := pick(w.r, surnames)
	he, she := w.personNamed(surname, false), w.personNamed(surname, true)
	switch n := w.r.IntN(12); {
	case single, n < 2:
		return []string{he}, he + pick(w.r, []string{", a single man", ", an unmarried man", ", unmarried", ", a widower", ""})
	case n == 2:
		return []string{she}, she + pick(w.r, []string{", a single woman", ", an unmarried woman", ", a widow",
			", a married woman as her sole and separate property"})
	case n < 5:
		return []string{he, she}, he + " and " + she + pick(w.r, []string{", husband and wife", ", a married couple", ", his wife",
			", husband and wife, as joint tenants with right of survivorship"})
	case n == 5:
		return []string{he, she}, he + pick(w.r, []string{" and wife, ", " and spouse, ", " and his wife, "}) + she
	case n == 6:
		other := w.person(true)
		return []string{he, other}, he + ", a single man, and " + other + ", a single woman"
	case n == 7:
		third, fourth := w.person(false), w.person(true)
		return []string{he, third, fourth}, he + ", " + third + " and " + fourth
	case n == 8:
		name := she + ", Trustee of the " + surname + " Family Trust"
		return []string{she + "|" + name}, name + pick(w.r, []string{"", " dated June 4, 1998", ", u/t/d June 4, 1998"})
	case n == 9:
		before := strings.Replace(she, surname, "", 1) + pick(w.r, surnames)
		alias := she + pick(w.r, []string{" f/k/a ", ", formerly known as ", ", a/k/a "}) + strings.Join(strings.Fields(before), " ")
		return []string{she + "|" + alias}, alias
	}
	name := pick(w.r, companies)
	return []string{name}, name + pick(w.r, []string{"", ", a Delaware limited liability company", ", a corporation",
		", an Ohio corporation"})
}

// partyBlock prints each party on a line of its own.
func (w *writer) partyBlock(field string) string {
	names, text := w.someone(false)
	w.set(field, names...)
	if strings.Contains(text, "husband and wife") {
		text = names[0] + "\nand wife, " + names[1]
	}
	return text
}

func (w *writer) peek(field string) []string {
	if len(w.fields[field]) == 0 {
		names, _ := w.someone(false)
		return names
	}
	return w.fields[field]
}

func (w *writer) company(field, name string) string {
	w.set(field, name)
	if w.capitals {
		return strings.ToUpper(name)
	}
	return name
}

func (w *writer) fiduciary() string {
	name, decedent := w.person(true), w.person(false)
	capacity := pick(w.r, []string{"as Personal Representative of the Estate of ", "Executor of the Estate of "}) + decedent
	w.set("grantors", name+"|"+name+", "+capacity+"|"+name+", "+capacity+", deceased")
	return name + ", " + capacity + ", deceased"
}

func (w *writer) nominee() string {
	name, lender := "Mortgage Electronic Registration Systems, Inc.", pick(w.r, banks)
	w.set("grantors", name+"|"+name+", as nominee for "+lender)
	return name + pick(w.r, []string{` ("MERS")`, "", " (MERS)"}) + ", as nominee for " + lender + ", its successors and assigns,"
}

// amount prints the consideration.
func (w *writer) amount(style string) string {
	figures := grouped(w.cents)
	w.fields["consideration"] = []string{fmt.Sprintf("%d.%02d", w.cents/100, w.cents%100)}
	words := numberWords(w.cents/100) + fmt.Sprintf(" and %02d/100 Dollars", w.cents%100)
	if w.cents%100 == 0 {
		words = numberWords(w.cents/100) + pick(w.r, []string{" and No/100 Dollars", " Dollars", " and 00/100 Dollars"})
	}
	if w.capitals {
		words = strings.ToUpper(words)
	}
	switch style {
	case "figures":
		return "$" + figures
	case "us":
		return words + " (U.S. $" + figures + ")"
	}
	return words + " ($" + figures + ")"
}

// nominal prints a consideration that only counts if there is no other.
func (w *writer) nominal(text string) string {
	value := "10.00"
	if strings.Contains(text, "One Dollar") {
		value = "1.00"
	}
	w.set("consideration", value)
	return text
}

func grouped(cents int) string {
	whole, text := cents/100, ""
	for whole >= 1000 {
		text = fmt.Sprintf(",%03d", whole%1000) + text
		whole /= 1000
	}
	return fmt.Sprintf("%d%s.%02d", whole, text, cents%100)
}

// numberWords returns a number up to 999,999 in words.
func numberWords(n int) string {
	ones := strings.Fields("Zero One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen Sixteen " +
		"Seventeen Eighteen Nineteen")
	tens := strings.Fields("_ _ Twenty Thirty Forty Fifty Sixty Seventy Eighty Ninety")
	switch {
	case n < 20:
		return ones[n]
	case n < 100 && n%10 == 0:
		return tens[n/10]
	case n < 100:
		return tens[n/10] + "-" + ones[n%10]
	case n < 1000 && n%100 == 0:
		return ones[n/100] + " Hundred"
	case n < 1000:
		return ones[n/100] + " Hundred " + numberWords(n%100)
	case n%1000 == 0:
		return numberWords(n/1000) + " Thousand"
	}
	return numberWords(n/1000) + " Thousand " + numberWords(n%1000)
}
