package vault_test

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// sum returns the SHA-256 digest of body in hexadecimal.
func sum(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:])
}

// importDoc imports d into a folder.
func importDoc(t *testing.T, v *instance.Instance, folder uint64, d vaulttest.Doc) vault.Imported {
	t.Helper()
	result, err := v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{FolderID: folder, Filename: d.Name},
		sum(d.Body), vaulttest.StageDocs(t, v, d))
	if err != nil {
		t.Fatalf("Files.Import: %v", err)
	}
	return result
}

// An import skips a document only if the folder already contains a file with the same name and content.
func TestImportSkipsExistingDocuments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	deed := vaulttest.PDFDoc("Cafe\u0301.pdf", "1")
	first := importDoc(t, v, 1, deed)
	if first.Existed || first.File.FolderID != 1 || first.Rejection != "" {
		t.Fatalf("first import: got %+v, want a new file in folder 1", first)
	}
	for _, row := range []struct {
		name   string
		folder uint64
		doc    vaulttest.Doc
		want   bool // whether the import finds the existing file
	}{
		{"same document", 1, deed, true},
		{"name in composed Unicode form", 1, vaulttest.NewDoc("Caf\u00e9.pdf", deed.Body), true},
		{"another folder", 2, deed, false},
		{"no folder", 0, deed, false},
		{"another name", 1, vaulttest.NewDoc("cafe.pdf", deed.Body), false},
		{"name in capitals", 1, vaulttest.NewDoc("CAFE\u0301.pdf", deed.Body), false},
		{"other content", 1, vaulttest.PDFDoc("Cafe\u0301.pdf", "2"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			target := vault.ImportTarget{FolderID: row.folder, Filename: row.doc.Name}
			file, found, err := v.Files.FindImported(t.Context(), target, sum(row.doc.Body))
			if err != nil || found != row.want || found && file.ID != first.File.ID {
				t.Errorf("FindImported: got file %d, %t, %v, want %t with file %d", file.ID, found, err, row.want, first.File.ID)
			}
			if got := importDoc(t, v, row.folder, row.doc); got.Existed != row.want || got.Existed && got.File.ID != first.File.ID {
				t.Errorf("Import: got %+v, want existed %t with file %d", got, row.want, first.File.ID)
			}
		})
	}
	// An import ignores documents in the trash and documents of abstracts.
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, first.File.ID, vault.Match{}); err != nil {
		t.Fatalf("Files.Trash: %v", err)
	}
	if got := importDoc(t, v, 1, deed); got.Existed {
		t.Error("import of a document in the trash: got existed, want a new file")
	}
	plat := vaulttest.PDFDoc("Plat.pdf", "3")
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, plat),
		vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	if got := importDoc(t, v, 0, plat); got.Existed {
		t.Error("import of a document of an abstract: got existed, want a new file")
	}
}

// Concurrent imports of the same document create one file.
func TestImportRace(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for n := range 10 {
		d := vaulttest.PDFDoc("Deed.pdf", string(rune('a'+n)))
		var wg sync.WaitGroup
		var mu sync.Mutex
		createdCount := 0
		for range 8 {
			staged := vaulttest.StageDocs(t, v, d)
			wg.Go(func() {
				result, err := v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{FolderID: 1, Filename: d.Name}, sum(d.Body), staged)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("Files.Import: %v", err)
				}
				if !result.Existed {
					createdCount++
				}
			})
		}
		wg.Wait()
		if createdCount != 1 {
			t.Fatalf("round %d: got %d files, want 1", n, createdCount)
		}
	}
}

func TestImportErrors(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	const mismatch = "File content does not match its .pdf extension"
	if got := importDoc(t, v, 0, vaulttest.NewDoc("x.pdf", []byte("no PDF at all"))); got.Rejection != mismatch || got.File.ID != 0 {
		t.Errorf("import of an invalid PDF: got %+v, want %q and no file", got, mismatch)
	}
	deed := vaulttest.PDFDoc("Deed.pdf", "1")
	_, err := v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{Filename: deed.Name}, sum([]byte("others")),
		vaulttest.StageDocs(t, v, deed))
	vaulttest.WantKind(t, "digest of other content", err, errs.Conflict)
	_, err = v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{FolderID: 99, Filename: deed.Name}, sum(deed.Body),
		vaulttest.StageDocs(t, v, deed))
	vaulttest.WantKind(t, "unknown folder", err, errs.NotFound)
	_, _, err = v.Files.FindImported(t.Context(), vault.ImportTarget{}, "zz")
	vaulttest.WantKind(t, "invalid digest", err, errs.Invalid)
	for name, want := range map[string]string{"a.pdf": "", "a.exe": document.ReasonUnsupportedType, "a": document.ReasonUnsupportedType} {
		t.Run(name, func(t *testing.T) {
			if got := v.Files.CheckNameAndSize(name, 1); got != want {
				t.Errorf("CheckNameAndSize(%q, 1) = %q, want %q", name, got, want)
			}
		})
	}
	if got := v.Files.CheckNameAndSize("a.exe", 0); got != document.ReasonEmpty {
		t.Errorf("CheckNameAndSize of an empty file: got %q, want %q", got, document.ReasonEmpty)
	}
	if got := v.Files.CheckNameAndSize("a.exe", 100<<20+1); got != document.ReasonTooLarge(100<<20) {
		t.Errorf("CheckNameAndSize of a large file: got %q, want %q", got, document.ReasonTooLarge(100<<20))
	}
	if s := vaulttest.Status(t, v); s.Files != 0 {
		t.Errorf("number of files: got %d, want 0", s.Files)
	}
}
