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

const responseLifetime = 24 * time.Hour

// storedResponse returns the response stored under idempotency key n.
func storedResponse(t *testing.T, v *instance.Instance, n byte) (model.StoredResponse, bool) {
	t.Helper()
	r, found, err := v.StoredResponse(t.Context(), vaulttest.KeyHash(n))
	if err != nil {
		t.Fatalf("StoredResponse: %v", err)
	}
	return r, found
}

// Every operation behind a POST request stores its response together with its changes.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("0.pdf", "0"))
	vaulttest.CreateOrder(t, v, "A-0")
	trashed := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("9.pdf", "9"))[0]
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	for i, row := range []struct {
		name string
		run  func(n byte) (any, error)
	}{
		{"create an abstract", func(n byte) (any, error) {
			return v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{},
				vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))),
				vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"attach", func(n byte) (any, error) {
			return v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{},
				vaulttest.StageDocs(t, v, vaulttest.PDFDoc("2.pdf", "2")), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"attach no accepted file", func(n byte) (any, error) {
			return v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{},
				vaulttest.StageDocs(t, v, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"upload", func(n byte) (any, error) {
			return v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{},
				vaulttest.StageDocs(t, v, vaulttest.PDFDoc("3.pdf", "3")), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"upload no accepted file", func(n byte) (any, error) {
			return v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{},
				vaulttest.StageDocs(t, v, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))), vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
		{"create an order", func(n byte) (any, error) {
			return v.Orders.Create(t.Context(), vaulttest.Operator,
				model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("A-1")}},
				vaulttest.IdempotencyKey[model.Order](n))
		}},
		{"create a folder", func(n byte) (any, error) {
			return v.Folders.Create(t.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput("Box")},
				vaulttest.IdempotencyKey[model.Folder](n))
		}},
		{"restore a file", func(n byte) (any, error) {
			return v.Files.Restore(t.Context(), vaulttest.Operator, trashed.ID, vaulttest.IdempotencyKey[model.File](n))
		}},
		{"restore an order", func(n byte) (any, error) {
			return v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[model.Order](n))
		}},
		{"restore an abstract that is not in the trash", func(n byte) (any, error) {
			return v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[vault.AbstractWithFiles](n))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := byte(i + 1)
			if _, found := storedResponse(t, v, n); found {
				t.Fatal("stored response before the request: got one, want none")
			}
			created, err := row.run(n)
			if err != nil {
				t.Fatalf("first request: %v", err)
			}
			body, err := json.Marshal(created)
			vaulttest.NoError(t, err)
			want := model.StoredResponse{RequestHash: fmt.Sprintf("request %d", n), Status: 201,
				Header: map[string]string{"Location": "/there"}, Body: body, At: opts.Now()}
			if r, found := storedResponse(t, v, n); !found || !reflect.DeepEqual(r, want) {
				t.Errorf("stored response: got %+v, %s\nwant %+v, %s", r, r.Body, want, want.Body)
			}
			before := vaulttest.Status(t, v)
			_, err = row.run(n)
			vaulttest.WantKind(t, "repeated request", err, errs.Conflict)
			if !errors.Is(err, vault.ErrAlreadyProcessed) {
				t.Errorf("repeated request: got %v, want %v", err, vault.ErrAlreadyProcessed)
			}
			after := vaulttest.Status(t, v)
			before.DiskFree, after.DiskFree = 0, 0
			if before != after {
				t.Errorf("status after the repeated request: got %+v, want %+v", after, before)
			}
		})
	}
}

// A repeated request is not run again, even if the record it created has been deleted.
func TestIdempotencyAfterDeletion(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrder(t, v, "A-1")
	trash := func() { vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{})) }
	trash()
	_, err := v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[model.Order](1))
	vaulttest.NoError(t, err)
	trash()
	if _, err = v.Orders.Restore(t.Context(), vaulttest.Operator, 1, vaulttest.IdempotencyKey[model.Order](1)); !errors.Is(err,
		vault.ErrAlreadyProcessed) {
		t.Errorf("Orders.Restore: got %v, want %v", err, vault.ErrAlreadyProcessed)
	}
	vaulttest.WantTrash(t, v, "order 1 A-1")
}

// If the response can't be stored, the record isn't created.
func TestIdempotencyRenderFails(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	failed := errors.New("can't render the response")
	key := vaulttest.IdempotencyKey[vault.AbstractWithFiles](1)
	key.Render = func(vault.AbstractWithFiles) (int, map[string]string, []byte, error) { return 0, nil, nil, failed }
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, staged, key); !errors.Is(err, failed) {
		t.Errorf("Abstracts.Create: got %v, want %v", err, failed)
	}
	staged.Discard()
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	vaulttest.WantNoDocuments(t, opts.Dir)
	if s := vaulttest.Status(t, v); s.Abstracts != 0 || s.Files != 0 {
		t.Errorf("status: got %+v, want no abstracts and no files", s)
	}
	if _, found := storedResponse(t, v, 1); found {
		t.Error("stored response without a record: got one, want none")
	}
	// The response to an invalid request isn't stored.
	_, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{}, vaulttest.IdempotencyKey[model.Order](2))
	vaulttest.WantKind(t, "order without a number", err, errs.Invalid)
	if _, found := storedResponse(t, v, 2); found {
		t.Error("stored response of an invalid request: got one, want none")
	}
}

// Concurrent requests with the same idempotency key create one record.
func TestIdempotencyConcurrently(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	results := make(chan error)
	for range 8 {
		go func() {
			_, err := v.Orders.Create(t.Context(), vaulttest.Operator,
				model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("A-1")}},
				vaulttest.IdempotencyKey[model.Order](1))
			results <- err
		}()
	}
	successes := 0
	for range 8 {
		if err := <-results; err == nil {
			successes++
		} else if !errors.Is(err, vault.ErrAlreadyProcessed) {
			t.Errorf("Orders.Create: got %v, want nil or %v", err, vault.ErrAlreadyProcessed)
		}
	}
	if n := vaulttest.Status(t, v).Orders; successes != 1 || n != 1 {
		t.Errorf("got %d successful requests, %d orders, want 1 and 1", successes, n)
	}
}

// A stored response expires after its lifetime. After that, the purger prunes it, and the key can be used again.
func TestIdempotencyExpires(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	createOrder := func() error {
		_, err := v.Orders.Create(t.Context(), vaulttest.Operator,
			model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("A-1")}},
			vaulttest.IdempotencyKey[model.Order](1))
		return err
	}
	vaulttest.NoError(t, createOrder())
	clock.Advance(responseLifetime - time.Microsecond)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	if _, found := storedResponse(t, v, 1); !found {
		t.Error("stored response before its expiration: got none, want one")
	}
	clock.Advance(time.Microsecond)
	if _, found := storedResponse(t, v, 1); found {
		t.Error("stored response after its expiration: got one, want none")
	}
	vaulttest.NoError(t, createOrder()) // replaces the expired response before it is pruned
	clock.Advance(responseLifetime)
	vaulttest.Verify(t, v)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	if _, found, err := v.StoredResponseIncludingExpired(vaulttest.KeyHash(1)); err != nil || found {
		t.Errorf("response after pruning: got %t, %v, want none", found, err)
	}
	if n := vaulttest.Status(t, v).Orders; n != 2 {
		t.Errorf("number of orders: got %d, want 2", n)
	}
}

// If no response has expired, pruning doesn't write to the database.
func TestPruneWithoutExpiredResponses(t *testing.T) {
	t.Parallel()
	v, opts, clock := vaulttest.OpenWithClock(t)
	_, err := v.Orders.Create(t.Context(), vaulttest.Operator,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("A-1")}},
		vaulttest.IdempotencyKey[model.Order](1))
	vaulttest.NoError(t, err)
	purge := func() (changed bool) {
		t.Helper()
		before, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
		vaulttest.NoError(t, err)
		vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
		after, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
		vaulttest.NoError(t, err)
		return !bytes.Equal(before, after)
	}
	if purge() {
		t.Error("purge without expired responses: got a changed database, want no change")
	}
	clock.Advance(responseLifetime)
	if !purge() {
		t.Error("purge of an expired response: got an unchanged database, want a change")
	}
}

// Stored responses survive a restart.
func TestIdempotencyAfterRestart(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	_, err = v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1")), vaulttest.IdempotencyKey[vault.AbstractWithFiles](1))
	vaulttest.NoError(t, err)
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if r, found := storedResponse(t, v, 1); !found || r.Status != 201 {
		t.Errorf("stored response: got %+v, %t, want status 201", r, found)
	}
}
