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
func (g *firm) documents(ctx context.Context, dir string) error {
	blobs, err := blobstore.Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"), blobstore.Options{})
	if err != nil {
		return err
	}
	for n := range max(g.Documents, 1) {
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
		g.digests, g.sizes = append(g.digests, staged.Digest().String()), append(g.sizes, staged.Size())
	}
	return nil
}

// readDefaults reads the templates, statuses, and folders of a new vault.
func (g *firm) readDefaults(ctx context.Context) error {
	return g.db.View(ctx, func(t *store.Tx) (err error) {
		if g.templates, err = t.Templates(); err != nil {
			return err
		}
		if g.statuses, err = t.OrderStatuses(); err != nil {
			return err
		}
		g.folders, err = t.Folders()
		return err
	})
}

func (g *firm) fill(ctx context.Context, progress func(done, total int)) error {
	if err := g.readDefaults(ctx); err != nil {
		return err
	}
	total := max(g.Abstracts, g.Orders, g.Files)
	for from := 0; from < total; from += firmBatch {
		// A transaction function may run twice and must generate the same records both times.
		seed := [32]byte{}
		copy(seed[:], strconv.Itoa(from))
		fileCount := g.fileCount
		err := g.db.Update(ctx, nil, func(t *store.Tx) error {
			g.rand, g.fileCount = mathrand.New(mathrand.NewChaCha8(seed)), fileCount
			for n := from; n < min(from+firmBatch, total); n++ {
				if err := g.writeRecords(t, n, total); err != nil {
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
func (g *firm) writeRecords(t *store.Tx, n, total int) error {
	at := g.Until.Add(-g.step * time.Duration(total-n)).UTC().Truncate(time.Microsecond)
	due := func(count int) bool { return (n+1)*count/total > n*count/total }
	if due(g.Orders) {
		if err := g.order(t, at, n); err != nil {
			return err
		}
	}
	if due(g.Abstracts) {
		return g.abstract(t, at, n, total)
	}
	if g.fileCount < (n+1)*g.Files/total {
		_, err := g.file(t, at, model.File{FolderID: g.folders[g.rand.IntN(len(g.folders))].ID})
		return err
	}
	return nil
}

func (g *firm) order(t *store.Tx, at time.Time, n int) error {
	id, err := t.NewOrderID()
	if err != nil {
		return err
	}
	order := model.Order{ID: id, Number: fmt.Sprintf("%d-%06d", at.Year(), n), Property: g.property(), Version: 1, CreatedAt: at,
		UpdatedAt: at,
		Status:    g.statuses[g.status(len(g.statuses), at)], Custom: model.CustomValues{"client": quoted(g.name()), "product": quoted("Full Search")}}
	if g.rand.IntN(10) > 0 {
		order.DueDate = at.AddDate(0, 0, 3+g.rand.IntN(20)).Format(time.DateOnly)
	}
	return errors.Join(t.PutOrder(order), g.event(t, at, "order.created", "order", id))
}

func (g *firm) abstract(t *store.Tx, at time.Time, n, total int) error {
	id, err := t.NewAbstractID()
	if err != nil {
		return err
	}
	template := g.templates[min(g.rand.IntN(10)*len(g.templates)/14, len(g.templates)-1)]
	abstract := model.Abstract{ID: id, TemplateID: template.ID, Property: g.property(), Version: 1, CreatedAt: at, UpdatedAt: at,
		TaxMap: fmt.Sprintf("%02d-%d-%03d", g.rand.IntN(100), g.rand.IntN(10), g.rand.IntN(1000)),
		Custom: model.CustomValues{"file_number": quoted(fmt.Sprintf("F%07d", n)), "current_owner": quoted(g.name())}}
	if len(template.Statuses) > 0 {
		abstract.Status = template.Statuses[g.status(len(template.Statuses), at)]
	}
	// One in nine files is in a folder.
	for want := (n + 1) * g.Files / total; g.fileCount < want; {
		location := model.File{AbstractID: id}
		if g.fileCount%9 == 0 {
			location = model.File{FolderID: g.folders[g.rand.IntN(len(g.folders))].ID}
		}
		file, err := g.file(t, at, location)
		if err != nil {
			return err
		}
		if location.AbstractID != 0 {
			abstract.Files = append(abstract.Files, file)
		}
	}
	return errors.Join(t.PutAbstract(abstract), g.event(t, at, "abstract.created", "abstract", id))
}

func (g *firm) file(t *store.Tx, at time.Time, location model.File) (uint64, error) {
	id, err := t.NewFileID()
	if err != nil {
		return 0, err
	}
	content, pages := g.fileCount%len(g.digests), 1+g.fileCount%len(g.digests)%40
	g.fileCount++
	file := model.File{ID: id, Filename: fmt.Sprintf("Deed Book %d Page %d.pdf", 1+id/600, 1+id%600), MIME: "application/pdf", Pages: &pages,
		Size: g.sizes[content], Digest: g.digests[content], FolderID: location.FolderID, AbstractID: location.AbstractID, Version: 1,
		CreatedAt: at}
	return id, errors.Join(t.PutFile(file), g.event(t, at, "file.filed", "file", id))
}

func (g *firm) event(t *store.Tx, at time.Time, kind, recordKind string, id uint64) error {
	actor := model.Actor{Kind: model.ActorKey, ID: 1 + uint64(g.rand.IntN(4)), Name: "Closing software", Address: "10.0.0.7"}
	return t.AddEvent(model.Event{At: at, Actor: actor, Kind: kind, Record: model.RecordRef(recordKind, id)})
}

// status returns a random status index below of if the record is recent. For an old record, it mostly returns the
// second to last index.
func (g *firm) status(of int, at time.Time) int {
	if g.Until.Sub(at) > 60*24*time.Hour && g.rand.IntN(50) > 0 {
		return max(of-2, 0)
	}
	return g.rand.IntN(of)
}

var (
	firmStates   = []string{"GA", "FL", "SC", "NC", "AL", "TN", "TX", "OH", "PA", "NY"}
	firmSurnames = []string{"Abbott", "Bell", "Castro", "Dunn", "Ellis", "Flores", "Grant", "Hughes", "Ingram", "Jordan", "Keller",
		"Lyons", "Moreno", "Nash", "Owens", "Price"}
	firmStreets = []string{"Oak", "Main", "Church", "Mill Creek", "Peachtree", "Old Ferry", "Lakeview", "Walnut"}
)

// property returns a random property in one of 1,000 counties. Most properties are in a few counties.
func (g *firm) property() model.Property {
	county := int(float64(1000) * math.Pow(g.rand.Float64(), 4))
	return model.Property{
		Address: fmt.Sprintf("%d %s Rd", 1+g.rand.IntN(9000), firmStreets[g.rand.IntN(len(firmStreets))]),
		City:    "City " + strconv.Itoa(county%300), County: "County " + strconv.Itoa(county), State: firmStates[county%len(firmStates)],
	}
}

func (g *firm) name() string {
	return fmt.Sprintf("%s %c. %s", firmSurnames[g.rand.IntN(len(firmSurnames))], 'A'+rune(g.rand.IntN(26)),
		firmSurnames[g.rand.IntN(len(firmSurnames))])
}

func quoted(text string) []byte { return strconv.AppendQuote(nil, text) }
