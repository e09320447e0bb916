package vaulttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"path/filepath"
	"strconv"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
)

// Firm contains the size of a generated vault, such as that of a title firm after ten years. The same values always
// generate the same records.
type Firm struct {
	Abstracts, Orders, Files int
	Documents                int       // number of different contents that the files share
	Until                    time.Time // the time of the last record
}

// firmYears is the number of years over which the records are distributed.
const firmYears = 10

// firmBatch is the number of records per transaction.
const firmBatch = 2000

// Fill creates a vault in an empty directory and writes the firm's records and audit entries in chronological sequence.
// Like the server, it writes records through the store. It marks the documents as processed. It calls progress with the
// number of records written so far.
func (f Firm) Fill(ctx context.Context, dir string, progress func(done, total int)) (err error) {
	if err := createVault(ctx, dir); err != nil {
		return err
	}
	ring, _, err := secret.LoadKeys(filepath.Join(dir, "secret.key"), rand.Reader)
	if err != nil {
		return err
	}
	g := &firm{Firm: f, rand: mathrand.New(mathrand.NewPCG(7, 11)),
		step: firmYears * 365 * 24 * time.Hour / time.Duration(max(f.Abstracts, f.Orders, f.Files, 1))}
	if err := g.documents(ctx, dir); err != nil {
		return err
	}
	g.db, err = store.Open(ctx, filepath.Join(dir, "vault.db"), store.Options{Now: time.Now, Fingerprint: ring.Fingerprint()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.db.Close()) }()
	return g.fill(ctx, progress)
}

func createVault(ctx context.Context, dir string) error {
	settings := Settings()
	v, err := instance.Open(ctx, instance.Options{Dir: dir, Create: true, Settings: settings, Reader: Reader{}, Now: time.Now,
		Rand: rand.Reader, Log: discardLogger()})
	if err != nil {
		return err
	}
	return v.Close()
}

// firm writes the records of a Firm.
type firm struct {
	Firm
	rand    *mathrand.Rand
	db      *store.Store
	step    time.Duration
	digests []string
	sizes   []int64

	templates []model.Template
	statuses  []string
	folders   []model.Folder
	fileCount int // files so far
}

// documents stores the documents that the files share.
func (f *firm) documents(ctx context.Context, dir string) error {
	blobs, err := blobstore.Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"), blobstore.Options{})
	if err != nil {
		return err
	}
	for n := range max(f.Documents, 1) {
		text := PDF(1+n%40, strconv.Itoa(n))
		staged, err := blobs.Stage(ctx, bytes.NewReader(text), math.MaxInt64)
		if err != nil {
			return err
		}
		release, err := blobs.Commit(ctx, staged)
		if err != nil {
			return err
		}
		release()
		f.digests, f.sizes = append(f.digests, staged.Digest().String()), append(f.sizes, staged.Size())
	}
	return nil
}

// readDefaults reads the templates, statuses, and folders of a new vault.
func (f *firm) readDefaults(ctx context.Context) error {
	return f.db.View(ctx, func(t *store.Tx) (err error) {
		if f.templates, err = t.Templates(); err != nil {
			return err
		}
		if f.statuses, err = t.OrderStatuses(); err != nil {
			return err
		}
		f.folders, err = t.Folders()
		return err
	})
}

func (f *firm) fill(ctx context.Context, progress func(done, total int)) error {
	if err := f.readDefaults(ctx); err != nil {
		return err
	}
	total := max(f.Abstracts, f.Orders, f.Files)
	for from := 0; from < total; from += firmBatch {
		// A transaction function may run twice and must generate the same records both times.
		seed := [32]byte{}
		copy(seed[:], strconv.Itoa(from))
		fileCount := f.fileCount
		err := f.db.Update(ctx, nil, func(t *store.Tx) error {
			f.rand, f.fileCount = mathrand.New(mathrand.NewChaCha8(seed)), fileCount
			for n := from; n < min(from+firmBatch, total); n++ {
				if err := f.writeRecords(t, n, total); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		progress(min(from+firmBatch, total), total)
	}
	return nil
}

// writeRecords writes the records of step n of total. Each step has at most one order and one abstract, or one file.
func (f *firm) writeRecords(t *store.Tx, n, total int) error {
	at := f.Until.Add(-f.step * time.Duration(total-n)).UTC().Truncate(time.Microsecond)
	due := func(count int) bool { return (n+1)*count/total > n*count/total }
	if due(f.Orders) {
		if err := f.order(t, at, n); err != nil {
			return err
		}
	}
	if due(f.Abstracts) {
		return f.abstract(t, at, n, total)
	}
	if f.fileCount < (n+1)*f.Files/total {
		_, err := f.file(t, at, model.File{FolderID: f.folders[f.rand.IntN(len(f.folders))].ID})
		return err
	}
	return nil
}

func (f *firm) order(t *store.Tx, at time.Time, n int) error {
	id, err := t.NewOrderID()
	if err != nil {
		return err
	}
	order := model.Order{ID: id, Number: fmt.Sprintf("%d-%06d", at.Year(), n), Property: f.property(), Version: 1, CreatedAt: at,
		UpdatedAt: at,
		Status:    f.statuses[f.status(len(f.statuses), at)], Custom: model.CustomValues{"client": quoted(f.name()), "product": quoted("Full Search")}}
	if f.rand.IntN(10) > 0 {
		order.DueDate = at.AddDate(0, 0, 3+f.rand.IntN(20)).Format(time.DateOnly)
	}
	return errors.Join(t.PutOrder(order), f.event(t, at, "order.created", "order", id))
}

func (f *firm) abstract(t *store.Tx, at time.Time, n, total int) error {
	id, err := t.NewAbstractID()
	if err != nil {
		return err
	}
	template := f.templates[min(f.rand.IntN(10)*len(f.templates)/14, len(f.templates)-1)]
	abstract := model.Abstract{ID: id, TemplateID: template.ID, Property: f.property(), Version: 1, CreatedAt: at, UpdatedAt: at,
		TaxMap: fmt.Sprintf("%02d-%d-%03d", f.rand.IntN(100), f.rand.IntN(10), f.rand.IntN(1000)),
		Custom: model.CustomValues{"file_number": quoted(fmt.Sprintf("F%07d", n)), "current_owner": quoted(f.name())}}
	if len(template.Statuses) > 0 {
		abstract.Status = template.Statuses[f.status(len(template.Statuses), at)]
	}
	// One in nine files is in a folder.
	for want := (n + 1) * f.Files / total; f.fileCount < want; {
		location := model.File{AbstractID: id}
		if f.fileCount%9 == 0 {
			location = model.File{FolderID: f.folders[f.rand.IntN(len(f.folders))].ID}
		}
		file, err := f.file(t, at, location)
		if err != nil {
			return err
		}
		if location.AbstractID != 0 {
			abstract.Files = append(abstract.Files, file)
		}
	}
	return errors.Join(t.PutAbstract(abstract), f.event(t, at, "abstract.created", "abstract", id))
}

func (f *firm) file(t *store.Tx, at time.Time, location model.File) (uint64, error) {
	id, err := t.NewFileID()
	if err != nil {
		return 0, err
	}
	content, pages := f.fileCount%len(f.digests), 1+f.fileCount%len(f.digests)%40
	f.fileCount++
	file := model.File{ID: id, Filename: fmt.Sprintf("Deed Book %d Page %d.pdf", 1+id/600, 1+id%600), MIME: "application/pdf", Pages: &pages,
		Size: f.sizes[content], Digest: f.digests[content], FolderID: location.FolderID, AbstractID: location.AbstractID, Version: 1,
		CreatedAt: at}
	return id, errors.Join(t.PutFile(file), f.event(t, at, "file.filed", "file", id))
}

func (f *firm) event(t *store.Tx, at time.Time, kind, recordKind string, id uint64) error {
	actor := model.Actor{Kind: model.ActorKey, ID: 1 + uint64(f.rand.IntN(4)), Name: "Closing software", Address: "10.0.0.7"}
	return t.AddEvent(model.Event{At: at, Actor: actor, Kind: kind, Record: model.RecordRef(recordKind, id)})
}

// status returns a random status index below of if the record is recent. For an old record, it mostly returns the
// second to last index.
func (f *firm) status(of int, at time.Time) int {
	if f.Until.Sub(at) > 60*24*time.Hour && f.rand.IntN(50) > 0 {
		return max(of-2, 0)
	}
	return f.rand.IntN(of)
}

var (
	firmStates   = []string{"GA", "FL", "SC", "NC", "AL", "TN", "TX", "OH", "PA", "NY"}
	firmSurnames = []string{"Abbott", "Bell", "Castro", "Dunn", "Ellis", "Flores", "Grant", "Hughes", "Ingram", "Jordan", "Keller",
		"Lyons", "Moreno", "Nash", "Owens", "Price"}
	firmStreets = []string{"Oak", "Main", "Church", "Mill Creek", "Peachtree", "Old Ferry", "Lakeview", "Walnut"}
)

// property returns a random property in one of 1,000 counties. Most properties are in a few counties.
func (f *firm) property() model.Property {
	county := int(float64(1000) * math.Pow(f.rand.Float64(), 4))
	return model.Property{
		Address: fmt.Sprintf("%d %s Rd", 1+f.rand.IntN(9000), firmStreets[f.rand.IntN(len(firmStreets))]),
		City:    "City " + strconv.Itoa(county%300), County: "County " + strconv.Itoa(county), State: firmStates[county%len(firmStates)],
	}
}

func (f *firm) name() string {
	return fmt.Sprintf("%s %c. %s", firmSurnames[f.rand.IntN(len(firmSurnames))], 'A'+rune(f.rand.IntN(26)),
		firmSurnames[f.rand.IntN(len(firmSurnames))])
}

func quoted(text string) []byte { return strconv.AppendQuote(nil, text) }
