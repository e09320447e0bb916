package vaulttest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
)

// FilesPerOrder is the number of files of each order in the mix.
const FilesPerOrder = 2

// TextNumber returns the number of file k's text. has is false if the file has no text.
func (m Mix) TextNumber(k int) (n int, has bool) {
	files := m.Orders * FilesPerOrder
	n = k * m.Texts / files
	return n, (k+1)*m.Texts/files > n
}

// FileWithText returns the number of the file with text n.
func (m Mix) FileWithText(n int) int {
	files := m.Orders * FilesPerOrder
	k := (n*files + m.Texts - 1) / m.Texts
	for {
		if got, has := m.TextNumber(k); has && got >= n {
			return k
		}
		k++
	}
}

// InFolder reports whether file k is in a folder. All other files belong to the abstract of their order.
func (m Mix) InFolder(k int) bool { return k%9 == 0 }

// Fill creates a vault in an empty directory and writes the records of the mix and their events through the store, as
// the product does. Record n of a kind has the ID n+1. The documents are PDFs, and their texts are stored as if the
// server had extracted them. Fill calls progress with the name of the current step.
func (m Mix) Fill(ctx context.Context, dir string, progress func(step string, done, total int)) (err error) {
	if err := createVault(ctx, dir); err != nil {
		return err
	}
	ring, _, err := secret.LoadKeys(filepath.Join(dir, "secret.key"), rand.Reader)
	if err != nil {
		return err
	}
	g := &mixFiller{Mix: m, firm: &firm{Firm: Firm{Documents: min(1000, m.Orders), Until: m.Until}}}
	if err := g.documents(ctx, dir); err != nil {
		return err
	}
	if err := g.storePDFs(ctx, dir, progress); err != nil {
		return err
	}
	g.db, err = store.Open(ctx, filepath.Join(dir, "vault.db"), store.Options{Now: time.Now, Fingerprint: ring.Fingerprint()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.db.Close()) }()
	if err := g.readDefaults(ctx); err != nil {
		return err
	}
	for from := 0; from < m.Orders; from += firmBatch {
		until := min(from+firmBatch, m.Orders)
		if err := g.db.Update(ctx, nil, func(t *store.Tx) error { return g.writeRecords(t, from, until) }); err != nil {
			return err
		}
		progress("records", until, m.Orders)
	}
	return nil
}

// mixFiller writes a mix to a vault.
type mixFiller struct {
	Mix
	*firm
	stored []storedPDF // the documents with text, by number of the text
}

type storedPDF struct {
	digest string
	size   int64
}

// writeRecords writes the records of orders from to until-1. If it runs twice, it writes the same records both times.
func (m *mixFiller) writeRecords(t *store.Tx, from, until int) error {
	m.rand = mathrand.New(mathrand.NewPCG(uint64(from), 23)) // not negative
	for n := from; n < until; n++ {
		if err := errors.Join(m.mixedOrder(t, n), m.mixedAbstract(t, n), m.mixedInstruments(t, n)); err != nil {
			return err
		}
	}
	return nil
}

func (m *mixFiller) mixedOrder(t *store.Tx, n int) error {
	id, err := t.NewOrderID()
	if err != nil || id != uint64(n)+1 { // not negative
		return errors.Join(err, fmt.Errorf("order %d of the mix got ID %d", n, id))
	}
	s := m.Mix.Order(n)
	order := model.Order{ID: id, Number: s.Number, Property: s.property(), Version: 1, CreatedAt: s.At, UpdatedAt: s.At,
		Status: m.statuses[m.status(len(m.statuses), s.At)], DueDate: s.At.AddDate(0, 0, 3+m.rand.IntN(20)).Format(time.DateOnly),
		Custom: model.CustomValues{"client": quoted(s.Client), "product": quoted("Full Search"), "transaction_type": quoted("Purchase"),
			"buyer_borrower": quoted(s.Borrower), "seller_owner": quoted(s.Owner), "parcel_id": quoted(s.Parcel)}}
	return errors.Join(t.PutOrder(order), m.event(t, s.At, "order.created", "order", id))
}

func (m *mixFiller) mixedAbstract(t *store.Tx, n int) error {
	id, err := t.NewAbstractID()
	if err != nil || id != uint64(n)+1 { // not negative
		return errors.Join(err, fmt.Errorf("abstract %d of the mix got ID %d", n, id))
	}
	s := m.Mix.Abstract(n)
	template := m.templates[0]
	if s.Commercial {
		template = m.templates[1]
	}
	abstract := model.Abstract{ID: id, TemplateID: template.ID, Property: s.property(), TaxMap: s.Parcel, Version: 1,
		CreatedAt: s.At, UpdatedAt: s.At,
		Status: template.Statuses[m.status(len(template.Statuses), s.At)],
		Custom: model.CustomValues{"file_number": quoted(s.Number), "search_type": quoted("Full Search"), "current_owner": quoted(s.Owner),
			"borrower":              quoted(s.Borrower),
			"deed_book_page":        quoted(fmt.Sprintf("Bk %d Pg %d", s.Book, s.Page)),
			"subdivision_lot_block": quoted(fmt.Sprintf("Lot %d Block %d", s.Page%90, s.Book%20))}}
	for k := n * FilesPerOrder; k < (n+1)*FilesPerOrder; k++ {
		file, err := m.mixedFile(t, k, id)
		if err != nil {
			return err
		}
		if !m.InFolder(k) {
			abstract.Files = append(abstract.Files, file)
		}
	}
	return errors.Join(t.PutAbstract(abstract), m.event(t, s.At, "abstract.created", "abstract", id))
}

func (m *mixFiller) mixedFile(t *store.Tx, k int, abstract uint64) (uint64, error) {
	id, err := t.NewFileID()
	if err != nil || id != uint64(k)+1 { // not negative
		return 0, errors.Join(err, fmt.Errorf("file %d of the mix got ID %d", k, id))
	}
	content := k % len(m.digests)
	pages, doc := 1+content%40, storedPDF{m.digests[content], m.sizes[content]}
	failure := model.FailureNoText + "." // without it, a server would extract the text
	if n, has := m.TextNumber(k); has {
		pages, doc, failure = TextPages, m.stored[n], ""
	}
	s := m.Mix.File(k)
	file := model.File{ID: id, Filename: s.Filename(k), MIME: model.MIMEPDF, Pages: &pages, Size: doc.size, Digest: doc.digest,
		Failure:    failure,
		AbstractID: abstract, Version: 1, CreatedAt: s.At}
	if m.InFolder(k) {
		file.AbstractID, file.FolderID = 0, m.folders[k%len(m.folders)].ID
	}
	return id, errors.Join(t.PutFile(file), m.event(t, s.At, "file.filed", "file", id))
}

func (m MixRecord) property() model.Property {
	return model.Property{Address: m.Address, City: m.City, County: m.County, State: m.State}
}
