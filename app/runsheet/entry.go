package runsheet

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"deedkeep/app/model"
)

// Options say how the cells of a table are read.
type Options struct {
	Types   model.DocumentTypes
	Now     time.Time
	Columns map[int]string // fields that a person chose, by column, starting with 0
	Swapped []int          // rows whose grantors and grantees are exchanged

	// SwappedTypes are the names of document types. The grantors and grantees of their rows are exchanged.
	SwappedTypes []string
}

// Sheet is what a table contains.
type Sheet struct {
	Columns []Column
	Entries []Entry
}

// Entry is a row of a table. Fields are the members of a request for an instrument. Relations refer
// to other rows by their No.
type Entry struct {
	Row       int // row in the file, starting with 1
	Position  int // No. of the row; 0 if there is none
	Fields    model.Inputs
	Relations []RelationEntry
	Swapped   bool // grantors and grantees are exchanged
}

// RelationEntry is a relation to another row, which has the No. Position.
type RelationEntry struct {
	Kind     string
	Position int
}

// gapRow matches a row about a gap, as the runsheet shows it now or did before.
var gapRow = regexp.MustCompile(`^(?:Possible gap|Gap) in the chain of title:`)

// Read returns the entries of a table and says what its columns are. Each cell is in one of the fields,
// unless a person left out its column. Rows about gaps, which copied runsheets have, are skipped.
func (t Table) Read(o Options) Sheet {
	r := interpreter{types: o.Types, now: o.Now, isExcel: t.Excel}
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(row TableRow) bool {
		return gapRow.MatchString(strings.TrimSpace(strings.Join(row.Cells, "")))
	})
	sheet := Sheet{Columns: r.findColumns(t.Header, rows, o.Columns)}
	for n, c := range sheet.Columns {
		sheet.Columns[n].Example = truncate(t.Shown(c.Field, c.Example))
	}
	for _, row := range rows {
		e := Entry{Row: row.Row, Fields: model.Inputs{}}
		read := map[string]bool{}
		for n, cell := range row.Cells {
			if cell = strings.TrimSpace(cell); n >= len(sheet.Columns) || cell == "" {
				continue
			}
			c := sheet.Columns[n]
			if read[c.Field] && !isMergeable(c.Field) { // a person chose the field twice
				e.addRemark(c, cell)
				continue
			}
			read[c.Field] = true
			r.readCell(&e, c, cell)
		}
		e.splitBookPage(sheet.Columns)
		e.Swapped = slices.Contains(o.Swapped, e.Row) || slices.Contains(o.SwappedTypes, e.Fields["type"].Value)
		if e.Swapped {
			e.swapParties()
		}
		if len(e.Fields) > 0 || len(e.Relations) > 0 {
			sheet.Entries = append(sheet.Entries, e)
		}
	}
	return sheet
}

// swapParties exchanges grantors and grantees.
func (e *Entry) swapParties() {
	e.Fields["grantors"], e.Fields["grantees"] = e.Fields["grantees"], e.Fields["grantors"]
	maps.DeleteFunc(e.Fields, func(_ string, value model.Input) bool { return value.IsBlank() })
}

// interpreter converts cells to fields.
type interpreter struct {
	types   model.DocumentTypes
	now     time.Time
	isExcel bool
}

// readCell adds the value of a cell to an entry.
func (i *interpreter) readCell(e *Entry, c Column, cell string) {
	add := func(field, value string) { e.Fields[field] = model.StringInput(value) }
	switch c.Field {
	case LeaveOut:
	case Position:
		e.readPosition(c, cell)
	case "type":
		if t, found := i.types.Find(cell); found {
			cell = t.Name
		}
		add("type", cell)
	case "other_parties":
		e.addParties(c, cell)
	case "relations":
		e.readRelations(cell)
	case "status":
		e.readStatus(c, cell)
	case "dated", "cleared", "expires", "recorded":
		i.readDate(e, c.Field, cell)
	case "recorded_time":
		add("recorded_time", timeOfDay(cell))
	case "consideration":
		e.readConsideration(cell)
	case "consideration_text":
		add(c.Field, cell)
	case bookPageField:
		e.readBookPage(cell)
	case remarks:
		e.addRemark(c, cell)
	default:
		if column, _ := columnByField(c.Field); !column.isList {
			add(c.Field, cell)
			return
		}
		names := model.SplitNames(cell)
		if before, sent := e.Fields[c.Field]; sent {
			names = append(before.Texts(), names...)
		}
		e.Fields[c.Field] = model.StringsInput(names)
	}
}

// readPosition reads the No. of a row, which the page of a runsheet follows with notes.
func (e *Entry) readPosition(c Column, cell string) {
	if n, err := strconv.Atoi(strings.TrimSuffix(firstWord(cell), ".")); err == nil && n > 0 && n <= math.MaxInt32 {
		e.Position = n
	} else if cell != "New" {
		e.addRemark(c, cell)
	}
}

// readDate reads a date and, after the recording date, a time. A time of its own column wins.
func (i *interpreter) readDate(e *Entry, field, cell string) {
	latest := model.LatestPast(i.now)
	if field == "expires" {
		latest = model.LatestFuture(i.now)
	}
	day, at := i.dateAndTime(cell, latest)
	e.Fields[field] = model.StringInput(day)
	if field == "recorded" && at != "" && e.Fields["recorded_time"].IsBlank() {
		e.Fields["recorded_time"] = model.StringInput(at)
	}
}

// addRemark adds a cell to the remarks, with the heading of its column unless that is one of the remarks.
func (e *Entry) addRemark(c Column, cell string) {
	if c.Heading != "" && fieldsByTitle()[normalizeTitle(c.Heading)] != remarks {
		cell = c.Heading + ": " + cell
	}
	if before := e.Fields[remarks].Value; before != "" {
		cell = before + "\n" + cell
	}
	e.Fields[remarks] = model.StringInput(cell)
}

// addParties adds other parties. A heading such as Trustee is their role.
func (e *Entry) addParties(c Column, cell string) {
	list, title := e.Fields["other_parties"].Items, normalizeTitle(c.Heading)
	for _, party := range model.SplitParties(cell) {
		if party.Role == "" && !strings.Contains(party.Name, ":") && (title == "trustee" || title == "nominee") {
			party.Role = c.Heading
		}
		list = append(list, party.Input())
	}
	e.Fields["other_parties"] = model.ListInput(list...)
}

// readConsideration reads an amount or what the instrument says. A text of its own column wins.
func (e *Entry) readConsideration(cell string) {
	amount, says := model.ParseConsideration(cell)
	if amount != "" {
		e.Fields["consideration"] = model.StringInput(amount)
	}
	if says != "" && e.Fields["consideration_text"].IsBlank() {
		e.Fields["consideration_text"] = model.StringInput(says)
	}
}

// readRelations reads relations like "releases 3; references Bk 1022 Pg 311".
func (e *Entry) readRelations(cell string) {
	for _, text := range model.SplitNames(cell) {
		kind, target := cutKind(text)
		if kind == "" {
			kind, target = "references", text
		}
		e.addRelation(kind, target)
	}
}

// cutKind returns the kind of relation that a text starts with, and the rest.
func cutKind(text string) (kind, rest string) {
	for _, known := range model.RelationKinds() {
		if phrase := strings.ReplaceAll(known, "_", " ") + " "; len(text) > len(phrase) && strings.EqualFold(text[:len(phrase)], phrase) {
			return known, strings.TrimSpace(text[len(phrase):])
		}
	}
	return "", text
}

// addRelation adds a relation to the row with a No., or to a text.
func (e *Entry) addRelation(kind, target string) {
	if n, err := strconv.Atoi(strings.TrimPrefix(target, "#")); err == nil && n > 0 {
		e.Relations = append(e.Relations, RelationEntry{kind, n})
		return
	}
	relation := model.Relation{Kind: kind, Text: unquoteNumber(target)}
	e.Fields["relations"] = model.ListInput(append(e.Fields["relations"].Items, relation.Input())...)
}

// statusPart finds the parts of a status as the runsheet shows it: "Released Released by No. 3", or
// "Releases No. 2". Relations from the other side belong to other rows.
var statusPart = regexp.MustCompile(`(?i)\b(?:partially |re-)?(?:releases|released by|terminates|terminated by|assigns|assigned by|` +
	`modifies|modified by|subordinates|subordinated by|continues|continued by|renews|renewed by|corrects|corrected by|` +
	`records|recorded by|references|referenced by|names|affects|affected by)\s`)

// statusNames are the texts of statuses in lower case.
var statusNames = map[string]string{"open": model.InstrumentOpen, "in effect": model.InstrumentOpen, "active": model.InstrumentOpen,
	"unreleased": model.InstrumentOpen, "released": model.InstrumentReleased,
	"released or satisfied": model.InstrumentReleased, "satisfied": model.InstrumentReleased,
	"paid":    model.InstrumentReleased,
	"expired": model.InstrumentExpired, "not applicable": model.NotApplicable, "n/a": model.NotApplicable, "na": model.NotApplicable,
	"unknown": ""}

var otherSide = regexp.MustCompile(`(?i)^[a-z -]+ by (?:No\. [0-9]+|another instrument)$`)

// otherPlace finds where the page of a runsheet says that an instrument names another county, state, or parcel.
var otherPlace = regexp.MustCompile(`^Names (?:parcel (.+)|([^,]+?)(?: County| Parish)(?:, (.+))?)$`)

// addPlace adds parcels, a county, and a state. Those of separate columns win.
func (e *Entry) addPlace(parcels, county, state string) {
	if parcels != "" && e.Fields["parcels"].IsBlank() {
		e.Fields["parcels"] = model.StringsInput(strings.Split(parcels, ", "))
	}
	for field, value := range map[string]string{"county": county, "state": state} {
		if value != "" && e.Fields[field].IsBlank() {
			e.Fields[field] = model.StringInput(value)
		}
	}
}

// readStatus reads a status, followed by relations if it was copied from the page of a runsheet. Other text
// goes to the remarks.
func (e *Entry) readStatus(c Column, cell string) {
	cell = strings.Join(strings.Fields(cell), " ")
	parts := append(statusPart.FindAllStringIndex(cell, -1), []int{len(cell)})
	for n, part := range parts[:len(parts)-1] {
		text := strings.TrimSpace(cell[part[0]:parts[n+1][0]])
		if kind, target := cutKind(strings.Replace(text, "Re-records", "rerecords", 1)); kind != "" {
			e.addRelation(kind, strings.TrimSpace(strings.TrimPrefix(target, "No.")))
		} else if m := otherPlace.FindStringSubmatch(text); m != nil {
			e.addPlace(m[1], m[2], m[3])
		} else if !otherSide.MatchString(text) {
			e.addRemark(c, text)
		}
	}
	text := strings.TrimSpace(cell[:parts[0][0]])
	words := strings.Fields(strings.ToLower(text))
	for n := len(words); n > 0; n-- {
		known, found := statusNames[strings.Trim(strings.Join(words[:n], " "), ".,:;()-")]
		if !found {
			continue
		}
		if known != "" {
			e.Fields["status"] = model.StringInput(known)
		}
		if n == len(words) {
			return
		}
		break
	}
	if text != "" {
		e.addRemark(c, text)
	}
}

var (
	serial = regexp.MustCompile(`^[0-9]{1,5}(?:\.[0-9]+)?$`)
	clock  = regexp.MustCompile(`^(.*?)\s+([0-9]{1,2}:[0-9]{2}.*)$`)
)

// dateAndTime returns a date as YYYY-MM-DD, and a time if the cell has one. It returns a text that isn't a
// date unchanged, which model.Inputs rejects.
func (i *interpreter) dateAndTime(cell string, latest time.Time) (date, at string) {
	if day, at, ok := dayNumber(cell, i.isExcel); ok {
		return day.Format(time.DateOnly), at
	}
	if date := model.TypedDate(cell, latest); date != cell {
		return date, ""
	}
	if m := clock.FindStringSubmatch(cell); m != nil {
		if date := model.TypedDate(m[1], latest); date != m[1] || model.IsDate(date) {
			return date, m[2]
		}
	}
	return cell, ""
}

// dayNumber returns the date, and the time if there is one, of a number of days since 1900. Workbooks have such numbers,
// which are pasted as numbers, too, if their cells have no format. A number that can be a year is not a date.
func dayNumber(cell string, isExcel bool) (day time.Time, at string, ok bool) {
	whole, part, hasTime := strings.Cut(cell, ".")
	const longNumber, firstYear, lastYear = 5, "1600", "2199"
	isYear := len(whole) == len(firstYear) && whole >= firstYear && whole <= lastYear
	if !serial.MatchString(cell) || isYear || !isExcel && len(whole) != longNumber {
		return day, "", false
	}
	days, err := strconv.ParseFloat(cell, 64)
	day, dateErr := excelize.ExcelDateToTime(days, false)
	if err != nil || dateErr != nil {
		return day, "", false
	}
	if hasTime {
		at = timeOfDay("0." + part)
	}
	return day, at, true
}

// Shown returns the text of a cell for people: numbers of days and fractions of days as dates and times.
func (t Table) Shown(field, cell string) string {
	cell = strings.TrimSpace(cell)
	switch field {
	case "dated", "cleared", "expires", "recorded":
		if day, at, ok := dayNumber(cell, t.Excel); ok {
			return strings.TrimSpace(day.Format("1/2/2006 ") + at)
		}
	case "recorded_time":
		return timeOfDay(cell)
	}
	return cell
}

var fraction = regexp.MustCompile(`^0?\.[0-9]+$`)

// timeOfDay returns a time. In workbooks, it can be a fraction of a day.
func timeOfDay(cell string) string {
	if !fraction.MatchString(cell) {
		return cell
	}
	part, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	const day, hour, minute = 86_400, 3_600, 60
	seconds := int(part*day+0.5) % day
	return fmt.Sprintf("%02d:%02d", seconds/hour, seconds/minute%minute)
}
