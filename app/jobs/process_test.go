package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

func processed(t *testing.T, v *instance.Instance, id uint64) bool {
	t.Helper()
	f, err := v.Files.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("get file: %v", err)
	}
	return !f.Processing
}

func TestProcessingEnds(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	var files []model.File
	for n := range 5 { // no poke waits for anybody, though nobody listens yet
		files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", fmt.Sprint(n)))...)
	}
	if q := vaulttest.Status(t, v).Queue; q != 5 {
		t.Errorf("%d in the queue", q)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Later.pdf", "later"))...)
	vaulttest.Eventually(t, "an empty queue again", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	for _, f := range files {
		if !processed(t, v, f.ID) {
			t.Errorf("file %d is processing for ever", f.ID)
		}
	}
}

// More than one round's worth needs no second poke.
func TestProcessingOfManyRounds(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerRequest = 1000 })
	var docs []vaulttest.Doc
	for n := range 300 {
		docs = append(docs, vaulttest.NewDoc(fmt.Sprintf("%d.txt", n), fmt.Appendf(nil, "%d", n%7)))
	}
	vaulttest.UploadDocs(t, v, docs...)
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
}

func TestProcessingSurvivesAReopen(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if processed(t, v, f.ID) || vaulttest.Status(t, v).Queue != 1 {
		t.Error("the task is gone")
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	if !processed(t, v, f.ID) {
		t.Error("processing for ever")
	}
}

// A record that went bad must not keep the others waiting for ever. A task that is
// damaged stays for a verification to name; one of a damaged file goes.
func TestProcessingPassesDamageBy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		old, changed string
		queue        uint64
	}{
		{"task", `{"seq":1,"file_id":1,`, `{"seq":1,"file_id":9,`, 1},
		{"file", `"filename":"1.pdf"`, `"filename":"7.pdf"`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatalf("open instance: %v", err)
			}
			files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
			vaulttest.Close(t, v)
			vaulttest.ReplaceInDatabase(t, opts.Dir, tt.old, tt.changed)
			if v, err = instance.Open(t.Context(), opts); err != nil {
				t.Fatalf("open instance: %v", err)
			}
			defer vaulttest.Close(t, v)
			v.Start(time.Hour)
			vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == tt.queue })
			for _, f := range files[1:] {
				if !processed(t, v, f.ID) {
					t.Errorf("file %d waits for the damaged one", f.ID)
				}
			}
			report, err := v.Integrity.Verify(t.Context(), func(int, int) {})
			if err != nil || report.OK() || report.Findings[0].Kind != tt.name || report.Findings[0].Subject != "1" {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// A task whose file has gone is done.
func TestProcessingOfNoFile(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.AddTask(model.ProcessingTask{FileID: 99}) })
	if err != nil {
		t.Fatalf("update store: %v", err)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
}

// spinning is a reader that gets no further over one owner's documents until the vault
// closes.
type spinning struct {
	vaulttest.Reader
	owner string
}

func (s spinning) Text(ctx context.Context, r sandbox.Request, lim document.ExtractLimits, emit func(int, string) error) error {
	if r.Owner == s.owner {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Reader.Text(ctx, r, lim, emit)
}

// One owner's documents, however many and however slow, do not keep another's from being
// processed: there are more of them than are read in one look.
func TestProcessingBesideSlowDocuments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Reader = spinning{owner: "key:7"} })
	slow := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("slow.txt", []byte("slow")))[0]
	err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) (err error) {
		for range 5000 {
			err = errors.Join(err, tx.AddTask(model.ProcessingTask{FileID: slow.ID, Owner: "key:7"}))
		}
		return err
	})
	if err != nil {
		t.Fatalf("AddTask: %v", err)
	}
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("quick.txt", []byte("quick")))[0]
	v.Start(time.Hour)
	vaulttest.Eventually(t, "the processing of the quick document", func() bool { return processed(t, v, file.ID) })
	later := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("later.txt", []byte("later")))[0]
	vaulttest.Eventually(t, "the processing of a later one", func() bool { return processed(t, v, later.ID) })
}
