package vaulttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/pdf"
	"deedkeep/app/sandbox"
	"deedkeep/app/search"
	"deedkeep/app/secret"
)

// Clock is a clock that tests advance. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that starts at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)}
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward, or back if by is negative.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// Rand returns an endless, deterministic source of random bytes. It is safe for concurrent use.
func Rand() io.Reader {
	return &lockedRand{source: rand.NewChaCha8([32]byte{1})}
}

// lockedRand is a deterministic io.Reader that is safe for concurrent use.
type lockedRand struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (c *lockedRand) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source.Read(p)
}

// Settings returns the default settings with changes for tests: no disk reserve, no reserve file, no retention, and a
// longer search timeout for machines under load.
func Settings() instance.Settings {
	return instance.Settings{FileSize: 100 << 20, FilesPerRequest: 100, Inspect: document.DefaultInspectLimits(),
		Users: auth.UserRules{KnownAddress: 30 * 24 * time.Hour}, TrashKeep: 30 * 24 * time.Hour, ReplayKeep: 24 * time.Hour,
		Search: search.Settings{Deadline: 20 * time.Second}}
}

// Options returns options for a test vault in its own directory, with a test clock, deterministic random bytes, cheap
// password hashes, and a Reader that starts no worker processes.
func Options(t testing.TB) instance.Options {
	t.Helper()
	return instance.Options{
		Dir: t.TempDir(), Create: true, Settings: Settings(), Reader: Reader{}, Now: NewClock().Now, Rand: Rand(),
		Passwords: secret.Argon2Params{Memory: 8, Passes: 1, Lanes: 1}, Log: discardLogger(),
	}
}

// Open opens a vault. At the end of the test it verifies the vault, which must have no findings, and closes it.
func Open(t testing.TB, opts instance.Options) *instance.Instance {
	t.Helper()
	v, err := instance.Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Verify(t, v)
		if err := v.Close(); err != nil {
			t.Errorf("close the vault: %v", err)
		}
	})
	return v
}

// Verify fails the test for every finding of a verification.
func Verify(t testing.TB, v *instance.Instance) {
	t.Helper()
	report, err := v.Integrity.Verify(context.Background(), func(int, int) {})
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	for _, f := range report.Findings {
		t.Errorf("verify: %s %s: %s", f.Kind, f.Subject, f.Problem)
	}
}

// Reader inspects documents in the test process. It uses a fake in place of PDFium, which reads only documents from
// PDF. It renders no pages, and extracts text only from text files.
type Reader struct{}

// Picture returns ErrUnsupported.
func (Reader) Picture(context.Context, sandbox.Request, int, int, document.ExtractLimits) (document.Image, error) {
	return document.Image{}, document.ErrUnsupported
}

// Sizes returns the letter size for every page of a document from PDF.
func (Reader) Sizes(_ context.Context, r sandbox.Request, _ document.ExtractLimits) ([]document.PageSize, error) {
	head := make([]byte, min(r.Size, 1024))
	if _, err := r.Doc.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	found := fakePages.FindSubmatch(head)
	if found == nil {
		return nil, document.ErrUnsupported
	}
	pages, err := strconv.Atoi(string(found[1]))
	return slices.Repeat([]document.PageSize{document.USLetter}, pages), err
}

// Marks returns ErrUnsupported.
func (Reader) Marks(context.Context, sandbox.Request, int, string, document.ExtractLimits) ([][]document.Rect, error) {
	return nil, document.ErrUnsupported
}

// Text returns the content of a text file.
func (Reader) Text(_ context.Context, r sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	if r.MIME != "text/plain" {
		return document.ErrUnsupported
	}
	text, err := io.ReadAll(io.NewSectionReader(r.Doc, 0, r.Size))
	if err != nil {
		return err
	}
	return emit(1, string(text))
}

// Inspect inspects a document with the fake PDF engine.
func (Reader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	return document.Inspect(ctx, doc, size, ext, fakePDFium{}, lim)
}

// PDF returns a document with a number of pages that Reader can inspect. Different salts result in different contents.
func PDF(pages int, salt string) []byte {
	return []byte("%PDF-1.7\n%toy pages=" + strconv.Itoa(pages) + " " + salt + "\n%%EOF\n")
}

var fakePages = regexp.MustCompile(`%toy pages=(\d+)`)

// fakePDFium implements the PDF engine for documents from PDF.
type fakePDFium struct{}

func (fakePDFium) Open(_ context.Context, doc io.ReaderAt, size int64) (document.PDF, error) {
	head := make([]byte, min(size, 1024))
	if _, err := doc.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	found := fakePages.FindSubmatch(head)
	switch {
	case bytes.Contains(head, []byte("/Encrypt")):
		return nil, pdf.ErrPassword
	case found == nil:
		return nil, pdf.ErrUnreadable
	}
	pages, err := strconv.Atoi(string(found[1]))
	if err != nil || pages == 0 {
		return nil, pdf.ErrUnreadable
	}
	return fakeDocument{pages: pages}, nil
}

type fakeDocument struct {
	document.PDF // not called: nil
	pages        int
}

func (d fakeDocument) Pages() int                               { return d.pages }
func (d fakeDocument) ImageHeavy(context.Context) (bool, error) { return false, nil }
func (d fakeDocument) Close(context.Context) error              { return nil }

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }
