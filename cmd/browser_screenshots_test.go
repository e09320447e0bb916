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

// takeScreenshots returns the compressed screenshots by path.
func (f *firm) takeScreenshots(t *testing.T, b *tab) map[string][]byte {
	shots := map[string][]byte{}
	take := func(dir, name string) { shots[dir+"/"+name+".png"] = b.compressedScreenshot(t) }
	viewed := fmt.Sprintf("/documents/%d?in=abstract:%s", f.files[titleDocuments[2].name], f.abstract)

	b.goTo("/")
	b.waitImages()
	take(readmeScreenshots, "desk")
	b.goTo("/abstracts/" + f.abstract)
	b.waitImages()
	take(readmeScreenshots, "abstract")
	b.goTo(viewed)
	b.waitPageImage(1)
	b.waitImages()
	take(readmeScreenshots, "viewer")
	b.goTo("/")
	b.waitImages()
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("quillfeather")
	b.waitResults("Warranty deed")
	take(readmeScreenshots, "search")

	b.setSize(1000, 620)
	b.goTo("/")
	b.waitImages()
	take(guideScreenshots, "desk")
	b.goTo("/abstracts/" + f.abstract)
	eval[bool](b, `(() => { document.querySelector("#documents").scrollIntoView(); return true })()`)
	b.waitImages()
	take(guideScreenshots, "documents")
	b.goTo(viewed)
	b.waitPageImage(1)
	b.press("?")
	b.waitVisible("[data-dialog=keys]")
	take(guideScreenshots, "viewer")
	b.goTo("/find?q=quillfeather")
	b.waitImages()
	take(guideScreenshots, "search")
	return shots
}

// compressedScreenshot returns the window as a PNG file with the 256 most frequent colors.
func (b *tab) compressedScreenshot(t *testing.T) []byte {
	t.Helper()
	eval[bool](b, `(() => { document.activeElement?.matches("main, body") || document.querySelector("dialog[open]") || document.activeElement.blur(); return true })()`)
	captured := call(b, pageproto.CaptureScreenshot, pageproto.CaptureScreenshotParams{Format: pageproto.CaptureScreenshotFormatPng})
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
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	f.client = client.New(f.origin, f.command("", "keys", "create", "Title software", "--quiet"), transport)
	ctx := t.Context()
	f.createOfficeOrders(ctx)
	f.createOfficeAbstracts(ctx)
	f.waitProcessed(ctx)
	f.command("", "backup", "create", "--to", filepath.Join(t.TempDir(), "backup"))
	return f
}

// property is a property with an order and an abstract.
type property struct{ street, city, parcel, owner, client, product, status string }

var properties = []property{
	{"88 Candlewick Hollow Road", "Merriweather", "12-3-045", "Brindlewood Orchard Holdings, LLC", "Tollgate Savings Bank", "60 Year", "In Exam"},
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
				"effective_date": "2026-11-18", "search_from": "1966-11-18", "deed_book_page": "Bk 2417, Pg 883",
				"vesting":    "Brindlewood Orchard Holdings, LLC, a Pennsylvania limited liability company",
				"tax_status": "Paid", "borrower": "Jordan and Riley Hart", "subdivision_lot_block": "Orchard Ridge, Lot 45",
				"indices_searched": []string{"Grantor/Grantee", "Mortgages", "Judgments", "Federal/State Tax Liens", "Plats"},
				"names_run":        "Harlan T. Quillfeather\nOdessa M. Quillfeather\nBrindlewood Orchard Holdings, LLC",
				"legal_description": "ALL THAT CERTAIN lot or tract of land situate in the Borough of Merriweather, County of Wexcombe, " +
					"being Lot 45 on the plan of Orchard Ridge, recorded in Plat Book 12, Page 31, containing 2.418 acres, more or less.",
				"exceptions": "Sewer easement, Bk 988, Pg 411\nOpen-end mortgage to Tollgate Savings Bank, Bk 2417, Pg 887",
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
