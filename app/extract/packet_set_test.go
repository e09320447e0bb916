package extract_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
)

// packet is a document with several instruments, as OCR reads it.
type packet struct {
	pages  []extract.Page
	starts []int
	forms  []string
}

// quality is how well a packet was scanned.
type quality struct {
	name       string
	rate       float64 // of misread letters, in pages that aren't scans themselves
	confidence int
	low, high  int     // mean confidence of OCR in the scans that are used
	again      float64 // rate of misread letters that is added to the other scans; 0: they aren't used
}

// Pages of which OCR reads next to nothing are left out: they have nothing that tells where an instrument starts.
var (
	clean    = quality{name: "clean", rate: 0.0015, confidence: 95, low: 88, high: 100}
	degraded = quality{name: "degraded", rate: 0.012, confidence: 86, low: 50, high: 88, again: 0.012}
)

// recorderLayout is what an office prints on the pages that it records. Names in braces are values: the number, the book, the page, the
// date, the time, the page of the instrument, and how many there are.
type recorderLayout struct {
	office string
	first  string // on the first page, if the form has no stamp
	top    string // on every page but the first
	bottom string // on every page
	cover  string // a sheet before the instrument
	end    string // a sheet after it
	unseen bool   // only in packets that measure
}

var recorderLayouts = []recorderLayout{
	{office: "Florida", first: "CFN {num} OR BK {bk} PG {pg}\nRECORDED {date} {time}\n{n} PAGES\nCLERK OF THE CIRCUIT COURT", top: "OR BK " +
		"{bk} PG {at}"},
	{office: "Washington", first: "{num} {date} {time}\nRec Fee $104.50 Page {k} of {n}\nRECORDED County Auditor",
		top: "{num} Page {k} of {n} {date} {time}"},
	{office: "California", first: "Recorded in Official Records\nCounty Clerk-Recorder\nDOC# {num}\n{date} {time}\nTitles: 1 Pages: {n}",
		bottom: "Order: 3344 Doc: {num} Page {k} of {n}"},
	{office: "Texas", bottom: "VOL {bk} PAGE {at}", end: "FILED AND RECORDED\nOFFICIAL PUBLIC RECORDS\n\n{num}\n{date} {time}\nFee: $38.00\n" +
		"County Clerk\nAny provision herein which restricts the sale, rental, or use of the real property because of color or race\n" +
		"is invalid and unenforceable under Federal law.\n"},
	{office: "Pennsylvania", cover: "RECORDER OF DEEDS\nCounty Office Building\n\nINSTRUMENT NUMBER: {num}\nRECORDED DATE: {date} {time}\n" +
		"Document Type: {kind}\nTransaction Reference: eSecureFile\nDocument Page Count: {n}\nRETURN TO: (Simplifile)\nOperator Id: mlopez\n\n" +
		"THIS PAGE SHOULD NOT BE REMOVED OR DETACHED: it is now part of the legal document.\n", bottom: "Inst. # {num} - Page {k} of {n}"},
	{office: "New York", cover: "COUNTY CLERK RECORDING PAGE\n\nReturn to: BOX 14\nBook Type: D Book: {bk} Page: {pg}\nPage Count: {n}\n" +
		"Doc Type: {kind}\nRec Date: {date}\nRec Time: {time}\nControl #: {num}\nRecording Fee $45.00\nState of New York\n" +
		"WARNING: this sheet constitutes the Clerk's endorsement, required by Section 316-A(5) of the Real Property Law.\nDo not detach.\n"},
	{office: "Illinois", first: "Doc# {num} Fee: $98.00\nDATE: {date} {time} PG: 1 OF {n}\nCOUNTY CLERK", top: "{num} Page: {k} of {n}"},
	{office: "Colorado", first: "Reception #: {num}\n{date} {time}\nRec Fee: $23.00 Doc Fee: $0.00 Page: 1 of {n}",
		top: "{num} {date} {time} Page: {k} of {n}"},
	{office: "Tennessee", first: "BK/PG: {bk}/{pg}\n{num}\n{n} PGS : {kind}\nBATCH: 104233 {date} - {time}\nREGISTER OF DEEDS"},
	{office: "Michigan", first: "LIBER {bk} PAGE {pg}\nRECORDED {date} {time}\nReceipt # 22871\nRegister of Deeds", top: "LIBER {bk} PAGE " +
		"{at}"},
	{office: "Georgia", first: "Deed Book {bk} Page {pg}\nFiled and Recorded {date} {time}\nClerk of Superior Court", top: "Deed Book {bk} " +
		"Pg {at}"},
	{office: "Missouri", first: "RECORDER OF DEEDS\nInstrument #: {num}\nRecorded on: {date} at {time}\nPage: 1 of {n} Fee: $27.00"},
	{office: "North Carolina", first: "BK {bk} PG {pg} - {to} ({n})\nDOC# {num}\nThis Document eRecorded: {date} {time}\nRegister of Deeds",
		top: "BK {bk} PG {at}", bottom: "Prepared by and return to: Box 12"},
	{office: "none"},

	{office: "Massachusetts", unseen: true, first: "Bk: {bk} Pg: {pg} Doc: {num}\nPage: 1 of {n} {date} {time}\nRegistry of Deeds",
		top: "Bk: {bk} Pg: {at}"},
	{office: "Minnesota", unseen: true, first: "Doc No. {num}\nCertified, Filed and/or Recorded on\n{date} {time}\nOffice of the County " +
		"Recorder\nPages: {n}",
		bottom: "{k} of {n} {num}"},
	{office: "Ohio", unseen: true, cover: "COUNTY RECORDER\nDOCUMENT COVER SHEET\n\nFile Number {num}\nRecorded {date} {time}\nNumber of " +
		"Pages: {n}\n" +
		"Document Type {kind}\nConveyance fee 0.00\nDO NOT DISCARD: this sheet is a part of the recorded document.\n"},
	{office: "Oregon", unseen: true, first: "{date} {time}\n{num}\nD-{kind} Cnt=1 Stn=4 Pgs={n}\n$20.00 $11.00\nCounty Clerk certify that " +
		"the instrument " +
		"identified herein was recorded", top: "{num} {k}/{n}"},
	{office: "Kentucky", unseen: true, first: "Document No.: {num}\nLodged By: title co\nRecorded On: {date} {time}\nTotal Fees: 33.00\n" +
		"Book: D {bk} Page: {pg}",
		top: "D{bk} PG{at}"},
	{office: "Louisiana", unseen: true, cover: "Parish Clerk of Court\nRecording Page\n\nReceived From: abstract office\nIndex Type: " +
		"CONVEYANCES\n" +
		"File Number: {num}\nType of Document: {kind}\nRecording Pages: {n}\nOn (Recorded Date): {date}\nAt (Recorded Time): {time}\nDeputy " +
		"Clerk\n"},
}

// fillers are pages in the middle of long instruments.
var fillers = []string{
	"Borrower shall promptly discharge any lien which has priority over this Security Instrument unless Borrower: (a) agrees in\n" +
		"writing to the payment of the obligation secured by the lien in a manner acceptable to Lender, but only so long as Borrower is\n" +
		"performing such agreement; (b) contests the lien in good faith.\n\n5. Property Insurance. Borrower shall keep the improvements now\n" +
		"existing or hereafter erected on the Property insured against loss by fire and hazards included within the term extended coverage.\n\n" +
		"6. Occupancy. Borrower shall occupy, establish, and use the Property as Borrower's principal residence within 60 days after the\n" +
		"execution of this Security Instrument.\n\nForm 3036 1/01 (page 6 of 14 pages)\n",
	"and said right of way to be used for the purpose of ingress and egress only, and the parties of the second part, their heirs and\n" +
		"assigns, shall have the right to cut and trim trees. The mortgage recorded in Mortgage Book 411, Page 19 shall be subordinate\n" +
		"to the rights herein granted.\n\nThe said grantors covenant with the said grantees that they are lawfully seized in fee simple of\n" +
		"the premises, and have good right to sell and convey the same; that the same is free from all encumbrances except as stated.\n",
	"Section 4.2 Assessments. Each Owner of a Lot by acceptance of a deed therefor covenants and agrees to pay to the Association\n" +
		"(a) annual assessments or charges and (b) special assessments for capital improvements, to be fixed as hereinafter provided.\n" +
		"Section 4.3 Lien. The assessments, together with interest, costs, and attorney's fees, shall be a continuing lien upon the Lot.\n",
	"NON-UNIFORM COVENANTS. Borrower and Lender further covenant and agree as follows:\n\n22. Acceleration; Remedies. Lender shall give\n" +
		"notice to Borrower prior to acceleration following Borrower's breach of any covenant or agreement in this Security Instrument.\n" +
		"The notice shall specify: (a) the default; (b) the action required to cure the default; (c) a date, not less than 30 days from\n" +
		"the date the notice is given to Borrower, by which the default must be cured.\n\nInitials: ____ ____\n",
}

// addenda are pages that are recorded as a part of an instrument, beside those in attached.
var addenda = []string{
	"EXHIBIT \"B\"\nPERMITTED EXCEPTIONS\n\n1. Taxes for the current year, not yet due and payable.\n2. Easement to Gossamer Power Company\n" +
		"recorded in Book 244, Page 118.\n3. Declaration of Covenants recorded as Instrument No. 1998004411.\n",
	"ADJUSTABLE RATE RIDER\n\nTHIS ADJUSTABLE RATE RIDER is made this 9th day of June, 2006, and is incorporated into and shall be deemed\n" +
		"to amend and supplement the Mortgage, Deed of Trust or Security Deed of the same date given by the undersigned.\n" +
		"IN WITNESS WHEREOF Borrower accepts and agrees to the terms.\n",
	"SCHEDULE A\nDESCRIPTION OF PREMISES\n\nALL that certain plot, piece or parcel of land, with the buildings and improvements thereon " +
		"erected,\n" +
		"situate, lying and being in the Town of Gossamer, bounded and described as follows: BEGINNING at a point on the northerly side\n" +
		"of Main Street distant 120 feet from the corner; THENCE northerly 100 feet to a point.\n",
	"STATE OF OHIO )\n) SS:\nCOUNTY OF SUMMIT )\n\nOn this day before me, a notary public, personally appeared the persons named above, " +
		"who\n" +
		"acknowledged the signing of the foregoing instrument to be their voluntary act and deed.\n\nNotary Public\n",
	"CERTIFICATE OF TRUE COPY\n\nI, the undersigned clerk, certify that the foregoing is a true and correct copy of the instrument as " +
		"filed\n" +
		"in this office. Witness my hand and seal of office.\nDeputy Clerk\n",
	"CONDOMINIUM RIDER\n\nTHIS CONDOMINIUM RIDER is made this 9th day of June, 2006, and is incorporated into and shall be deemed to amend\n" +
		"and supplement the Mortgage of the same date given by the undersigned to secure Borrower's Note.\n",
}

// packetSource is an instrument that a packet may have.
type packetSource struct {
	form   string
	lines  []extract.Line
	fields map[string][]string
}

// packetSources returns the instruments of a set: its scans and, except for the one that only measures, the generated texts.
func packetSources(t testing.TB, set string, q quality, r *rand.Rand) (list []packetSource) {
	t.Helper()
	for _, d := range readScans(t, set) {
		s := packetSource{form: d.Form, fields: d.Fields}
		sum, count := 0, 0
		for _, page := range d.Pages {
			for _, line := range page {
				s.lines = append(s.lines, extract.Line(line))
				for _, c := range line.Confidence {
					sum += c
					count++
				}
			}
		}
		switch mean := sum / max(count, 1); {
		case mean >= q.low && mean < q.high:
			list = append(list, s)
		case mean >= q.high && q.again > 0:
			s.lines = readAgain(r, s.lines, q.again)
			list = append(list, s)
		}
	}
	if set == fitSet {
		for _, d := range generateDocuments(t, 41, 160) {
			list = append(list, packetSource{form: d.form, fields: d.fields, lines: scan(r, d.text, q.rate, q.confidence).Lines})
		}
	}
	return list
}

// readAgain misreads letters of a scan.
func readAgain(r *rand.Rand, lines []extract.Line, rate float64) (list []extract.Line) {
	for _, line := range lines {
		read := extract.Line{}
		for n, word := range strings.Fields(line.Text) {
			seen := strings.Join(strings.Fields(misread(r, word, rate)), "")
			if seen == "" {
				continue
			}
			sure := line.Confidence[min(n, len(line.Confidence)-1)]
			if seen != word && r.IntN(100) < 80 {
				sure = 15 + r.IntN(65)
			}
			read.Text = strings.TrimPrefix(read.Text+" "+seen, " ")
			read.Confidence = append(read.Confidence, sure)
		}
		list = append(list, read)
	}
	return list
}

// generatePackets returns packets of 4 to 12 instruments of a set, always the same ones.
func generatePackets(t testing.TB, set string, q quality, count int) (list []packet) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(len(set)), uint64(len(q.name))))
	sources := packetSources(t, set, q, r)
	var layouts []recorderLayout
	for _, l := range recorderLayouts {
		if set == heldOutSet || !l.unseen {
			layouts = append(layouts, l)
		}
	}
	var left []packetSource
	for range count {
		w := packetWriter{r: r, quality: q, layouts: layouts, office: pick(r, layouts)}
		for range 4 + r.IntN(9) {
			if len(left) == 0 {
				left = slices.Clone(sources)
				r.Shuffle(len(left), func(a, b int) { left[a], left[b] = left[b], left[a] })
			}
			// Scans with the same number were generated from the same values.
			next := max(slices.IndexFunc(left, func(s packetSource) bool { return !w.isLikeLast(s) }), 0)
			w.last = left[next]
			w.add(left[next])
			left = slices.Delete(left, next, next+1)
		}
		list = append(list, w.packet)
	}
	return list
}

// packetWriter assembles a packet.
type packetWriter struct {
	packet
	r       *rand.Rand
	quality quality
	layouts []recorderLayout
	office  recorderLayout
	next    int // the number of the next instrument, if they were recorded together
	last    packetSource
}

// isLikeLast reports whether an instrument has the number or the book of the last one.
func (w *packetWriter) isLikeLast(s packetSource) bool {
	return slices.ContainsFunc([]string{"instrument_number", "book"}, func(name string) bool {
		return s.fields[name] != nil && slices.Equal(s.fields[name], w.last.fields[name])
	})
}

// ownCount matches how many pages an instrument has, in the stamp of a form.
var ownCount = regexp.MustCompile(`(?i)\b((?:no\. of |number of |# of )?(?:pages|pgs)[: ]+|page:? 1 of )\d{1,3}\b|\b\d{1,2}( (?:pages|` +
	`pgs)\b)`)

// add adds an instrument with its attachments and what the office prints on it.
func (w *packetWriter) add(s packetSource) {
	r, office := w.r, w.office
	if r.IntN(5) == 0 {
		office = pick(r, w.layouts)
	}
	read := func(text string) extract.Page { return scan(r, text, w.quality.rate, w.quality.confidence) }
	var pages []extract.Page
	height := 26 + r.IntN(50)
	for part := range slices.Chunk(slices.Clone(s.lines), height) {
		pages = append(pages, extract.Page{Lines: part})
	}
	if len(pages) > 1 && r.IntN(3) == 0 {
		at := len(pages) - 1
		for range 1 + r.IntN(3) {
			pages = slices.Insert(pages, at, read(pick(r, fillers)))
		}
	}
	bare := len(pages)
	for range max(r.IntN(5)-2, 0) {
		pages = append(pages, read(pick(r, slices.Concat(attached, addenda))))
	}
	m := w.values(s, len(pages))
	if office.cover != "" {
		m.count++
	}
	if office.end != "" {
		m.count++
	}
	stamped := s.fields["instrument_number"] != nil || s.fields["book"] != nil
	first := pages[0].Lines
	for n := range first[:min(len(first), 20)] {
		first[n] = extract.Line{Text: ownCount.ReplaceAllString(first[n].Text, "${1}"+strconv.Itoa(m.count)+"${2}"),
			Confidence: first[n].Confidence}
	}
	midPage := office.cover == "" && len(w.pages) > 0 && r.IntN(10) == 0 && len(w.pages[len(w.pages)-1].Lines) < 22 &&
		len(w.pages[len(w.pages)-1].Lines) > 0 && w.starts[len(w.starts)-1] < len(w.pages)
	if office.cover != "" {
		pages = slices.Insert(pages, 0, read(m.text(office.cover, 1)))
	} else if !stamped && office.first != "" && !midPage {
		pages[0].Lines = slices.Concat(read(m.text(office.first, 1)).Lines, pages[0].Lines)
	}
	if office.end != "" {
		pages = append(pages, read(m.text(office.end, len(pages)+1)))
	}
	for n := range pages {
		isCover := n == 0 && office.cover != ""
		if n > 0 && office.top != "" && len(pages[n].Lines) > 0 {
			pages[n].Lines = slices.Concat(read(m.text(office.top, n+1)).Lines, pages[n].Lines)
		}
		if office.bottom != "" && !isCover && len(pages[n].Lines) > 0 {
			pages[n].Lines = slices.Concat(pages[n].Lines, read(m.text(office.bottom, n+1)).Lines)
		}
	}
	if office.top == "" && office.bottom == "" && bare > 1 && r.IntN(3) == 0 { // the form numbers its pages
		for n := range pages[:bare] {
			pages[n].Lines = slices.Concat(pages[n].Lines, read(fmt.Sprintf(pick(r, []string{"Page %d of %d", "(page %d of %d pages)"}), n+1,
				bare)).Lines)
		}
	}
	if r.IntN(9) == 0 { // the back of the last sheet
		pages = append(pages, extract.Page{})
	}
	if midPage {
		last := &w.pages[len(w.pages)-1]
		w.starts = append(w.starts, len(w.pages))
		last.Lines = slices.Concat(last.Lines, pages[0].Lines)
		pages = pages[1:]
	} else {
		w.starts = append(w.starts, len(w.pages)+1)
	}
	w.pages, w.forms = append(w.pages, pages...), append(w.forms, s.form+" "+office.office)
}

// recordedValues are the values in what an office prints.
type recordedValues struct {
	number, book, kind string
	page, count        int
	at                 time.Time
	dateLayout         string
}

// values returns the values of an instrument: those that it states, and others.
func (w *packetWriter) values(s packetSource, count int) recordedValues {
	r := w.r
	value := func(name string) string { return strings.Join(s.fields[name], "") }
	v := recordedValues{number: value("instrument_number"), book: value("book"), kind: strings.ToUpper(value("type")), count: count,
		dateLayout: pick(r, []string{"01/02/2006", "01/02/2006", "January 2, 2006", "01-02-2006"})}
	v.at, _ = time.Parse(time.DateOnly, value("recorded"))
	if v.at.IsZero() {
		v.at = time.Date(1990+r.IntN(34), time.Month(1+r.IntN(12)), 1+r.IntN(28), 9, 0, 0, 0, time.UTC)
	}
	v.at = v.at.Add(time.Duration(8*60+r.IntN(480)) * time.Minute)
	if w.next == 0 || r.IntN(2) == 0 {
		w.next = v.at.Year()*10000000 + r.IntN(900000)
	}
	w.next++
	if v.number == "" {
		v.number = strconv.Itoa(w.next)
	}
	if v.book == "" {
		v.book = strconv.Itoa(100 + r.IntN(9000))
	}
	v.page, _ = strconv.Atoi(value("page"))
	if v.page == 0 {
		v.page = 1 + r.IntN(1200)
	}
	return v
}

// text returns a text with the values for a page of the instrument.
func (v recordedValues) text(layout string, page int) string {
	return strings.NewReplacer("{num}", v.number, "{bk}", v.book, "{pg}", strconv.Itoa(v.page), "{at}", strconv.Itoa(v.page+page-1),
		"{to}", strconv.Itoa(v.page+v.count-1), "{date}", v.at.Format(v.dateLayout), "{time}", v.at.Format("3:04:05 PM"),
		"{k}", strconv.Itoa(page), "{n}", strconv.Itoa(v.count), "{kind}", v.kind).Replace(layout)
}

// cutScore counts starts of instruments.
type cutScore struct{ right, missed, wrong int }

func (s cutScore) String() string {
	return fmt.Sprintf("%d of %d starts found (%.1f%%), %d of %d reported are wrong (%.1f%%)", s.right, s.right+s.missed, s.found(), s.wrong,
		s.right+s.wrong, s.falseShare())
}

func (s cutScore) found() float64 { return 100 * float64(s.right) / float64(max(s.right+s.missed, 1)) }
func (s cutScore) falseShare() float64 {
	return 100 * float64(s.wrong) / float64(max(s.right+s.wrong, 1))
}

// scorePackets compares the starts that were read with those of packets. The first page of a packet doesn't count.
func scorePackets(t testing.TB, list []packet, show bool) (s cutScore) {
	t.Helper()
	for n, p := range list {
		starts := extract.Starts(p.pages, extract.DefaultRules(), time.Now())
		for k, page := range p.starts[1:] {
			if slices.Contains(starts, page) {
				s.right++
				continue
			}
			s.missed++
			if show {
				t.Logf("packet %d: missed page %d, %s after %s\n%s  now\n%s", n, page, p.forms[k+1], p.forms[k], showPage(p.pages[page-2]),
					showPage(p.pages[page-1]))
			}
		}
		for _, page := range starts[1:] {
			if slices.Contains(p.starts, page) {
				continue
			}
			s.wrong++
			if show {
				t.Logf("packet %d: wrong page %d of %v (%s)\n%s  now\n%s", n, page, p.starts, extract.CutReasons(p.pages, extract.DefaultRules(),
					time.Now())[page], showPage(p.pages[page-2]), showPage(p.pages[page-1]))
			}
		}
	}
	return s
}

// showPage returns the first and the last lines of a page.
func showPage(page extract.Page) string {
	if len(page.Lines) <= 24 {
		return show(page)
	}
	return show(extract.Page{Lines: slices.Concat(page.Lines[:18], []extract.Line{{Text: "..."}}, page.Lines[len(page.Lines)-5:])})
}
