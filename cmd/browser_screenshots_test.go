//go:build browser

package cmd_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	pageproto "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

const (
	readmeScreenshots   = "../.github/screenshots"
	guideScreenshots    = "../app/guides/screenshots"
	maxScreenshotsBytes = 1_000_000 // of all screenshots together
)

// The screenshots in README.md and in the guides can be taken, and together they are small. If
// DEEDKEEP_RETAKE_SCREENSHOTS is set, the test saves them:
//
//	DEEDKEEP_RETAKE_SCREENSHOTS=1 go test -tags browser -run TestDocumentScreenshots ./cmd
func TestDocumentScreenshots(t *testing.T) {
	env := newBrowserEnv(t)
	office := env.newOffice(t)
	b := env.newTab(t, office.origin)
	b.setSize(1280, 800)
	b.setTheme("light")
	b.signIn(staff)
	office.waitSearchable(b, "quillfeather")
	shots := office.takeScreenshots(t, b)
	for path, picture := range shots {
		if os.Getenv("DEEDKEEP_RETAKE_SCREENSHOTS") == "" {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("screenshot %s: %v", path, err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			t.Fatalf("write screenshot: %v", err)
		}
	}
	total := 0
	for _, dir := range []string{readmeScreenshots, guideScreenshots} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatalf("list screenshots: %v", err)
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil {
				t.Fatalf("stat screenshot: %v", err)
			}
			total += int(info.Size())
			if _, taken := shots[dir+"/"+entry.Name()]; !taken {
				t.Errorf("%s/%s: this test doesn't take it", dir, entry.Name())
			}
		}
	}
	if total > maxScreenshotsBytes {
		t.Errorf("screenshots: got %d bytes, want at most %d", total, maxScreenshotsBytes)
	}
}

// takeScreenshots returns the compressed screenshots by path. The panel beside a deed is taken before the deed
// is in the runsheet, and the certificate last.
func (f *firm) takeScreenshots(t *testing.T, b *tab) map[string][]byte {
	shots := map[string][]byte{}
	take := func(name string, dirs ...string) {
		picture := b.compressedScreenshot(t)
		for _, dir := range dirs {
			shots[dir+"/"+name+".png"] = picture
		}
	}
	viewed := fmt.Sprintf("/documents/%d?in=abstract:%s", f.files[titleDocuments[2].name], f.abstract)
	abstract := "/abstracts/" + f.abstract

	b.goTo(viewed)
	b.waitPageImage(1)
	b.waitImages()
	b.press("i")
	b.waitFor(inType)
	b.waitVisible(".panel-suggested | Grantor")
	b.pressWith(withShift, kb.F4)
	b.waitFor(`document.getElementById("instrument-grantors").value.includes("QUILLFEATHER")`)
	take("panel", readmeScreenshots, guideScreenshots)

	f.recordDeed(t.Context())
	b.setSize(1500, 900)
	b.expect("dialog: beforeunload") // the form in the panel isn't saved
	b.goTo(abstract)
	b.waitVisible(".runsheet .gap")
	b.scrollTo("#runsheet")
	take("runsheet", readmeScreenshots, guideScreenshots)
	b.setSize(1280, 800)
	b.goTo("/")
	b.waitImages()
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("quillfeather")
	b.waitResults("Warranty deed")
	take("search", readmeScreenshots)

	b.setSize(1000, 620)
	b.goTo("/")
	b.waitImages()
	take("desk", guideScreenshots)
	b.goTo(abstract + "?view=documents")
	b.scrollTo("#documents")
	b.waitImages()
	take("documents", guideScreenshots)
	b.goTo(viewed)
	b.waitPageImage(1)
	b.press("?")
	b.waitVisible("[data-dialog=keys]")
	take("viewer", guideScreenshots)
	b.goTo("/find?q=quillfeather")
	b.waitImages()
	take("search", guideScreenshots)

	b.goTo(abstract)
	b.click("#certificates a | Certify search")
	b.fill("#effective_date", "2026-11-18")
	b.fill("#effective_time", "8:00 AM")
	b.acceptFindings("Estate 41-1987-0212: Eudora is the sole devisee.")
	b.clickLink("#certificates button.primary | Certify search")
	b.waitVisible(".notice | Search certified.")
	b.setSize(1280, 600)
	b.goTo(abstract + "/print")
	b.scrollTo("#print-names")
	take("certificate", readmeScreenshots, guideScreenshots)
	return shots
}

// scrollTo scrolls an element to the top of the window.
func (ta *tab) scrollTo(selector string) {
	ta.t.Helper()
	eval[bool](ta, fmt.Sprintf(`(() => { document.querySelector(%q).scrollIntoView(); return true })()`, selector))
}

// compressedScreenshot returns the window as a PNG file with the 256 most frequent colors.
func (ta *tab) compressedScreenshot(t *testing.T) []byte {
	t.Helper()
	eval[bool](ta, `(() => { document.activeElement?.matches("main, body") || document.querySelector("dialog[open]") || document.activeElement.blur(); return true })()`)
	captured := call(ta, pageproto.CaptureScreenshot, pageproto.CaptureScreenshotParams{Format: pageproto.CaptureScreenshotFormatPng})
	full, err := png.Decode(bytes.NewReader(captured.Data))
	if err != nil {
		t.Fatalf("decode screenshot: %v", err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, withPalette(full)); err != nil {
		t.Fatalf("encode screenshot: %v", err)
	}
	return out.Bytes()
}

// withPalette returns the picture with its 256 most frequent colors. Other colors become the
// nearest one of them.
func withPalette(full image.Image) *image.Paletted {
	area := full.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA {
		c, _ := color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)
		return c
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for c := range count {
		nearest[c] = uint8(palette.Index(c)) // the palette has at most 256 colors
	}
	out := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return out
}

// titleDocuments are the documents of the abstract in the screenshots.
var titleDocuments = []namedSample{
	{"01 Title report.docx", "title/title-report.docx"},
	{"02 Runsheet.xlsx", "title/runsheet.xlsx"},
	{"03 Warranty deed Bk 2417 Pg 883 Quillfeather to Brindlewood.pdf", "title/warranty-deed-g4-ocr-layer.pdf"},
	{"04 Open-end mortgage Bk 2417 Pg 887 Tollgate Savings Bank.pdf", "title/open-end-mortgage.pdf"},
	{"05 Plat Orchard Ridge.pdf", "title/plat-24x36-vector.pdf"},
	{"06 Judgment and lien search.txt", "title/judgment-search-utf8.txt"},
	{"07 Recorded deed (photo).jpg", "title/recorded-deed-phone-photo.jpg"},
}

// newOffice starts a server with the records that the screenshots show, and waits until the
// documents are processed.
func (env *browserEnv) newOffice(t *testing.T) *firm {
	t.Helper()
	f := &firm{testServer: env.newServer(t, "DEEDKEEP_TIME_ZONE=America/New_York"), files: map[string]int64{}}
	f.createUser(admin, "admin")
	f.createUser(staff, "staff")
	f.command("", "users", "profile", staff, "--full-name", "Samantha Reyes", "--title", "Senior Title Examiner")
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	f.client = client.New(f.origin, f.command("", "keys", "create", "Title software", "--quiet"), transport)
	ctx := t.Context()
	f.createOfficeOrders(ctx)
	f.createOfficeAbstracts(ctx)
	f.recordChain(ctx)
	f.recordWork(ctx)
	f.waitProcessed(ctx)
	f.command("", "backup", "create", "--to", filepath.Join(t.TempDir(), "backup"))
	return f
}

// property is a property with an order and an abstract.
type property struct{ street, city, parcel, owner, client, product, status string }

var properties = []property{
	{"88 Candlewick Hollow Road", "Nether Gossamer", "47-0312-B-119.04", "Brindlewood Orchard Holdings, LLC", "Tollgate Savings Bank",
		"Full Search", "In Exam"},
	{"220 Mill Pond Lane", "Harlow", "21-4-117", "Dana and Robin Birch", "Keystone Settlement Services", "Full Search", "In Search"},
	{"1175 Old Stage Highway", "Harlow", "21-7-032", "Casey Alder", "First Wexcombe Bank", "Current Owner", "Needs Curative"},
	{"8 Courthouse Square", "Merriweather", "12-1-009", "Marchbanks Family Trust", "Harlow Savings Bank", "60 Year", "In Search"},
	{"3 Ferry Street", "Port Gossamer", "30-2-201", "Eudora Pennyfarthing", "Keystone Settlement Services", "Two Owner", "New"},
	{"96 Quarry Hill Road", "Harlow", "21-9-076", "Skylark Tower Sites, Inc.", "Tollgate Savings Bank", "Full Search", "Complete"},
	{"14 Orchard Ridge Road", "Merriweather", "12-3-061", "Jordan and Riley Hart", "First Wexcombe Bank", "Update", "Complete"},
	{"510 Tannery Row", "Port Gossamer", "30-5-014", "Morgan Cedar", "Harlow Savings Bank", "30 Year", "In Exam"},
	{"41 Lantern Court", "Merriweather", "12-6-118", "Taylor and Sam Winslow", "Keystone Settlement Services", "Current Owner", "New"},
	{"702 Gristmill Road", "Harlow", "21-2-055", "Avery Stone", "Tollgate Savings Bank", "60 Year", "Complete"},
}

func (f *firm) createOfficeOrders(ctx context.Context) {
	for n, p := range properties {
		due := time.Now().AddDate(0, 0, []int{-2, 0, -1, 1, 2, 3, 4, 5, 6, 7}[n]).Format(time.DateOnly)
		_, err := f.client.CreateOrder(ctx, client.OrderDraft{
			OrderNumber: fmt.Sprintf("2026-%04d", 411+n*3), DueDate: due,
			Address: p.street, City: p.city, County: "Wexcombe", State: "PA",
			CustomFields: map[string]any{"client": p.client, "product": p.product, "buyer_borrower": p.owner, "parcel_id": p.parcel},
		})
		f.must(err)
	}
}

func (f *firm) createOfficeAbstracts(ctx context.Context) {
	for n := len(properties) - 1; n >= 0; n-- {
		p := properties[n]
		fields := map[string]any{"file_number": fmt.Sprintf("TT-2026-%04d", 411+n*3), "search_type": p.product, "current_owner": p.owner}
		draft := client.AbstractDraft{Address: p.street, City: p.city, County: "Wexcombe", State: "PA", TaxMap: p.parcel, CustomFields: fields}
		if n == 0 {
			maps.Copy(fields, map[string]any{
				"effective_date": "2026-11-18", "search_from": "1921-07-02", "deed_book_page": "Bk 2417, Pg 883",
				"vesting":    "Brindlewood Orchard Holdings, LLC, a Pennsylvania limited liability company",
				"tax_status": "Paid", "borrower": "Brindlewood Orchard Holdings, LLC",
				"indices_searched": []string{"Grantor/Grantee", "Mortgages", "Judgments", "Federal/State Tax Liens", "Plats"},
				"legal_description": "ALL THAT CERTAIN tract or parcel of land situate in the Township of Nether Gossamer, County of " +
					"Wexcombe, Commonwealth of Pennsylvania, being Tax Map Parcel 47-0312-B-119.04, recorded in Plan Book 58, Page 22.",
			})
			draft.Files = openSamples(f.t, titleDocuments)
		}
		created, err := f.client.CreateAbstract(ctx, draft)
		f.must(err)
		if len(created.Errors) > 0 {
			f.t.Fatalf("create abstract with documents: got errors %+v, want none", created.Errors)
		}
		_, err = f.client.PatchAbstract(ctx, created.Data.ID, client.Patch{"status": p.status})
		f.must(err)
		f.abstract = created.Data.ID
		f.addFiles(created.Data.Files)
	}
}

// recordChain records the instruments of the property before the deed in the screenshots. No instrument conveys to
// Eudora Pennyfarthing, which is the gap, and the first mortgage is satisfied.
func (f *firm) recordChain(ctx context.Context) {
	owners := []string{"Harlan T. Quillfeather", "Odessa M. Quillfeather"}
	record := func(kind, book, page, dated, recorded string, grantors, grantees []string, more map[string]any) int64 {
		fields := map[string]any{"type": kind, "book_type": "Deed Book", "book": book, "page": page, "dated": dated, "recorded": recorded,
			"grantors": grantors, "grantees": grantees}
		maps.Copy(fields, more)
		return f.addInstrument(ctx, f.abstract, fields)
	}
	record("Warranty Deed", "212", "77", "1921-06-30", "1921-07-02", []string{"Ambrose Lanternhouse"}, []string{"Silas Pennyfarthing"},
		map[string]any{"remarks": "Reserves coal, oil, and gas"})
	record("Easement or Right of Way", "877", "412", "1956-05-14", "1956-05-21", []string{"Silas Pennyfarthing"},
		[]string{"Gossamer Valley Electric Cooperative"}, map[string]any{"remarks": "Pole line, 30 feet"})
	record("Warranty Deed", "1106", "241", "1998-09-03", "1998-09-08", []string{"Eudora Pennyfarthing"}, owners,
		map[string]any{"recorded_time": "09:10", "consideration_text": "$92,000"})
	mortgage := record("Mortgage", "640", "112", "1998-09-03", "1998-09-08", owners, []string{"Harlow Savings Bank"},
		map[string]any{"recorded_time": "09:11", "book_type": "Mortgage Book", "consideration_text": "$73,600"})
	record("Release or Satisfaction", "1288", "51", "2009-09-22", "2009-10-01", []string{"Harlow Savings Bank"}, owners,
		map[string]any{"book_type": "Mortgage Book", "relations": []map[string]any{{"kind": "releases", "instrument_id": mortgage}}})
	record("Lease", "2290", "31", "2015-02-02", "2015-02-20", owners, []string{"Skylark Tower Sites, Inc."},
		map[string]any{"remarks": "Memorandum of lease, cell tower"})
	record("Mortgage", "2417", "887", "2019-04-15", "2019-04-17",
		[]string{"Brindlewood Orchard Holdings, LLC"}, []string{"Tollgate Savings Bank"},
		map[string]any{"book_type": "", "consideration_text": "$310,000", "remarks": "Open-end", "documents": f.document(3)})
}

// recordWork records the names run, a requirement, and an exception of the property in the screenshots.
func (f *firm) recordWork(ctx context.Context) {
	put := func(part string, rows ...map[string]any) {
		f.must(f.client.Do(ctx, http.MethodPut, "/v1/abstracts/"+f.abstract+"/"+part, map[string]any{"rows": rows}, &struct{}{}))
	}
	var names []map[string]any
	for _, n := range []struct{ name, from, result string }{
		{"Quillfeather, Harlan T.", "1998-09-08", "2014-ML-00077, municipal lien, $318.55"},
		{"Quillfeather, Odessa M., a/k/a Odessa Mae", "1998-09-08", "None found"},
		{"Brindlewood Orchard Holdings, LLC", "2019-04-17", "Mortgage, Bk 2417, Pg 887"},
	} {
		names = append(names, map[string]any{"name": n.name, "from": n.from, "to": "2026-11-18", "result": n.result,
			"indexes": []string{"Deeds", "Mortgages", "Judgments"}})
	}
	put("names-run", names...)
	put("requirements",
		map[string]any{"kind": "requirement", "text": "Satisfaction of the open-end mortgage to Tollgate Savings Bank, Bk 2417, Pg 887."},
		map[string]any{"kind": "requirement", "text": "Satisfaction of municipal lien 2014-ML-00077."},
		map[string]any{"kind": "exception", "text": "Right of way to Gossamer Valley Electric Cooperative, Bk 877, Pg 412."})
}

// recordDeed records the deed in the screenshots.
func (f *firm) recordDeed(ctx context.Context) {
	f.addInstrument(ctx, f.abstract, map[string]any{"type": "Warranty Deed", "book_type": "Deed Book", "book": "2417", "page": "883",
		"instrument_number": "201904170093382", "dated": "2019-04-15", "recorded": "2019-04-17", "consideration_text": "$387,500",
		"grantors": []string{"Harlan T. Quillfeather", "Odessa M. Quillfeather"}, "grantees": []string{"Brindlewood Orchard Holdings, LLC"},
		"documents": f.document(2)})
}

// document returns a reference to one of titleDocuments for an instrument.
func (f *firm) document(n int) []map[string]any {
	return []map[string]any{{"file_id": f.files[titleDocuments[n].name]}}
}
