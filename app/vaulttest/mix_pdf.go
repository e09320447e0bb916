package vaulttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"deedkeep/app/blob/disk"
	"deedkeep/app/blobstore"
)

// storePDFs stores the documents with text, and their texts as processing would.
func (m *mixFiller) storePDFs(ctx context.Context, dir string, progress func(step string, done, total int)) error {
	blobs, err := blobstore.Open(filepath.Join(dir, "blobs"), filepath.Join(dir, "tmp"),
		blobstore.Options{Files: noSyncFiles{disk.OSFiles()}})
	if err != nil {
		return err
	}
	previews, err := blobstore.OpenPreviews(filepath.Join(dir, "previews"), 1<<30, time.Now)
	if err != nil {
		return err
	}
	words := NewVocabulary()
	for n := range m.Texts {
		pages := words.Pages(n)
		staged, err := blobs.Stage(ctx, bytes.NewReader(TextPDF(pages)), math.MaxInt64)
		if err != nil {
			return err
		}
		release, err := blobs.Commit(ctx, staged)
		if err != nil {
			return err
		}
		release()
		doc := storedPDF{staged.Digest().String(), staged.Size()}
		if err := previews.Put(doc.digest, blobstore.TextFile, func(w io.Writer) error { return writeText(w, pages) }); err != nil {
			return err
		}
		if m.stored = append(m.stored, doc); len(m.stored)%firmBatch == 0 {
			progress("documents", len(m.stored), m.Texts)
		}
	}
	return nil
}

func writeText(w io.Writer, pages []string) error {
	text, err := blobstore.NewTextWriter(w)
	if err != nil {
		return err
	}
	for i, page := range pages {
		if err := text.Page(i+1, page); err != nil {
			return err
		}
	}
	return text.Close()
}

// noSyncFiles skips all syncs, because the generated vault can be created again.
type noSyncFiles struct{ disk.Files }

func (noSyncFiles) SyncDir(string) error { return nil }

func (n noSyncFiles) Create(path string) (disk.File, error) {
	f, err := n.Files.Create(path)
	return noSyncFile{f}, err
}

type noSyncFile struct{ disk.File }

func (noSyncFile) Sync() error          { return nil }
func (noSyncFile) WriteBack(_, _ int64) {}

// TextPDF returns a PDF with pages of text that every PDF reader can render and extract. The text must be ASCII without
// parentheses and backslashes.
func TextPDF(pages []string) []byte {
	var doc bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, doc.Len())
		fmt.Fprintf(&doc, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	doc.WriteString("%PDF-1.7\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), kids.String())
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>")
	for i, page := range pages {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i)
		lines := "BT /F1 12 Tf 16 TL 72 720 Td\n(" + strings.ReplaceAll(page, "\n", ") Tj T*\n(") + ") Tj\nET"
		object("<< /Length %d >>\nstream\n%s\nendstream", len(lines), lines)
	}
	xref := doc.Len()
	fmt.Fprintf(&doc, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&doc, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&doc, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, xref)
	return doc.Bytes()
}
