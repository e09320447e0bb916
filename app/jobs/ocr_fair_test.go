package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// readPages returns the salts and pages in the order in which they were read.
func readPages(reader *vaulttest.FakeOCR) string {
	var order []string
	for _, c := range reader.Calls() {
		order = append(order, fmt.Sprint(strings.Fields(c.Body)[3], c.Page))
	}
	return strings.Join(order, " ")
}

// uploader returns the actor of a program that uploads documents.
func uploader(id uint64) model.Actor { return model.Actor{Kind: "operator", ID: id} }

// A key uploads 10,200 pages after another one has uploaded a page, and asks for their text all the
// time. The page is read within 15 seconds if each page takes 5.
func TestBacklogDoesNotDelayOtherOwner(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, reader := openWithOCR(t, func(o *instance.Options) { o.Now = clock.Now })
	other := vaulttest.UploadDocsAs(t, v, uploader(1), scan(1, "other"))[0]
	var docs []vaulttest.Doc
	for i := range 34 {
		docs = append(docs, scan(300, fmt.Sprint("backlog", i)))
	}
	backlog := vaulttest.UploadDocsAs(t, v, uploader(2), docs...)
	runProcessing(t, v)
	started := clock.Now()
	reader.SetHandler(func(ctx context.Context, c vaulttest.OCRCall) error {
		clock.Advance(5 * time.Second)
		for _, file := range backlog[:3] {
			if _, err := v.Previews.PageTexts(ctx, model.Actor{Kind: model.ActorKey, ID: 2}, file.ID, 0, 10, 1<<20); err != nil {
				return err
			}
		}
		return nil
	})
	var took time.Duration
	runOCR(t, v, reader, jobs.OCRSettings{}, "the other page", func() bool {
		took = clock.Now().Sub(started)
		return !vaulttest.File(t, v, other.ID).WaitsForOCR() || took > time.Hour
	})
	order := strings.Fields(readPages(reader))
	if at := slices.Index(order, "other1"); at < 0 || at > 1 {
		t.Errorf("the page of the other key is number %d of %.3s…, after %v; want the first or second", at, order, took)
	}
}

// Owners take turns page by page, and an owner that comes later doesn't wait for two turns of another.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	vaulttest.UploadDocsAs(t, v, uploader(1), scan(5, "a"))
	runProcessing(t, v)
	reached, proceed := make(chan struct{}), make(chan struct{})
	reader.SetHandler(func(_ context.Context, c vaulttest.OCRCall) error {
		if c.Page == 2 && strings.Contains(c.Body, " a") {
			close(reached)
			<-proceed
		}
		return nil
	})
	go func() {
		<-reached
		vaulttest.UploadDocsAs(t, v, uploader(2), scan(3, "b"))
		vaulttest.UploadDocsAs(t, v, uploader(3), scan(2, "c"))
		runProcessing(t, v)
		close(proceed)
	}()
	runOCR(t, v, reader, jobs.OCRSettings{}, "the end", func() bool { return len(reader.Calls()) == 10 && allRead(t, v)() })
	got := readPages(reader)
	got = strings.NewReplacer("c1 b1", "b1 c1", "c2 b2", "b2 c2").Replace(got) // both are new
	if want := "a1 a2 b1 c1 a3 b2 c2 a4 b3 a5"; got != want {
		t.Errorf("order is %s, want %s", got, want)
	}
}

// A document that is deleted while it is being read is read no further until it is restored.
func TestDeletedDocumentIsNotRead(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	file := vaulttest.UploadDocs(t, v, scan(4, "a"))[0]
	runProcessing(t, v)
	var reading []jobs.ReadingPage
	job := jobs.NewOCR(v.Previews, reader, jobs.OCRSettings{})
	reader.SetHandler(func(ctx context.Context, c vaulttest.OCRCall) error {
		if c.Page == 2 && strings.Fields(c.Body)[3] == "a" {
			reading = job.Reading()
			return v.Files.Trash(ctx, vaulttest.Operator, file.ID, vault.Match{})
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	defer func() { cancel(); <-done }()
	go func() { defer close(done); job.Run(ctx) }()
	vaulttest.Eventually(t, "two pages", func() bool { return len(reader.Calls()) == 2 && len(job.Reading()) == 0 })
	vaulttest.UploadDocs(t, v, scan(2, "b"))
	runProcessing(t, v)
	vaulttest.Eventually(t, "the other document", allRead(t, v))
	if got, want := readPages(reader), "a1 a2 b1 b2"; got != want {
		t.Errorf("order is %s, want %s", got, want)
	}
	if len(reading) != 1 || reading[0] != (jobs.ReadingPage{FileID: file.ID, Page: 2}) || len(job.Reading()) > 0 {
		t.Errorf("Reading() = %v, later %v; want page 2 of file %d, later none", reading, job.Reading(), file.ID)
	}
	_, err := v.Files.Restore(t.Context(), vaulttest.Operator, file.ID, vault.Idempotency[model.File]{})
	vaulttest.NoError(t, err)
	job.Prefer(file.ID) // wakes the job
	vaulttest.WaitOCR(t, v, file.ID)
	if got, want := readPages(reader), "a1 a2 b1 b2 a3 a4"; got != want {
		t.Errorf("after restoring: order is %s, want %s", got, want)
	}
}

// The end of OCR is in the audit log, once for each document with scanned pages, and without its text.
func TestEndOfOCRIsInAuditLog(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	reader.SetHandler(func(context.Context, vaulttest.OCRCall) error { return nil })
	v.Start(time.Hour)
	files := vaulttest.UploadDocs(t, v, scan(3, "a"), vaulttest.TextDoc("note.txt", "plain words"))
	vaulttest.WaitOCR(t, v, files[0].ID, files[1].ID)
	again := vaulttest.UploadDocs(t, v, scan(3, "a"))[0] // its pages have been read
	vaulttest.WaitOCR(t, v, again.ID)
	var got []string
	vaulttest.NoError(t, v.Events.Each(t.Context(), 0, func(e model.Event, err error) error {
		if e.Kind == "file.text_read" {
			got = append(got, fmt.Sprint(e.Actor.Kind, " ", e.Record, " ", e.Detail))
		}
		return err
	}))
	want := fmt.Sprintf(`[system file:%d map[pages:3 text_pages:3] system file:%d map[pages:3 text_pages:3]]`, files[0].ID, again.ID)
	if fmt.Sprint(got) != want {
		t.Errorf("entries are %v, want %s", got, want)
	}
}
