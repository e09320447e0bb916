//go:build harness

package cmd_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

const (
	uploaders        = 8
	minSize          = 1 << 10 // minimum size of a document in bytes
	maxSize          = 2 << 20
	filesPerAbstract = 3 // number of documents in an abstract
)

// ackedDocument is a document that the server acknowledged.
type ackedDocument struct {
	seed     uint64
	size     int
	digest   string
	abstract string // ID of its abstract; "" if it isn't in one
}

// ackedInstrument is an instrument that the server acknowledged. Its number is unique.
type ackedInstrument struct {
	abstract, number string
	document         int64
}

// makePDF returns a PDF of about size bytes. Its content is different for each seed.
func makePDF(seed uint64, size int) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>")
	page := fmt.Sprintf("BT /F 12 Tf 72 720 Td (Deed %d) Tj ET", seed)
	object("<< /Length %d >>\nstream\n%s\nendstream", len(page), page)
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	padding := make([]byte, max(1, size-b.Len()-300))
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range padding {
		padding[i] = 'a' + byte(rng.UintN(26))
	}
	object("<< /Length %d >>\nstream\n%s\nendstream", len(padding), padding)
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return b.Bytes()
}

// uploadUntilKilled uploads documents concurrently, kills the server after the given
// duration, and records the documents that the server acknowledged.
func (h *harness) uploadUntilKilled(s *serverProcess, duration time.Duration) {
	h.t.Helper()
	// The requests normally end when the server is killed. The timeout applies if the server
	// hangs.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var killed atomic.Bool
	for n := range uploaders {
		seed := h.seed + uint64(n)<<32
		wg.Go(func() {
			u := &uploader{client: s.client, seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), acked: map[int64]ackedDocument{},
				instruments: map[int64]ackedInstrument{}}
			var err error
			for err == nil {
				err = u.request(ctx, n%2 == 0)
			}
			if !killed.Load() {
				h.t.Errorf("request before the kill: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for id, a := range u.acked {
				h.acked[id] = a
				h.unchecked = append(h.unchecked, id)
			}
			for id, a := range u.instruments {
				h.instruments[id] = a
				h.newInstruments = append(h.newInstruments, id)
			}
		})
	}
	h.seed += 1 << 16
	time.Sleep(duration)
	killed.Store(true)
	s.kill()
	wg.Wait()
	h.stats.acked += len(h.unchecked)
	h.stats.instruments += len(h.newInstruments)
}

// uploader is a client that sends one upload request after another.
type uploader struct {
	client *client.Client
	seed   uint64
	rng    *rand.Rand
	acked  map[int64]ackedDocument

	instruments map[int64]ackedInstrument
}

// request uploads one document or, if abstract is set, creates an abstract with several
// documents.
func (u *uploader) request(ctx context.Context, abstract bool) error {
	n := 1
	if abstract {
		n = filesPerAbstract
	}
	var docs []ackedDocument
	var parts []client.Upload
	for range n {
		u.seed++
		// Distribute the sizes evenly over the orders of magnitude.
		size := int(minSize * math.Pow(maxSize/minSize, u.rng.Float64()))
		body := makePDF(u.seed, size)
		sum := sha256.Sum256(body)
		docs = append(docs, ackedDocument{seed: u.seed, size: size, digest: hex.EncodeToString(sum[:])})
		parts = append(parts, client.Upload{Filename: fmt.Sprintf("Deed %d.pdf", u.seed), Reader: bytes.NewReader(body)})
	}
	var parent string
	var files []apitypes.File
	var failures []apitypes.FileFailure
	if abstract {
		created, err := u.client.CreateAbstract(ctx, client.AbstractDraft{Address: "12 Elm Street", Files: parts})
		if err != nil {
			return err
		}
		parent, files, failures = created.Data.ID, created.Data.Files, created.Errors
	} else {
		created, err := u.client.Upload(ctx, nil, parts)
		if err != nil {
			return err
		}
		files, failures = created.Files, created.Errors
	}
	if len(failures) > 0 || len(files) != len(docs) {
		return fmt.Errorf("got %d of %d documents, rejected %v", len(files), len(docs), failures)
	}
	for i, f := range files {
		docs[i].abstract = parent
		u.acked[f.ID] = docs[i]
	}
	if !abstract {
		return nil
	}
	return u.record(ctx, parent, files[0].ID)
}

// record records a mortgage of an abstract and its release.
func (u *uploader) record(ctx context.Context, abstract string, document int64) error {
	var mortgage int64
	for _, kind := range []string{"Mortgage", "Release or Satisfaction"} {
		u.seed++
		draft := client.InstrumentDraft{Type: kind, InstrumentNumber: fmt.Sprint(u.seed), Recorded: "2026-03-14", Grantors: []string{"Cole, Bea"},
			Grantees: []string{"First Bank"}, Documents: []map[string]any{{"file_id": document}}}
		if mortgage != 0 {
			draft.Relations = []map[string]any{{"kind": "releases", "instrument_id": mortgage}}
		}
		recorded, err := u.client.CreateInstrument(ctx, abstract, draft)
		if err != nil {
			return err
		}
		mortgage = recorded.ID
		u.instruments[recorded.ID] = ackedInstrument{abstract: abstract, number: draft.InstrumentNumber, document: document}
	}
	return nil
}

// lostInstruments returns those of the given instruments that differ from what the server
// acknowledged.
func (h *harness) lostInstruments(s *serverProcess, ids []int64) (lost []int64) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, id := range ids {
		a := h.instruments[id]
		i, err := s.client.Instrument(ctx, id)
		if err != nil || i.AbstractID != a.abstract || i.InstrumentNumber == nil || *i.InstrumentNumber != a.number || len(i.Documents) != 1 ||
			i.Documents[0].FileID != a.document {
			lost = append(lost, id)
		}
	}
	return lost
}

// findDamaged downloads the given documents and returns the IDs of those that differ from
// the uploaded content.
func (h *harness) findDamaged(s *serverProcess, ids []int64) (damaged []int64) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int64)
	for range uploaders {
		wg.Go(func() {
			for id := range next {
				if h.isIntact(s, id) {
					continue
				}
				mu.Lock()
				damaged = append(damaged, id)
				mu.Unlock()
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	wg.Wait()
	return damaged
}

// isIntact reports whether a document and its abstract are the same as when they were
// acknowledged.
func (h *harness) isIntact(s *serverProcess, id int64) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := s.client.Download(ctx, id)
	if err != nil {
		return false
	}
	defer stream.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(stream)
	a := h.acked[id]
	sum := sha256.Sum256(body)
	if a.abstract != "" {
		parent, err := s.client.Abstract(ctx, a.abstract)
		if err != nil || !slices.ContainsFunc(parent.Files, func(f apitypes.File) bool { return f.ID == id }) {
			return false
		}
	}
	return err == nil && hex.EncodeToString(sum[:]) == a.digest && bytes.Equal(body, makePDF(a.seed, a.size))
}
