package vault_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const replayKeep = 24 * time.Hour

func replay(t *testing.T, v *instance.Instance, n byte) (model.StoredResponse, bool) {
	t.Helper()
	r, found, err := v.StoredResponse(t.Context(), vaulttest.KeyHash(n))
	if err != nil {
		t.Fatal(err)
	}
	return r, found
}

// Every verb that answers a POST keeps its answer with what it made.
func TestKeep(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("0.pdf", "0"))
	vaulttest.CreateOrder(t, v, "A-0")
	trashed := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("9.pdf", "9"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	for i, row := range []struct {
		name string
		verb func(n byte) (any, error)
	}{
		{"create an abstract", func(n byte) (any, error) {
			return v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"attach", func(n byte) (any, error) {
			return v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("2.pdf", "2")), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"attach nothing good", func(n byte) (any, error) {
			return v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"upload", func(n byte) (any, error) {
			return v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("3.pdf", "3")), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"upload nothing good", func(n byte) (any, error) {
			return v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"create an order", func(n byte) (any, error) {
			return v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("A-1")}, vaulttest.IdempotencyKey[model.Order](n))
		}},
		{"create a folder", func(n byte) (any, error) {
			return v.Folders.Create(t.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput("Box")}, vaulttest.IdempotencyKey[model.Folder](n))
		}},
		{"restore a file", func(n byte) (any, error) {
			return v.Files.Restore(t.Context(), vaulttest.Operator, trashed.ID, vaulttest.IdempotencyKey[model.File](n))
		}},
		{"restore an order", func(n byte) (any, error) {
			return v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[model.Order](n))
		}},
		{"restore what is live", func(n byte) (any, error) {
			return v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := byte(i + 1)
			if _, found := replay(t, v, n); found {
				t.Fatal("an answer before the question")
			}
			made, err := row.verb(n)
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(made)
			vaulttest.NoError(t, err)
			want := model.StoredResponse{RequestHash: fmt.Sprintf("request %d", n), Status: 201, Header: map[string]string{"Location": "/there"}, Body: body, At: opts.Now()}
			if r, found := replay(t, v, n); !found || !reflect.DeepEqual(r, want) {
				t.Errorf("kept %+v, %s\nwant %+v, %s", r, r.Body, want, want.Body)
			}
			before := vaulttest.Status(t, v)
			_, err = row.verb(n)
			vaulttest.WantKind(t, "the same again", err, errs.Conflict)
			if !errors.Is(err, vault.ErrAlreadyProcessed) {
				t.Errorf("the same again: %v", err)
			}
			after := vaulttest.Status(t, v)
			before.DiskFree, after.DiskFree = 0, 0
			if before != after {
				t.Errorf("the same again made something: %+v, then %+v", before, after)
			}
		})
	}
}

// A request that was answered is not done once more, whatever became of its record
// since.
func TestKeepOutlastsTheRecord(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrder(t, v, "A-1")
	toTrash := func() { vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{})) }
	toTrash()
	_, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[model.Order](1))
	vaulttest.NoError(t, err)
	toTrash()
	if _, err = v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[model.Order](1)); !errors.Is(err, vault.ErrAlreadyProcessed) {
		t.Error(err)
	}
	vaulttest.WantTrash(t, v, "order 1 A-1")
}

// The record and its answer are one: without the answer there is no record.
func TestKeepFails(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	broken := errors.New("no answer can be made")
	keep := vaulttest.IdempotencyKey[vault.AbstractWithFiles](1)
	keep.Render = func(vault.AbstractWithFiles) (int, map[string]string, []byte, error) { return 0, nil, nil, broken }
	tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, tr, keep); !errors.Is(err, broken) {
		t.Error(err)
	}
	tr.Discard()
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	vaulttest.WantNoDocuments(t, opts.Dir)
	if s := vaulttest.Status(t, v); s.Abstracts != 0 || s.Files != 0 {
		t.Errorf("%+v", s)
	}
	if _, found := replay(t, v, 1); found {
		t.Error("an answer without a record")
	}
	// Nor is anything kept of a request that was refused.
	_, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{}, vaulttest.IdempotencyKey[model.Order](2))
	vaulttest.WantKind(t, "refused", err, errs.Invalid)
	if _, found := replay(t, v, 2); found {
		t.Error("a refusal was kept")
	}
}

// A client that heard nothing asks again, from all sides: one record is made.
func TestKeepFromAllSides(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	errs := make(chan error)
	for range 8 {
		go func() {
			_, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("A-1")}, vaulttest.IdempotencyKey[model.Order](1))
			errs <- err
		}()
	}
	made := 0
	for range 8 {
		if err := <-errs; err == nil {
			made++
		} else if !errors.Is(err, vault.ErrAlreadyProcessed) {
			t.Error(err)
		}
	}
	if n := vaulttest.Status(t, v).Orders; made != 1 || n != 1 {
		t.Errorf("%d made, %d there", made, n)
	}
}

// An answer is given until its time is over, and is pruned then; the slot is free.
func TestReplayEnds(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	make1 := func() error {
		_, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("A-1")}, vaulttest.IdempotencyKey[model.Order](1))
		return err
	}
	vaulttest.NoError(t, make1())
	clock.Advance(replayKeep - time.Microsecond)
	vaulttest.NoError(t, v.Purge(t.Context()))
	if _, found := replay(t, v, 1); !found {
		t.Error("gone early")
	}
	clock.Advance(time.Microsecond)
	if _, found := replay(t, v, 1); found {
		t.Error("given too long")
	}
	vaulttest.NoError(t, make1()) // over the one that is not pruned yet
	clock.Advance(replayKeep)
	vaulttest.Verify(t, v)
	vaulttest.NoError(t, v.Purge(t.Context()))
	if _, found, err := v.StoredResponseIncludingExpired(vaulttest.KeyHash(1)); err != nil || found {
		t.Errorf("pruned: %v, %v", found, err)
	}
	if n := vaulttest.Status(t, v).Orders; n != 2 {
		t.Errorf("%d orders", n)
	}
}

// Looking for answers whose time is over costs no commit when there are none.
func TestPruningNothingWritesNothing(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithClock(t)
	_, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("A-1")}, vaulttest.IdempotencyKey[model.Order](1))
	vaulttest.NoError(t, err)
	purged := func() (changed bool) {
		t.Helper()
		before, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
		vaulttest.NoError(t, err)
		vaulttest.NoError(t, v.Purge(t.Context()))
		after, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
		vaulttest.NoError(t, err)
		return !bytes.Equal(before, after)
	}
	if purged() {
		t.Error("it wrote to the database for nothing")
	}
	clock.Advance(replayKeep)
	if !purged() {
		t.Error("what is due was not pruned")
	}
}

// What is kept survives a restart, as its record does.
func TestReplayAfterARestart(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	_, err = v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1")), vaulttest.IdempotencyKey[vault.AbstractWithFiles](1))
	vaulttest.NoError(t, err)
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if r, found := replay(t, v, 1); !found || r.Status != 201 {
		t.Errorf("%+v, %v", r, found)
	}
}
