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

func sum(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:])
}

// imported imports one document and wants no error.
func imported(t *testing.T, v *instance.Instance, folder uint64, d vaulttest.Doc) vault.Imported {
	t.Helper()
	done, err := v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{FolderID: folder, Filename: d.Name}, sum(d.Body), vaulttest.StageDocs(t, v, d))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// A document is there when its folder has its name and its bytes, and nothing else is.
func TestImportOnce(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	deed := vaulttest.PDFDoc("Cafe\u0301.pdf", "1")
	first := imported(t, v, 1, deed)
	if first.Existed || first.File.FolderID != 1 || first.Rejection != "" {
		t.Fatalf("%+v", first)
	}
	for _, row := range []struct {
		name   string
		folder uint64
		doc    vaulttest.Doc
		there  bool
	}{
		{"once more", 1, deed, true},
		{"in the composed form", 1, vaulttest.NewDoc("Caf\u00e9.pdf", deed.Body), true},
		{"in another folder", 2, deed, false},
		{"in no folder", 0, deed, false},
		{"under another name", 1, vaulttest.NewDoc("cafe.pdf", deed.Body), false},
		{"in other letters", 1, vaulttest.NewDoc("CAFE\u0301.pdf", deed.Body), false},
		{"with other bytes", 1, vaulttest.PDFDoc("Cafe\u0301.pdf", "2"), false},
	} {
		found, there, err := v.Files.FindImported(t.Context(), vault.ImportTarget{FolderID: row.folder, Filename: row.doc.Name}, sum(row.doc.Body))
		if err != nil || there != row.there || there && found.ID != first.File.ID {
			t.Errorf("%s: looked at: %v, %v", row.name, there, err)
		}
		if done := imported(t, v, row.folder, row.doc); done.Existed != row.there || done.Existed && done.File.ID != first.File.ID {
			t.Errorf("%s: %+v", row.name, done)
		}
	}
	// What is in the trash is not there, nor what is an abstract's.
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, first.File.ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	if done := imported(t, v, 1, deed); done.Existed {
		t.Error("what is in the trash counts as there")
	}
	plat := vaulttest.PDFDoc("Plat.pdf", "3")
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, plat), vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatal(err)
	}
	if done := imported(t, v, 0, plat); done.Existed {
		t.Error("an abstract's document counts as there")
	}
}

// Two imports at the same time file a document once.
func TestImportRace(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for n := range 10 {
		d := vaulttest.PDFDoc("Deed.pdf", string(rune('a'+n)))
		var all sync.WaitGroup
		var mu sync.Mutex
		filed := 0
		for range 8 {
			tray := vaulttest.StageDocs(t, v, d)
			all.Go(func() {
				done, err := v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{FolderID: 1, Filename: d.Name}, sum(d.Body), tray)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if !done.Existed {
					filed++
				}
			})
		}
		all.Wait()
		if filed != 1 {
			t.Fatalf("round %d: filed %d times", n, filed)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	if done := imported(t, v, 0, vaulttest.NewDoc("x.pdf", []byte("no PDF at all"))); done.Rejection != "File content does not match its .pdf extension" || done.File.ID != 0 {
		t.Errorf("%+v", done)
	}
	deed := vaulttest.PDFDoc("Deed.pdf", "1")
	_, err := v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{Filename: deed.Name}, sum([]byte("others")), vaulttest.StageDocs(t, v, deed))
	vaulttest.WantKind(t, "other bytes than were read", err, errs.Conflict)
	_, err = v.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{FolderID: 99, Filename: deed.Name}, sum(deed.Body), vaulttest.StageDocs(t, v, deed))
	vaulttest.WantKind(t, "no such folder", err, errs.NotFound)
	_, _, err = v.Files.FindImported(t.Context(), vault.ImportTarget{}, "zz")
	vaulttest.WantKind(t, "no digest", err, errs.Invalid)
	for name, want := range map[string]string{"a.pdf": "", "a.exe": document.ReasonUnsupportedType, "a": document.ReasonUnsupportedType} {
		if got := v.Files.CheckNameAndSize(name, 1); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := v.Files.CheckNameAndSize("a.exe", 0); got != document.ReasonEmpty {
		t.Error(got)
	}
	if got := v.Files.CheckNameAndSize("a.exe", 100<<20+1); got != document.ReasonTooLarge(100<<20) {
		t.Error(got)
	}
	if s := vaulttest.Status(t, v); s.Files != 0 {
		t.Errorf("%d files", s.Files)
	}
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	inbox, made, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, 0, 0, " INBOX ", false)
	if err != nil || made || inbox.Name != "Inbox" {
		t.Errorf("%+v, %v, %v", inbox, made, err)
	}
	none, made, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, inbox.ID, 0, "2019", true)
	if err != nil || made || none.ID != 0 {
		t.Errorf("dry: %+v, %v, %v", none, made, err)
	}
	var all sync.WaitGroup
	ids := make([]uint64, 8)
	for n := range ids {
		all.Go(func() {
			one, _, err := v.Folders.Ensure(t.Context(), vaulttest.Operator, inbox.ID, 0, "2019", false)
			if err != nil {
				t.Error(err)
			}
			ids[n] = one.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id == 0 || id != ids[0] {
			t.Errorf("%v", ids)
		}
	}
	_, _, err = v.Folders.Ensure(t.Context(), vaulttest.Operator, 99, 0, "x", false)
	vaulttest.WantKind(t, "below none", err, errs.Invalid)
	_, _, err = v.Folders.Ensure(t.Context(), vaulttest.Operator, 0, 0, " ", false)
	vaulttest.WantKind(t, "no name", err, errs.Invalid)
}
