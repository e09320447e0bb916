package vault_test

import (
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// Move and TrashMany skip unknown documents and report them.
func TestMoveAndTrashFiles(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("4.pdf", "4"), vaulttest.PDFDoc("5.pdf", "5"))
	ids := []uint64{loose[1].ID, loose[0].ID, loose[0].ID, 99}
	for range 2 { // the second move changes nothing
		got, err := v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: ids, To: vault.Destination{Folder: deeds.ID}})
		if err != nil || got.Moved != 2 || len(got.Skipped) != 1 || got.Skipped[0].File.ID != 99 {
			t.Errorf("Files.Move: got %+v, %v, want 2 moved, skipped file 99", got, err)
		}
	}
	if f, err := v.Files.Get(t.Context(), loose[0].ID); err != nil || f.FolderID != deeds.ID || f.Version != 2 {
		t.Errorf("Files.Get: got %+v, %v, want version 2 in folder %d", f, err, deeds.ID)
	}
	_, err := v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: ids, To: vault.Destination{Folder: 77}})
	vaulttest.WantKind(t, "move to an unknown folder", err, errs.NotFound)
	trashed, skipped, err := v.Files.TrashMany(t.Context(), vaulttest.Operator, []uint64{a.Files[0].ID, a.Files[2].ID, loose[0].ID, 99})
	if err != nil || trashed != 3 || len(skipped) != 1 {
		t.Errorf("Files.TrashMany: got %d trashed, skipped %+v, %v, want 3 trashed, 1 skipped", trashed, skipped, err)
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 1 || got.Files[0].Filename != "2.pdf" {
		t.Errorf("files of the abstract: got %+v, %v, want 2.pdf", got.Files, err)
	}
	for _, id := range []uint64{a.Files[2].ID, a.Files[0].ID} {
		if _, err := v.Files.Restore(t.Context(), vaulttest.Operator, id, vault.Idempotency[model.File]{}); err != nil {
			t.Errorf("Files.Restore: %v", err)
		}
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 3 || got.Files[0].Filename != "1.pdf" {
		t.Errorf("files of the abstract after the restore: got %+v, %v, want 3, 1.pdf first", got.Files, err)
	}
}
