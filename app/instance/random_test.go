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

// player asks a vault for one thing after another, by chance.
type player struct {
	*testing.T
	v     *instance.Instance
	clock *vaulttest.Clock
	r     *rand.Rand
	asked map[string]int      // how often a verb was done
	tray  *vault.StagedUpload // of this step, if any
}

// TestAnySequence does what may be done in any order. Whatever is refused is
// refused in one of the usual ways, and the vault holds together at each step.
func TestAnySequence(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			v, opts, clock := vaulttest.OpenWithClock(t)
			p := &player{T: t, v: v, clock: clock, r: rand.New(rand.NewPCG(seed, 1)), asked: map[string]int{}}
			for step := range 400 {
				p.step()
				if step%40 == 0 {
					vaulttest.Verify(t, v)
				}
				if t.Failed() {
					t.Fatalf("at step %d: %v", step, p.asked)
				}
			}
			if len(p.asked) < len(verbs()) {
				t.Errorf("not every verb was done: %v", p.asked)
			}
			p.end(opts.Dir)
		})
	}
}

func (p *player) step() {
	all := verbs()
	verb := all[p.r.IntN(len(all))]
	err := verb.do(p)
	if p.tray != nil {
		p.tray.Discard()
		p.tray = nil
	}
	switch errs.KindOf(err) {
	case errs.NotFound, errs.Invalid, errs.Conflict, errs.PreconditionFailed:
		return
	}
	if err != nil {
		p.Errorf("%s: %v", verb.name, err)
		return
	}
	p.asked[verb.name]++
}

// number names a record that was made, or will be.
func (p *player) number() uint64 { return 1 + p.r.Uint64N(12) }

func (p *player) folder() model.IDInput {
	if p.r.IntN(3) == 0 {
		return model.IDInput{}
	}
	return vaulttest.IDInput(p.number())
}

func (p *player) match() vault.Match {
	if p.r.IntN(3) > 0 {
		return vault.Match{}
	}
	return vaulttest.MatchVersions(p.r.Uint64N(4))
}

func (p *player) docs() *vault.StagedUpload {
	var docs []vaulttest.Doc
	for range p.r.IntN(4) {
		docs = append(docs, vaulttest.PDFDoc("Deed.pdf", fmt.Sprint(p.r.IntN(6))))
	}
	p.tray = vaulttest.StageDocs(p.T, p.v, docs...)
	return p.tray
}

type verb struct {
	name string
	do   func(p *player) error
}

// fails gives the error of a verb that gives more than that.
func fails[T any](_ T, err error) error { return err }

func verbs() []verb {
	return slices.Concat(abstractVerbs(), fileVerbs(), otherVerbs())
}

func abstractVerbs() []verb {
	return []verb{
		{"abstract create", func(p *player) error {
			return fails(p.v.Abstracts.Create(p.Context(), vaulttest.Operator, model.AbstractDraft{}, p.docs(), vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"abstract attach", func(p *player) error {
			return fails(p.v.Abstracts.Attach(p.Context(), vaulttest.Operator, p.number(), model.UploadDraft{}, p.docs(), vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"abstract patch", func(p *player) error {
			return fails(p.v.Abstracts.Patch(p.Context(), vaulttest.Operator, p.number(), model.AbstractPatch{Status: vaulttest.SomeText("Complete"),
				PropertyPatch: model.PropertyPatch{County: vaulttest.SomeText(fmt.Sprint("county ", p.r.IntN(3)))}}, p.match()))
		}},
		{"abstract reorder", func(p *player) error {
			filed, err := p.v.Abstracts.Get(p.Context(), p.number())
			if err != nil {
				return err
			}
			order := model.IDListInput{IsArray: true}
			for _, i := range p.r.Perm(len(filed.Files)) {
				order.Items = append(order.Items, vaulttest.IDInput(filed.Files[i].ID))
			}
			return fails(p.v.Abstracts.Patch(p.Context(), vaulttest.Operator, filed.Abstract.ID, model.AbstractPatch{Files: model.Some(order)}, vault.Match{}))
		}},
		{"abstract trash", func(p *player) error {
			return p.v.Abstracts.Trash(p.Context(), vaulttest.Operator, p.number(), p.match())
		}},
		{"abstract restore", func(p *player) error {
			return fails(p.v.Abstracts.Restore(p.Context(), vaulttest.Operator, p.number(), vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"abstract detach", func(p *player) error {
			filed, err := p.v.Abstracts.Get(p.Context(), p.number())
			if err != nil || len(filed.Files) == 0 {
				return err
			}
			return p.v.Abstracts.Detach(p.Context(), vaulttest.Operator, filed.Abstract.ID, filed.Files[p.r.IntN(len(filed.Files))].ID, vault.Match{})
		}},
	}
}

func fileVerbs() []verb {
	return []verb{
		{"upload", func(p *player) error {
			return fails(p.v.Files.Upload(p.Context(), vaulttest.Operator, model.UploadDraft{FolderID: p.folder()}, p.docs(), vault.Idempotency[vault.AbstractWithFiles]{}))
		}},
		{"file patch", func(p *player) error {
			return fails(p.v.Files.Patch(p.Context(), vaulttest.Operator, p.number(), model.FilePatch{FolderID: model.Some(p.folder())}, p.match()))
		}},
		{"file trash", func(p *player) error { return p.v.Files.Trash(p.Context(), vaulttest.Operator, p.number(), p.match()) }},
		{"file restore", func(p *player) error {
			return fails(p.v.Files.Restore(p.Context(), vaulttest.Operator, p.number(), vault.Idempotency[model.File]{}))
		}},
		{"folder create", func(p *player) error {
			return fails(p.v.Folders.Create(p.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput(fmt.Sprint(p.r.IntN(9))), ParentID: p.folder()}, vault.Idempotency[model.Folder]{}))
		}},
		{"folder patch", func(p *player) error {
			return fails(p.v.Folders.Patch(p.Context(), vaulttest.Operator, p.number(), model.FolderPatch{ParentID: model.Some(p.folder())}, p.match()))
		}},
		{"folder remove", func(p *player) error {
			return p.v.Folders.Remove(p.Context(), vaulttest.Operator, p.number(), p.match())
		}},
	}
}

func otherVerbs() []verb {
	return []verb{
		{"order create", func(p *player) error {
			return fails(p.v.Orders.Create(p.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput(fmt.Sprint(p.r.IntN(5)))}, vaulttest.IdempotencyKey[model.Order](byte(p.r.IntN(99)))))
		}},
		{"order patch", func(p *player) error {
			return fails(p.v.Orders.Patch(p.Context(), vaulttest.Operator, p.number(), model.OrderPatch{Number: vaulttest.SomeText(fmt.Sprint(p.r.IntN(5)))}, p.match()))
		}},
		{"order trash", func(p *player) error { return p.v.Orders.Trash(p.Context(), vaulttest.Operator, p.number(), p.match()) }},
		{"order restore", func(p *player) error {
			return fails(p.v.Orders.Restore(p.Context(), vaulttest.Operator, p.number(), vault.Idempotency[model.Order]{}))
		}},
		{"time passes", func(p *player) error {
			p.clock.Advance(time.Duration(p.r.Int64N(int64(6 * 24 * time.Hour))))
			return nil
		}},
		{"purge", func(p *player) error { return p.v.Purge(p.Context()) }},
		{"sweep", func(p *player) error { return p.v.Sweeper.Sweep(p.Context()) }},
	}
}

// end holds what is left against the disk: every record, live or in the trash, has
// its bytes, and after a sweep no others are there. Then all is trashed and purged.
func (p *player) end(dir string) {
	vaulttest.NoError(p.T, p.v.Sweeper.Sweep(p.Context()))
	named := map[string]bool{}
	var files []model.File
	vaulttest.NoError(p.T, p.v.Store.View(p.Context(), func(tx *store.Tx) (err error) { files, err = tx.ScanFiles(1, 10_000); return err }))
	for _, f := range files {
		if _, err := blobstore.ParseDigest(f.Digest); err != nil {
			p.Error(err)
		}
		named[f.Digest] = true
	}
	if n := len(vaulttest.FilesUnder(p.T, dir, "blobs")); n != len(named) {
		p.Errorf("%d documents on the disk, %d have a record", n, len(named))
	}
	for n := range uint64(1000) { // more than were made
		for _, err := range []error{p.v.Abstracts.Trash(p.Context(), vaulttest.Operator, n, vault.Match{}), p.v.Orders.Trash(p.Context(), vaulttest.Operator, n, vault.Match{}),
			p.v.Files.Trash(p.Context(), vaulttest.Operator, n, vault.Match{})} {
			if err != nil && errs.KindOf(err) != errs.NotFound {
				p.Error(err)
			}
		}
	}
	vaulttest.Verify(p.T, p.v)
	p.clock.Advance(vaulttest.TrashKeep)
	vaulttest.NoError(p.T, p.v.Purge(p.Context()))
	vaulttest.Verify(p.T, p.v)
	vaulttest.NoError(p.T, p.v.Sweeper.Sweep(p.Context()))
	vaulttest.WantNoDocuments(p.T, dir)
	if s := vaulttest.Status(p.T, p.v); s.Abstracts+s.Orders+s.Files+s.Trashed+s.Queue+s.Bytes != 0 {
		p.Errorf("%+v", s)
	}
}
