package integrity_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// titleWorkBuckets are the buckets with title work: its records and what is derived from them.
var titleWorkBuckets = []string{"instruments", "instrument_index", "instrument_refs", "runsheet_rows", "title_work", "order_abstracts",
	"user_abstracts", "notes", "record_notes"}

// closedTitleWork returns the options of a closed vault with title work of every kind.
func closedTitleWork(t *testing.T) instance.Options {
	t.Helper()
	opts := vaulttest.Options(t)
	v := vaulttest.OpenUnchecked(t, opts)
	user := (&vaulttest.UserFixture{Instance: v}).CreateUser(t, "Kim", model.RoleStaff)
	order := vaulttest.CreateOrder(t, v, "A-1")
	abstract := vaulttest.CreateAbstractFromTemplate(t, v, 1, nil).ID
	recordRelease(t, v, abstract)
	work := v.TitleWork
	_, err := work.SetOrder(t.Context(), vaulttest.Operator, abstract, order.ID, vault.Match{})
	if err != nil {
		t.Fatalf("SetOrder: %v", err)
	}
	members := model.Inputs{"searcher": model.JSONInput(fmt.Sprint(user.ID)), "due_date": model.JSONInput(`"2026-12-01"`)}
	if _, err := work.SetAssignment(t.Context(), vaulttest.Operator, abstract, members, vault.Match{}); err != nil {
		t.Fatalf("SetAssignment: %v", err)
	}
	names := model.JSONInput(`[{"name": "Bea Cole", "from": "1990-01-01", "result": "none"}]`)
	if _, err := work.SetNamesRun(t.Context(), vaulttest.Operator, abstract, names, vault.Match{}); err != nil {
		t.Fatalf("SetNamesRun: %v", err)
	}
	rows := model.JSONInput(`[{"kind": "requirement", "text": "Release of the mortgage"}]`)
	if _, err := work.SetRequirements(t.Context(), vaulttest.Operator, abstract, rows, vault.Match{}); err != nil {
		t.Fatalf("SetRequirements: %v", err)
	}
	certificate := vault.CertificateRequest{Members: model.Inputs{"effective_date": model.JSONInput(`"2026-01-02"`)}}
	if _, err := work.Certify(t.Context(), vaulttest.Operator, abstract, certificate, vault.Idempotency[model.Certificate]{}); err != nil {
		t.Fatalf("Certify: %v", err)
	}
	if _, err := work.BringDown(t.Context(), vaulttest.Operator, abstract, vault.Idempotency[vault.BroughtDown]{}); err != nil {
		t.Fatalf("BringDown: %v", err)
	}
	vaulttest.Verify(t, v)
	vaulttest.Close(t, v)
	return opts
}

// Verify finds a flipped bit at the start, in the middle, and at the end of the keys and values of
// title work, and in a certificate.
func TestVerifyFindsFlipsInTitleWork(t *testing.T) {
	t.Parallel()
	opts := closedTitleWork(t)
	if !copyIsOK(t, opts, func(string) {}) {
		t.Fatal("a copy of the vault: got findings, want none")
	}
	wantFinding := func(bucket string, key []byte, bit int, inKey bool) {
		if copyIsOK(t, opts, func(db string) { vaulttest.FlipBitOf(t, db, bucket, key, bit, inKey) }) {
			t.Errorf("bit %d of %x in bucket %s flipped, in the key: %t: got no finding, want one", bit, key, bucket, inKey)
		}
	}
	for _, bucket := range titleWorkBuckets {
		entries := vaulttest.Entries(t, filepath.Join(opts.Dir, "vault.db"), bucket)
		for _, e := range []vaulttest.Entry{entries[0], entries[len(entries)-1]} {
			for inKey, part := range map[bool][]byte{true: e.Key, false: e.Value} {
				if len(part) > 0 { // many indexes have no values
					for _, bit := range []int{0, len(part)*4 + 5, len(part)*8 - 1} {
						wantFinding(bucket, e.Key, bit, inKey)
					}
				}
			}
		}
		if bucket == "title_work" {
			at := bytes.Index(entries[0].Value, []byte("2026-01-02"))
			if at < 0 {
				t.Fatalf("title work %q has no certificate", entries[0].Value)
			}
			wantFinding(bucket, entries[0].Key, at*8+1, false)
		}
	}
}

// copyIsOK changes the database of a copy of a vault and verifies it.
func copyIsOK(t *testing.T, opts instance.Options, change func(database string)) bool {
	t.Helper()
	original := os.DirFS(opts.Dir)
	opts.Dir = t.TempDir()
	if err := os.CopyFS(opts.Dir, original); err != nil {
		t.Fatalf("copy the vault: %v", err)
	}
	change(filepath.Join(opts.Dir, "vault.db"))
	v := vaulttest.OpenUnchecked(t, opts)
	defer vaulttest.Close(t, v)
	return vaulttest.VerifyReport(t, v).OK()
}
