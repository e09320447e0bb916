package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// openPriorSearches starts an instance that extracts texts with pagesReader.
func openPriorSearches(t *testing.T) *instance.Instance {
	t.Helper()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Reader = pagesReader{} })
	v.Start(1 << 40)
	return v
}

// inCounty returns a property that is only known by its county.
func inCounty(county string) model.Inputs {
	return model.Inputs{"county": model.StringInput(county), "state": model.StringInput("NY")}
}

// createSearched creates an abstract with a document of each text.
func createSearched(t *testing.T, v *instance.Instance, number, county string, texts ...string) model.Abstract {
	t.Helper()
	var docs []vaulttest.Doc
	for n, text := range texts {
		docs = append(docs, vaulttest.PDFDoc(fmt.Sprintf("scan %d.pdf", n+1), text))
	}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{Fields: inCounty(county),
		Custom: vaulttest.CustomText("file_number", fmt.Sprintf("%q", number))},
		vaulttest.StageDocs(t, v, docs...), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	for _, f := range created.Files {
		vaulttest.ProcessingFailure(t, v, f.ID)
	}
	return created.Abstract
}

// formatPrior returns the headings of prior searches, each with its reasons.
func formatPrior(prior search.PriorSearches) (list []string) {
	for _, p := range prior.List {
		var reasons []string
		for _, r := range p.Reasons {
			reasons = append(reasons, strings.TrimSpace(fmt.Sprintf("%s %q %s", r.Kind, r.Value, r.In.Kind)))
		}
		list = append(list, p.Heading+": "+strings.Join(reasons, ", "))
	}
	return list
}

func TestPriorToAbstract(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	const parcel = "47-0312-B-119.04"
	vaulttest.CreateInstrument(t, v, createSearched(t, v, "99-1", "Wexcombe").ID,
		`{"type":"Mortgage","county":"Wexcombe","state":"NY","grantors":["Quill, Ada"],"parcels":["47.0312.b.11904"]}`)
	vaulttest.CreateInstrument(t, v, createSearched(t, v, "99-2", "Wexcombe").ID, `{"type":"Plat","legal":"Birch Orchard Subdivision, Lot 7"}`)
	vaulttest.CreateInstrument(t, v, createSearched(t, v, "99-3", "Wexcombe").ID,
		`{"type":"Quitclaim Deed","county":"Wexcombe","state":"NY","grantors":["Ada C. Quill"],"grantees":["Sam Poe"]}`)
	createSearched(t, v, "99-4", "Wexcombe", "nothing|made by Ada B. Quill, widow")
	createSearched(t, v, "99-5", "Wexcombe", "tax map "+parcel)
	createSearched(t, v, "99-6", "Wexcombe", "Lot 17 of Birch Orchard, sold to Ada Dorn and Ben Quill")
	vaulttest.CreateInstrument(t, v, createSearched(t, v, "99-7", "Albany").ID,
		`{"type":"Warranty Deed","county":"Albany","state":"NY","grantors":["Ada B. Quill"],"parcels":["`+parcel+`"]}`)
	trashed := createSearched(t, v, "99-8", "Wexcombe")
	vaulttest.CreateInstrument(t, v, trashed.ID, deed)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	starter := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("starter.pdf", "being Lot 7 of the Birch Orchard Plat"))[0]
	vaulttest.ProcessingFailure(t, v, starter.ID)

	subject := createSearched(t, v, "26-1", "Wexcombe")
	vaulttest.CreateInstrument(t, v, subject.ID, deed)
	vaulttest.WaitIndexed(t, v)
	for _, row := range []struct {
		county string
		want   []string
	}{
		{"Wexcombe", []string{
			`99-1: parcel "47-0312-B-119.04" instrument, party "Quill, Ada B." instrument`,
			`99-5: parcel "47-0312-B-119.04" file`,
			`99-2: lot "Lot 7, Birch Orchard" instrument`,
			`starter.pdf: lot "Lot 7, Birch Orchard" file`,
			`99-3: party "Quill, Ada B." instrument`,
			`99-4: name "Quill, Ada B." file`,
		}},
		{"Albany", []string{ // documents in folders have no county
			`99-7: parcel "47-0312-B-119.04" instrument, party "Quill, Ada B." instrument`,
			`starter.pdf: lot "Lot 7, Birch Orchard" file`,
		}},
	} {
		t.Run(row.county, func(t *testing.T) {
			asked := subject
			asked.County = row.county
			prior, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, asked)
			if got := formatPrior(prior); err != nil || prior.More || prior.Incomplete || !slices.Equal(got, row.want) {
				t.Errorf("PriorToAbstract() = %v, more %t, incomplete %t, %v\nwant\n%v", strings.Join(got, "\n"), prior.More, prior.Incomplete, err,
					strings.Join(row.want, "\n"))
			}
		})
	}
}

// A document that isn't recorded as an instrument counts with what its text states. Once it is recorded,
// the instrument counts.
func TestPriorToAbstractByDocuments(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	createSearched(t, v, "99-1", "Wexcombe", "Lot 12, Block C, Sunset Hills, surveyed in 1951")
	subject := createSearched(t, v, "26-1", "Wexcombe", "WARRANTY DEED\nLot 12, Block C, of the Plan of Sunset Hills, as shown")
	vaulttest.WaitIndexed(t, v)
	prior := func() string {
		list, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, subject)
		if err != nil {
			t.Fatalf("PriorToAbstract: %v", err)
		}
		return strings.Join(formatPrior(list), "\n")
	}
	if got, want := prior(), `99-1: lot "Lot 12, Block C, Sunset Hills" file`; got != want {
		t.Errorf("PriorToAbstract() = %q, want %q", got, want)
	}
	vaulttest.CreateInstrument(t, v, subject.ID, fmt.Sprintf(`{"type":"Warranty Deed","legal":"Lot 13, Sunset Hills","documents":[{"file_id":%d}]}`,
		subject.Files[0]))
	if got := prior(); got != "" {
		t.Errorf("PriorToAbstract() = %q after the deed was recorded for another lot, want none", got)
	}
}

// A lender, a trustee, or a plaintiff that two searches have in common doesn't make one of them a prior search,
// whether its instrument is recorded or only scanned. As owner of another property, it does.
func TestPriorSearchesIgnoreLenders(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	record := func(number, fields string) {
		vaulttest.CreateInstrument(t, v, createSearched(t, v, number, "Wexcombe").ID, `{"county":"Wexcombe","state":"NY",`+fields+`}`)
	}
	record("99-1", `"type":"Mortgage","grantors":["Sam Poe"],"grantees":["Wexcombe Savings Bank"]`)
	record("99-2", `"type":"Deed of Trust","grantors":["Eve Poe"],"other_parties":[{"role":"Trustee","name":"Wexcombe Savings Bank"}]`)
	record("99-3", `"type":"Assignment","grantors":["Wexcombe Savings Bank"],"grantees":["Other Bank"]`)
	record("99-4", `"type":"Lis Pendens","grantors":["Roy Poe"],"grantees":["Wexcombe Savings Bank"]`)
	record("99-5", `"type":"Warranty Deed","grantors":["Wexcombe Savings Bank"],"grantees":["Kim Poe"]`)
	record("99-6", `"type":"Release or Satisfaction","grantors":["Wexcombe Savings Bank"],"grantees":["Ada Quill"]`)
	scanned := createSearched(t, v, "99-7", "Wexcombe", "given to Wexcombe Savings Bank")
	vaulttest.CreateInstrument(t, v, scanned.ID, fmt.Sprintf(
		`{"type":"Mortgage","grantors":["Sam Poe"],"grantees":["Wexcombe Savings Bank"],"documents":[{"file_id":%d}]}`, scanned.Files[0]))
	subject := createSearched(t, v, "26-1", "Wexcombe", "MORTGAGE\nMortgagor: Ada Quill\nMortgagee: Wexcombe Savings Bank\n")
	foreclosed := createSearched(t, v, "26-2", "Wexcombe")
	vaulttest.CreateInstrument(t, v, foreclosed.ID,
		`{"type":"Sheriff's or Tax Deed","county":"Wexcombe","state":"NY","grantors":["Ivo Poe"],"grantees":["Wexcombe Savings Bank"]}`)
	vaulttest.WaitIndexed(t, v)
	for _, row := range []struct {
		subject model.Abstract
		want    []string
	}{
		{subject, []string{`99-6: party "Ada Quill" instrument`}},
		{foreclosed, []string{`99-5: party "Wexcombe Savings Bank" instrument`, `26-1: name "Wexcombe Savings Bank" file`}},
	} {
		prior, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, row.subject)
		if got := formatPrior(prior); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("PriorToAbstract() = %q, %v; want %q", got, err, row.want)
		}
	}
}

// Orders and abstracts are compared by the owners that their fields name.
func TestPriorSearchesByOwner(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	vaulttest.CreateInstrument(t, v, createSearched(t, v, "99-1", "Wexcombe").ID,
		`{"type":"Warranty Deed","county":"Wexcombe","state":"NY","grantees":["John T. Quill","Mary Quill"]}`)
	order, err := v.Orders.Create(t.Context(), vaulttest.Operator,
		model.OrderDraft{Fields: vaulttest.MergeInputs(inCounty("Wexcombe"),
			model.Inputs{"order_number": model.StringInput("A-1")}),
			Custom: vaulttest.CustomText("seller_owner", `"John and Mary Quill"`)}, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("create order: %v", err)
	}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator,
		model.AbstractDraft{Fields: inCounty("Wexcombe"),
			Custom: vaulttest.CustomText("current_owner", `"Quill"`)}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	vaulttest.WaitIndexed(t, v)
	want := `99-1: party "John Quill" instrument, party "Mary Quill" instrument`
	prior, err := v.Search.PriorToOrder(t.Context(), vaulttest.Operator, order)
	if got := strings.Join(formatPrior(prior), "\n"); err != nil || got != want {
		t.Errorf("PriorToOrder() = %q, %v; want %q", got, err, want)
	}
	prior, err = v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, created.Abstract)
	if err != nil || len(prior.List) != 0 {
		t.Errorf("PriorToAbstract() = %q, %v; want none for a last name alone", formatPrior(prior), err)
	}
}

// Without the index, abstracts with the same parcel or address are still found, the parcel first. A
// canceled request is an error.
func TestPriorSearchesWithoutIndex(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	createAbstract(t, v, "99-1", "12-34567", inCounty("Wexcombe"))
	subject := createAbstract(t, v, "26-1", "12.34567", inCounty("Wexcombe"))
	createAbstract(t, v, "99-2", "", elmStreet("Troy", "Wexcombe"))
	both := subject
	both.Address, both.City = "12 Elm St.", "Troy"
	related, err := v.Search.RelatedToAbstract(t.Context(), both)
	if got, want := formatPrior(related.PriorSearches()), []string{`99-1: parcel "12-34567"`, `99-2: address "12 Elm St., Troy, NY"`}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("PriorSearches() = %q, %v; want %q", got, err, want)
	}
	f.err = query.ErrDeadline
	prior, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, subject)
	if got, want := strings.Join(formatPrior(prior), "\n"), `99-1: parcel "12-34567"`; err != nil || got != want || !prior.Incomplete {
		t.Errorf("PriorToAbstract() = %q, incomplete %t, %v; want %q, incomplete", got, prior.Incomplete, err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Search.PriorToAbstract(ctx, vaulttest.Operator, subject); !errors.Is(err, context.Canceled) {
		t.Errorf("PriorToAbstract of a canceled request: %v, want context.Canceled", err)
	}
}

// The instruments of the subject itself, however many they are, don't hide an older abstract.
func TestPriorToAbstractWithManyInstruments(t *testing.T) {
	t.Parallel()
	v := openPriorSearches(t)
	const parcel = "47-0312-B-119.04"
	createSearched(t, v, "99-1", "Wexcombe", "a survey of tax map "+parcel)
	subject := createSearched(t, v, "26-1", "Wexcombe")
	for range 60 {
		vaulttest.CreateInstrument(t, v, subject.ID, `{"type":"Easement or Right of Way","parcels":["`+parcel+`"]}`)
	}
	order := vaulttest.CreateOrderForProperty(t, v, "A-1", "", parcel, inCounty("Wexcombe"))
	if _, err := v.TitleWork.SetOrder(t.Context(), vaulttest.Operator, subject.ID, order.ID, vault.Match{}); err != nil {
		t.Fatalf("link order: %v", err)
	}
	vaulttest.WaitIndexed(t, v)
	want := []string{`99-1: parcel "47-0312-B-119.04" file`}
	prior, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, subject)
	if got := formatPrior(prior); err != nil || prior.More || prior.Incomplete || !slices.Equal(got, want) {
		t.Errorf("PriorToAbstract() = %q, more %t, incomplete %t, %v; want %q", got, prior.More, prior.Incomplete, err, want)
	}
	prior, err = v.Search.PriorToOrder(t.Context(), vaulttest.Operator, order)
	if got := formatPrior(prior); err != nil || prior.More || prior.Incomplete || !slices.Equal(got, want) {
		t.Errorf("PriorToOrder() = %q, more %t, incomplete %t, %v; want %q", got, prior.More, prior.Incomplete, err, want)
	}
}

// There may be more prior searches if the index has more hits than were read, unless the others are
// approximate.
func TestMorePriorSearches(t *testing.T) {
	t.Parallel()
	v, f := withFakeIndex(t)
	subject := createAbstract(t, v, "26-1", "12-34567", inCounty("Wexcombe"))
	other := createAbstract(t, v, "99-1", "", inCounty("Wexcombe"))
	own, older := hit(query.Abstract, subject.ID), hit(query.Abstract, other.ID)
	hits := func(n int, h query.Hit) []query.Hit { return slices.Repeat([]query.Hit{h}, n) }
	for _, row := range []struct {
		name        string
		hits        []query.Hit
		fuzzy       bool
		found, more bool
	}{
		{"no hits", nil, false, false, false},
		{"only the subject", hits(60, own), false, false, false},
		{"only the subject on all pages", hits(201, own), false, false, true},
		{"on the last page", append(hits(199, own), older), false, true, false},
		{"after the last page", append(hits(200, own), older), false, false, true},
		{"more hits", hits(51, older), false, true, true},
		{"no more hits", hits(50, older), false, true, false},
		{"more approximate hits", hits(51, older), true, true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.hits, f.fuzzy = row.hits, row.fuzzy
			prior, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, subject)
			if found := len(prior.List) > 0; err != nil || found != row.found || prior.More != row.more || prior.Incomplete {
				t.Errorf("PriorToAbstract() = %q, more %t, incomplete %t, %v; want found %t, more %t", formatPrior(prior), prior.More,
					prior.Incomplete, err, row.found, row.more)
			}
		})
	}
}

// Documents are read only in a search slot, and an error of one of them makes the list incomplete.
func TestPriorSearchesReadDocumentsInSlot(t *testing.T) {
	t.Parallel()
	var log warnings
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader, o.Settings.Search.MaxConcurrent, o.Settings.Search.Deadline = pagesReader{}, 1, 2*time.Second
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	v.Start(1 << 40)
	createAbstract(t, v, "99-1", "12-34567", inCounty("Wexcombe"))
	subject := createSearched(t, v, "26-1", "Wexcombe", "Lot 12, Block C, Sunset Hills")
	subject.TaxMap = "12-34567"
	vaulttest.WaitIndexed(t, v)
	// The file of OCR results is a folder, so reading it fails.
	digest := vaulttest.File(t, v, subject.Files[0]).Digest
	unreadable := filepath.Join(opts.Dir, "text", digest[:2], digest)
	vaulttest.NoError(t, os.MkdirAll(unreadable, 0o700))
	release, err := v.Search.Index.Acquire(t.Context(), "another client")
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	prior := func() bool {
		prior, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, subject)
		if err != nil || !prior.Incomplete || len(prior.List) != 1 {
			t.Errorf("PriorToAbstract() = %q, incomplete %t, %v; want one that is incomplete", formatPrior(prior), prior.Incomplete, err)
		}
		return log.priorSearches()
	}
	if prior() {
		t.Error("a document was read without a slot")
	}
	release()
	if !prior() {
		t.Error("the error of the document wasn't logged")
	}
	vaulttest.NoError(t, os.Remove(unreadable))
}

// warnings is a log that a running vault writes to.
type warnings struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// priorSearches reports whether a warning says that prior searches are incomplete.
func (w *warnings) priorSearches() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.text.String(), `level=WARN msg="prior searches are incomplete"`)
}

// Errors that aren't explained by a busy or unavailable search are logged as warnings.
func TestPriorSearchErrorsAreLogged(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err  error
		want bool
	}{
		{query.ErrDeadline, false},
		{context.DeadlineExceeded, false},
		{&errs.Error{Kind: errs.Unavailable}, false},
		{errDisk, true},
	} {
		t.Run(row.err.Error(), func(t *testing.T) {
			t.Parallel()
			var log warnings
			f := &fakeIndex{err: row.err}
			v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			v.Search.WrapIndex(func(in search.Index) search.Index { f.Index = in; return f })
			vaulttest.WaitIndexed(t, v)
			subject := createAbstract(t, v, "26-1", "12-34567", inCounty("Wexcombe"))
			prior, err := v.Search.PriorToAbstract(t.Context(), vaulttest.Operator, subject)
			if err != nil || !prior.Incomplete {
				t.Errorf("PriorToAbstract(): incomplete %t, %v; want incomplete", prior.Incomplete, err)
			}
			if got := log.priorSearches(); got != row.want {
				t.Errorf("warning = %t, want %t", got, row.want)
			}
		})
	}
}
