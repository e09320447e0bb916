package ui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

// accessEvents returns the views and downloads recorded in the audit log.
func (ts *testServer) accessEvents(t *testing.T) (list []string) {
	t.Helper()
	err := ts.vault.Events.Each(t.Context(), 1, func(e model.Event, err error) error {
		if e.Kind == "file.opened" || e.Kind == "file.downloaded" {
			list = append(list, fmt.Sprintf("%s %s %s %v", e.Kind, e.Actor.Kind, e.Record, e.Detail))
		}
		return err
	})
	if err != nil {
		t.Fatalf("Events.Each: %v", err)
	}
	return list
}

// Every response that contains document content is logged as a view.
func TestEveryReadIsLogged(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	deed := files[1]
	g := h.openBrowser(t, model.RoleViewer)
	for _, address := range []string{"", "/text", "/pages/1", "/pages/1/marks?q=deed", "/find?q=deed", "/original", "/print", "/download"} {
		before := len(h.accessEvents(t))
		h.clock.Advance(11 * time.Minute)
		g.get(t, 200, documentPath(deed, address))
		if got := h.accessEvents(t); len(got) != before+1 || !strings.Contains(got[before], fmt.Sprintf(" user file:%d ", deed.ID)) {
			t.Errorf("access events after GET %s = %q, want one more, of the user and document", address, got)
		}
	}
}

// A user who opens too many documents has to wait for a minute. Other users are not affected.
func TestReadingRateIsLimited(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	g := h.openBrowser(t, model.RoleViewer)
	actor, err := h.vault.Sessions.Authenticate(t.Context(), g.token)
	if err != nil {
		t.Fatalf("Sessions.Authenticate: %v", err)
	}
	for i := range 600 {
		h.vault.Events.RecordAccess(actor, "file.opened", fmt.Sprint("file:", 1000+i), nil)
	}
	for _, address := range []string{"", "/pages/1", "/original", "/thumbnail"} {
		g.get(t, http.StatusTooManyRequests, documentPath(files[1], address)).checkHeaders(t, map[string]string{"Retry-After": "60"})
	}
	g.get(t, 200, "/abstracts")
	h.request(t, 200, "GET", documentPath(files[1], ""), h.cookieFor(t, "Owner"))
	h.clock.Advance(time.Minute)
	g.get(t, 200, documentPath(files[1], ""))
}

// sizedRenderer takes the page size from the document's content.
type sizedRenderer struct{ pageRenderer }

func (sizedRenderer) Sizes(_ context.Context, r sandbox.Request, _ document.ExtractLimits) ([]document.PageSize, error) {
	content := make([]byte, r.Size)
	if _, err := r.Doc.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	size := document.USLetter
	switch text := string(content); {
	case strings.Contains(text, "receipt"):
		size.Width = 200
	case strings.Contains(text, "photo"):
		size.ImageWidth = 640
	case strings.Contains(text, "scan"):
		size.ImageWidth = 2550
	}
	return []document.PageSize{size}, nil
}

// If a thumbnail is readable, requesting it is logged as a view.
func TestReadableThumbnailsAreLogged(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Reader = sizedRenderer{} })
	h.createUser(t, "Owner", model.RoleAdmin)
	var files []model.File
	for _, name := range []string{"letter.pdf", "receipt.pdf", "photo.pdf", "scan.pdf"} {
		files = append(files, h.upload(t, name, vaulttest.PDF(1, name)))
	}
	h.vault.Start(1 << 40)
	g := h.openBrowser(t, model.RoleViewer)
	for _, file := range files {
		for until := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
			if now, err := h.vault.Files.Get(t.Context(), file.ID); err == nil && !now.Processing {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("%s is not processed after 20 seconds", file.Filename)
			}
		}
		g.send(t, 200, http.MethodHead, documentPath(file, "/thumbnail"), nil, nil)
		g.get(t, 200, documentPath(file, "/thumbnail")).checkHeaders(t, map[string]string{"Content-Type": "image/png"})
	}
	want := []string{fmt.Sprintf("file.opened user file:%d map[]", files[1].ID), fmt.Sprintf("file.opened user file:%d map[]", files[2].ID)}
	if got := h.accessEvents(t); !slices.Equal(got, want) {
		t.Errorf("access events = %q, want %q", got, want)
	}
}
