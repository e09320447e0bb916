package instance_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// randomClient calls random operations on an instance.
type randomClient struct {
	*testing.T
	v      *instance.Instance
	clock  *vaulttest.Clock
	r      *rand.Rand
	counts map[string]int      // number of successful calls by operation
	staged *vault.StagedUpload // upload staged by the current operation; nil if none
}

// TestRandomOperations calls all operations in random order. Errors must be of the expected kinds, and the data must stay
// consistent.
func TestRandomOperations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			v, opts, clock := vaulttest.OpenWithClock(t)
			p := &randomClient{T: t, v: v, clock: clock, r: rand.New(rand.NewPCG(seed, 1)), counts: map[string]int{}}
			for step := range 400 {
				p.step()
				if step%40 == 0 {
					vaulttest.Verify(t, v)
				}
				if t.Failed() {
					t.Fatalf("at step %d: %v", step, p.counts)
				}
			}
			if len(p.counts) < len(operations()) {
				t.Errorf("operations called = %v, want all %d", p.counts, len(operations()))
			}
			p.removeAll(opts.Dir)
		})
	}
}

func (rc *randomClient) step() {
	all := operations()
	op := all[rc.r.IntN(len(all))]
	err := op.do(rc)
	if rc.staged != nil {
		rc.staged.Discard()
		rc.staged = nil
	}
	switch errs.KindOf(err) {
	case errs.NotFound, errs.Invalid, errs.Conflict, errs.PreconditionFailed:
		return
	}
	if err != nil {
		rc.Errorf("%s: %v", op.name, err)
		return
	}
	rc.counts[op.name]++
}

// id returns the ID of a record that exists or may exist later.
func (rc *randomClient) id() uint64 { return 1 + rc.r.Uint64N(12) }

func (rc *randomClient) folder() model.IDInput {
	if rc.r.IntN(3) == 0 {
		return model.IDInput{}
	}
	return vaulttest.IDInput(rc.id())
}

func (rc *randomClient) match() vault.Match {
	if rc.r.IntN(3) > 0 {
		return vault.Match{}
	}
	return vaulttest.MatchVersions(rc.r.Uint64N(4))
}

func (rc *randomClient) docs() *vault.StagedUpload {
	var docs []vaulttest.Doc
	for range rc.r.IntN(4) {
		docs = append(docs, vaulttest.PDFDoc("Deed.pdf", fmt.Sprint(rc.r.IntN(6))))
	}
	rc.staged = vaulttest.StageDocs(rc.T, rc.v, docs...)
	return rc.staged
}

type operation struct {
	name string
	do   func(p *randomClient) error
}

// onlyError returns only the error of an operation.
func onlyError[T any](_ T, err error) error { return err }

func operations() []operation {
	return slices.Concat(abstractOperations(), fileOperations(), otherOperations())
}

func abstractOperations() []operation {
	return []operation{
		{"abstract create", func(p *randomClient) error {
			return onlyError(p.v.Abstracts.Create(p.Context(), vaulttest.Operator, model.AbstractDraft{}, p.docs(),
				vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"abstract attach", func(p *randomClient) error {
			return onlyError(p.v.Abstracts.Attach(p.Context(), vaulttest.Operator, p.id(), model.UploadDraft{}, p.docs(),
				vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"abstract patch", func(p *randomClient) error {
			return onlyError(p.v.Abstracts.Patch(p.Context(), vaulttest.Operator, p.id(),
				model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("Complete"),
					"county": model.StringInput(fmt.Sprint("county ", p.r.IntN(3)))}}, p.match()))
		}},
		{"abstract reorder", func(p *randomClient) error {
			abstract, err := p.v.Abstracts.Get(p.Context(), p.id())
			if err != nil {
				return err
			}
			sequence := model.IDListInput{IsArray: true}
			for _, i := range p.r.Perm(len(abstract.Files)) {
				sequence.Items = append(sequence.Items, vaulttest.IDInput(abstract.Files[i].ID))
			}
			return onlyError(p.v.Abstracts.Patch(p.Context(), vaulttest.Operator, abstract.Abstract.ID,
				model.AbstractPatch{Files: model.Some(sequence)}, vault.Match{}))
		}},
		{"abstract trash", func(p *randomClient) error {
			return p.v.Abstracts.Trash(p.Context(), vaulttest.Operator, p.id(), p.match())
		}},
		{"abstract restore", func(p *randomClient) error {
			return onlyError(p.v.Abstracts.Restore(p.Context(), vaulttest.Operator, p.id(), vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"abstract detach", func(p *randomClient) error {
			abstract, err := p.v.Abstracts.Get(p.Context(), p.id())
			if err != nil || len(abstract.Files) == 0 {
				return err
			}
			return p.v.Abstracts.Detach(p.Context(), vaulttest.Operator, abstract.Abstract.ID,
				abstract.Files[p.r.IntN(len(abstract.Files))].ID, vault.Match{})
		}},
	}
}

func fileOperations() []operation {
	return []operation{
		{"upload", func(p *randomClient) error {
			return onlyError(p.v.Files.Upload(p.Context(), vaulttest.Operator, model.UploadDraft{FolderID: p.folder()}, p.docs(),
				vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"file patch", func(p *randomClient) error {
			return onlyError(p.v.Files.Patch(p.Context(), vaulttest.Operator, p.id(), model.FilePatch{FolderID: model.Some(p.folder())}, p.match()))
		}},
		{"file trash", func(p *randomClient) error {
			return p.v.Files.Trash(p.Context(), vaulttest.Operator, p.id(), p.match())
		}},
		{"file restore", func(p *randomClient) error {
			return onlyError(p.v.Files.Restore(p.Context(), vaulttest.Operator, p.id(), vault.Idempotency[model.File]{}))
		}},
		{"folder create", func(p *randomClient) error {
			return onlyError(p.v.Folders.Create(p.Context(), vaulttest.Operator,
				model.FolderDraft{Name: model.StringInput(fmt.Sprint(p.r.IntN(9))), ParentID: p.folder()}, vault.Idempotency[model.Folder]{}))
		}},
		{"folder patch", func(p *randomClient) error {
			return onlyError(p.v.Folders.Patch(p.Context(), vaulttest.Operator, p.id(),
				model.FolderPatch{ParentID: model.Some(p.folder())}, p.match()))
		}},
		{"folder remove", func(p *randomClient) error {
			return p.v.Folders.Remove(p.Context(), vaulttest.Operator, p.id(), p.match())
		}},
	}
}

func otherOperations() []operation {
	return []operation{
		{"order create", func(p *randomClient) error {
			return onlyError(p.v.Orders.Create(p.Context(), vaulttest.Operator,
				model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(fmt.Sprint(p.r.IntN(5)))}},
				vaulttest.IdempotencyKey[model.Order](byte(p.r.IntN(99)))))
		}},
		{"order patch", func(p *randomClient) error {
			return onlyError(p.v.Orders.Patch(p.Context(), vaulttest.Operator, p.id(),
				model.OrderPatch{Fields: model.Inputs{"order_number": model.StringInput(fmt.Sprint(p.r.IntN(5)))}},
				p.match()))
		}},
		{"order trash", func(p *randomClient) error {
			return p.v.Orders.Trash(p.Context(), vaulttest.Operator, p.id(), p.match())
		}},
		{"order restore", func(p *randomClient) error {
			return onlyError(p.v.Orders.Restore(p.Context(), vaulttest.Operator, p.id(), vault.Idempotency[model.Order]{}))
		}},
		{"time passes", func(p *randomClient) error {
			p.clock.Advance(time.Duration(p.r.Int64N(int64(6 * 24 * time.Hour))))
			return nil
		}},
		{"purge", func(p *randomClient) error { return p.v.Purger.PurgeExpired(p.Context()) }},
		{"sweep", func(p *randomClient) error { return p.v.Sweeper.Sweep(p.Context()) }},
	}
}

// removeAll checks that after a sweep, the disk contains exactly the documents that records refer to, including records
// in the trash. Then it moves all records to the trash and purges them.
func (rc *randomClient) removeAll(dir string) {
	vaulttest.NoError(rc.T, rc.v.Sweeper.Sweep(rc.Context()))
	digests := map[string]bool{}
	var files []model.File
	vaulttest.NoError(rc.T, rc.v.Store.View(rc.Context(), func(tx *store.Tx) (err error) { files, err = tx.ScanFiles(1, 10_000); return err }))
	for _, f := range files {
		if _, err := blobstore.ParseDigest(f.Digest); err != nil {
			rc.Errorf("blobstore.ParseDigest: %v", err)
		}
		digests[f.Digest] = true
	}
	if n := len(vaulttest.FilesUnder(rc.T, dir, "blobs")); n != len(digests) {
		rc.Errorf("documents on disk = %d, want %d", n, len(digests))
	}
	for n := range uint64(1000) { // more than the test creates
		for _, err := range []error{rc.v.Abstracts.Trash(rc.Context(), vaulttest.Operator, n, vault.Match{}),
			rc.v.Orders.Trash(rc.Context(), vaulttest.Operator, n, vault.Match{}),
			rc.v.Files.Trash(rc.Context(), vaulttest.Operator, n, vault.Match{})} {
			if err != nil && errs.KindOf(err) != errs.NotFound {
				rc.Errorf("move record %d to trash: %v", n, err)
			}
		}
	}
	vaulttest.Verify(rc.T, rc.v)
	rc.clock.Advance(vaulttest.TrashPeriod)
	vaulttest.NoError(rc.T, rc.v.Purger.PurgeExpired(rc.Context()))
	vaulttest.Verify(rc.T, rc.v)
	vaulttest.NoError(rc.T, rc.v.Sweeper.Sweep(rc.Context()))
	vaulttest.WantNoDocuments(rc.T, dir)
	if s := vaulttest.Status(rc.T, rc.v); s.Abstracts+s.Orders+s.Files+s.Trashed+s.Queue+s.Bytes != 0 {
		rc.Errorf("Status() after the purge = %+v, want no records", s)
	}
}
