//go:build browser

package cmd_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// sampleFile returns the path of a sample file.
func sampleFile(t *testing.T, path string) string {
	t.Helper()
	for _, s := range vaulttest.Samples(t) {
		if s.Path == path {
			file, err := filepath.Abs(s.File)
			if err != nil {
				t.Fatalf("resolve path of sample: %v", err)
			}
			return file
		}
	}
	t.Fatalf("got no sample %s in the manifest", path)
	return ""
}

// namedSample is a sample file and the file name that a title firm would give it.
type namedSample struct{ name, sample string }

// chainDocuments are the documents of a sample abstract.
var chainDocuments = []namedSample{
	{"01_Title report.docx", "title/title-report.docx"},
	{"02_Deed_2019-03-14_Bk1022-Pg311_Alder-to-Birch.tiff", "title/warranty-deed-g4-300dpi.tiff"},
	{"03_Deed_1998-06-02_Bk611-Pg87_Cedar-to-Alder.pdf", "title/warranty-deed-scan-100dpi.pdf"},
	{"04_Mortgage_2019-03-14_Bk1022-Pg315_First Wexcombe Bank.pdf", "title/open-end-mortgage.pdf"},
	{"05_Deed with text_Bk611-Pg90.pdf", "title/warranty-deed-g4-ocr-layer.pdf"},
	{"06_Plat_Orchard Ridge.pdf", "title/plat-24x36-vector.pdf"},
	{"07_Judgment search.txt", "title/judgment-search-utf8.txt"},
	{"08_Photo of the recorded deed.jpg", "title/recorded-deed-phone-photo.jpg"},
	{"09_Runsheet.xlsx", "title/runsheet.xlsx"},
}

// Names of other documents.
const (
	trashedName = "Lost page.png"          // a document in the trash
	brokenName  = "Beyond all measure.png" // a document whose processing fails
)

// openSamples opens sample files for an upload. They are closed when the test ends.
func openSamples(t *testing.T, samples []namedSample) []client.Upload {
	t.Helper()
	var list []client.Upload
	for _, s := range samples {
		file, err := os.Open(sampleFile(t, s.sample))
		if err != nil {
			t.Fatalf("open sample: %v", err)
		}
		t.Cleanup(func() { file.Close() })
		list = append(list, client.Upload{Filename: s.name, Reader: file})
	}
	return list
}

// firm is a server with a title firm's records, and the IDs of some of these records.
type firm struct {
	*testServer
	client        *client.Client
	abstract      string           // ID of an abstract with documents
	emptyAbstract string           // ID of an abstract without documents
	sheetAbstract string           // ID of an abstract with a runsheet
	instrument    int64            // ID of an instrument in it
	order, folder string           // IDs
	inviteLink    string           // path of an unused invite link
	files         map[string]int64 // document IDs by name
	viewerID      int64
}

// Usernames.
const (
	admin  = "Kim Lee"
	staff  = "Sam Reyes"
	viewer = "Vera Holt"
)

// newStaffedServer starts a server with an empty vault, an administrator, and a staff user.
func (env *browserEnv) newStaffedServer(t *testing.T, settings ...string) *testServer {
	t.Helper()
	srv := env.newServer(t, settings...)
	srv.createUser(admin, "admin")
	srv.createUser(staff, "staff")
	return srv
}

// newFirm starts a server with a title firm's records and waits until the documents are
// processed.
func (env *browserEnv) newFirm(t *testing.T, settings ...string) *firm {
	t.Helper()
	f := &firm{testServer: env.newServer(t, settings...), files: map[string]int64{}}
	for _, user := range []struct{ name, role string }{{admin, "admin"}, {staff, "staff"}, {viewer, "viewer"}} {
		f.viewerID = f.testServer.createUser(user.name, user.role)
	}
	f.inviteLink = f.inviteUser("Robin Ash", "staff")
	f.client = f.apiClient()
	ctx := t.Context()
	f.createOrders(ctx)
	f.createAbstracts(ctx)
	f.instrument = f.createRunsheet(ctx, f.sheetAbstract)
	f.createFolders(ctx)
	f.waitProcessed(ctx)
	return f
}

// must fails the test if err is not nil.
func (f *firm) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("request to the API: %v", err)
	}
}

// addFiles stores the IDs of uploaded documents in f.files.
func (f *firm) addFiles(files apitypes.List[apitypes.File]) {
	for _, file := range files {
		f.files[file.Filename] = file.ID
	}
}

func (f *firm) createOrders(ctx context.Context) {
	streets := []string{
		"14 Orchard Ridge Road", "220 Mill Pond Lane", "8 Courthouse Square", "1175 Old Stage Highway", "3 Ferry Street", "96 Quarry Hill Road",
	}
	for n := range 12 {
		created, err := f.client.CreateOrder(ctx, client.OrderDraft{
			OrderNumber: fmt.Sprintf("2026-%04d", 101+n%11), DueDate: time.Now().AddDate(0, 0, n*2-5).Format(time.DateOnly),
			Address: streets[n%len(streets)], City: "Harlow", County: "Wexcombe", State: "PA",
			CustomFields: map[string]any{
				"client": "Harlow Savings Bank", "product": "Full Search", "buyer_borrower": "Dana Birch",
				"parcel_id": fmt.Sprintf("21-4-%03d", n),
			},
		})
		f.must(err)
		if n == 0 {
			f.order = created.ID
		}
	}
	_, err := f.client.CreateOrder(ctx, client.OrderDraft{OrderNumber: "2026-0199"})
	f.must(err)
}

func (f *firm) createAbstracts(ctx context.Context) {
	statuses := []string{"New", "In Search", "In Exam", "Needs Curative", "Complete"}
	for n := range 9 {
		created, err := f.client.CreateAbstract(ctx, client.AbstractDraft{
			Address: fmt.Sprintf("%d Orchard Ridge Road", 2+n), City: "Harlow", County: "Wexcombe", State: "PA",
			TaxMap: fmt.Sprintf("21-4-%03d", n),
			CustomFields: map[string]any{
				"file_number": fmt.Sprintf("A-%04d", 2201+n), "search_type": "60 Year", "current_owner": "Dana and Robin Birch",
			},
		})
		f.must(err)
		f.sheetAbstract = created.Data.ID
		_, err = f.client.PatchAbstract(ctx, created.Data.ID, client.Patch{"status": statuses[n%len(statuses)]})
		f.must(err)
	}
	empty, err := f.client.CreateAbstract(ctx, client.AbstractDraft{})
	f.must(err)
	f.emptyAbstract = empty.Data.ID
	created, err := f.client.CreateAbstract(ctx, client.AbstractDraft{
		Address: "14 Orchard Ridge Road", City: "Harlow", County: "Wexcombe", State: "PA", TaxMap: "21-4-117",
		CustomFields: map[string]any{
			"file_number": "A-2026-0117", "search_type": "60 Year", "effective_date": "2026-05-01",
			"current_owner": "Dana Birch", "vesting": "Dana Birch, unmarried", "tax_status": "Paid",
			"indices_searched": []string{"Grantor/Grantee", "Mortgages", "Judgments"},
			"names_run":        "Dana Birch\nCasey Alder\nMorgan Cedar",
			"legal_description": strings.Repeat(
				"All that certain lot situate in the Township of Harlow, bounded and described as follows. ", 4),
		},
		Files: openSamples(f.t, chainDocuments),
	})
	f.must(err)
	if len(created.Errors) > 0 {
		f.t.Fatalf("create abstract with documents: got errors %+v, want none", created.Errors)
	}
	f.abstract = created.Data.ID
	f.addFiles(created.Data.Files)
	trashed, err := f.client.CreateAbstract(ctx, client.AbstractDraft{
		Address: "1 Nowhere Lane", CustomFields: map[string]any{"file_number": "A-0001"},
	})
	f.must(err)
	f.must(f.client.TrashAbstract(ctx, trashed.Data.ID))
}

func (f *firm) createFolders(ctx context.Context) {
	top, err := f.client.CreateFolder(ctx, "Wexcombe County", nil)
	f.must(err)
	f.folder = fmt.Sprint(top.ID)
	_, err = f.client.CreateFolder(ctx, "Index books", &top.ID)
	f.must(err)
	uploaded, err := f.client.Upload(ctx, &top.ID, openSamples(f.t, []namedSample{
		{"Index of deeds 1921-1950.pdf", "title/index-of-deeds-500-pages.pdf"}, {"Notes.txt", "title/judgment-search-windows-1252.txt"},
		{trashedName, "title/deed-page-2-legal-description.png"}, {brokenName, "refuse/image-bomb-60000x60000.png"},
	}))
	f.must(err)
	f.addFiles(uploaded.Files)
	f.must(f.client.TrashFile(ctx, f.files[trashedName]))
}

// waitProcessed waits until all documents are processed.
func (f *firm) waitProcessed(ctx context.Context) {
	f.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		pending := 0
		for name, id := range f.files {
			if name == trashedName {
				continue
			}
			file, err := f.client.File(ctx, id)
			f.must(err)
			if file.IsProcessing {
				pending++
			}
		}
		if pending == 0 {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("after 2 minutes: got %d documents in processing, want none\n%s", pending, f.stderr)
		}
	}
}
