//go:build root && linux

package powercut

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// worker is a client that sends one request after another.
type worker struct {
	testServer *testServer
	name       string // unique
	rng        *rand.Rand
	count      int
	files      []uploaded
}

// uploaded is a document that the worker uploaded.
type uploaded struct {
	id      int64
	digest  string
	trashed bool
}

// scanEach is how often a document is a scan, which the server reads later.
const scanEach = 6

// document returns a text document or a scan that differs from all others, and its SHA-256.
func (w *worker) document() (upload client.Upload, digest string) {
	w.count++
	if w.count%scanEach == 1 {
		var scan bytes.Buffer
		if err := png.Encode(&scan, vaulttest.Scan(w.testServer.t, 900, 200, fmt.Sprintf("Deed %d of %s", w.count, w.name))); err != nil {
			w.testServer.t.Errorf("encode PNG: %v", err)
		}
		sum := sha256.Sum256(scan.Bytes())
		return client.Upload{Filename: fmt.Sprintf("%s-%d.png", w.name, w.count), Reader: &scan}, hex.EncodeToString(sum[:])
	}
	var text strings.Builder
	size := 500 << w.rng.IntN(9) // up to 128 KB
	fmt.Fprintf(&text, "Deed %d of %s\n", w.count, w.name)
	for text.Len() < size {
		fmt.Fprintf(&text, "grantor %d grantee %d\n", w.rng.IntN(1e9), w.rng.IntN(1e9))
	}
	sum := sha256.Sum256([]byte(text.String()))
	return client.Upload{Filename: fmt.Sprintf("%s-%d.txt", w.name, w.count), Reader: strings.NewReader(text.String())},
		hex.EncodeToString(sum[:])
}

// request sends a random request, such as an upload, and records the outcome in the
// journal.
func (w *worker) request(ctx context.Context, c *client.Client) error {
	switch n := w.rng.IntN(12); {
	case n < 4:
		return w.upload(ctx, c)
	case n < 6:
		return w.resumable(ctx, c)
	case n < 8:
		return w.abstract(ctx, c)
	case n < 9 || len(w.files) == 0:
		return w.order(ctx, c)
	}
	return w.trash(ctx, c, &w.files[w.rng.IntN(len(w.files))])
}

func (w *worker) upload(ctx context.Context, c *client.Client) error {
	from := w.testServer.moment()
	part, digest := w.document()
	created, err := c.Upload(ctx, nil, []client.Upload{part})
	if err == nil && len(created.Files) != 1 {
		err = fmt.Errorf("rejected: %v", created.Errors)
	}
	if err != nil {
		return err
	}
	w.addFile(created.Files[0].ID, digest, from)
	return nil
}

func (w *worker) addFile(id int64, digest string, from int) {
	w.files = append(w.files, uploaded{id: id, digest: digest})
	w.testServer.journal.add(fmt.Sprint("file ", id), change{from, w.testServer.moment(), digest})
}

func (w *worker) abstract(ctx context.Context, c *client.Client) error {
	from := w.testServer.moment()
	first, firstDigest := w.document()
	second, secondDigest := w.document()
	address := fmt.Sprintf("%d Elm Street, %s", w.count, w.name)
	created, err := c.CreateAbstract(ctx, client.AbstractDraft{Address: address, Files: []client.Upload{first, second}})
	if err == nil && len(created.Data.Files) != 2 {
		err = fmt.Errorf("rejected: %v", created.Errors)
	}
	if err != nil {
		return err
	}
	w.testServer.journal.add("abstract "+address, change{from, w.testServer.moment(), firstDigest + " " + secondDigest})
	// The workers never delete these files, so the abstract doesn't change.
	for i, digest := range []string{firstDigest, secondDigest} {
		w.testServer.journal.add(fmt.Sprint("file ", created.Data.Files[i].ID), change{from, w.testServer.moment(), digest})
	}
	return w.instruments(ctx, c, created.Data.ID, created.Data.Files[0].ID)
}

// instruments records an instrument of an abstract and then changes its grantor.
func (w *worker) instruments(ctx context.Context, c *client.Client, abstract string, document int64) error {
	w.count++
	number := fmt.Sprintf("%s-%d", w.name, w.count)
	id := int64(0)
	for _, grantor := range []string{"Cole, Bea", "Cole, Ned"} {
		from := w.testServer.moment()
		var err error
		if id == 0 {
			recorded, failed := c.CreateInstrument(ctx, abstract, client.InstrumentDraft{Type: "Mortgage", InstrumentNumber: number,
				Grantors: []string{grantor}, Documents: []map[string]any{{"file_id": document}}})
			id, err = recorded.ID, failed
		} else {
			_, err = c.PatchInstrument(ctx, id, client.Patch{"grantors": []string{grantor}})
		}
		w.note("instrument "+number, from, grantor, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// order creates an order and then changes its address.
func (w *worker) order(ctx context.Context, c *client.Client) error {
	w.count++
	number := fmt.Sprintf("%s-%d", w.name, w.count)
	created := ""
	for _, address := range []string{"1 Oak Street", "2 Oak Street"} {
		from := w.testServer.moment()
		var err error
		if created == "" {
			order, failed := c.CreateOrder(ctx, client.OrderDraft{OrderNumber: number, Address: address})
			created, err = order.ID, failed
		} else {
			_, err = c.PatchOrder(ctx, created, client.Patch{"address": address})
		}
		w.note("order "+number, from, address, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// note adds a change to the journal. If err is not nil, the change was not acknowledged.
func (w *worker) note(name string, from int, value string, err error) {
	to := never
	if err == nil {
		to = w.testServer.moment()
	}
	w.testServer.journal.add(name, change{from, to, value})
}

// trash moves a document to the trash, or restores it if it is already there.
func (w *worker) trash(ctx context.Context, c *client.Client, f *uploaded) (err error) {
	from, is := w.testServer.moment(), f.digest
	if f.trashed {
		_, err = c.RestoreFile(ctx, f.id)
	} else {
		is, err = trashed(f.digest), c.TrashFile(ctx, f.id)
	}
	w.note(fmt.Sprint("file ", f.id), from, is, err)
	f.trashed = !f.trashed
	if err != nil { // the state of the document is unknown
		w.files = slices.DeleteFunc(w.files, func(other uploaded) bool { return other.id == f.id })
	}
	return err
}
