package ui_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// exampleReader accepts the documents of the example firm. It waits before each one until started is closed.
type exampleReader struct {
	vaulttest.Reader
	started chan struct{}
	broken  *atomic.Bool
}

func (e exampleReader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string,
	lim document.InspectLimits) (document.Report, error) {
	<-e.started
	if e.broken.Load() {
		return document.Report{}, errors.New("the disk is gone")
	}
	content, err := io.ReadAll(io.NewSectionReader(doc, 0, size))
	if err != nil || !bytes.HasPrefix(content, []byte("%PDF")) {
		return e.Reader.Inspect(ctx, doc, size, ext, lim)
	}
	return document.Report{MIME: model.MIMEPDF, Pages: new(bytes.Count(content, []byte("/Type /Page ")))}, nil
}

func newExampleServer(t *testing.T) (*testServer, exampleReader) {
	t.Helper()
	reader := exampleReader{started: make(chan struct{}), broken: &atomic.Bool{}}
	return newEmptyTestServer(t, func(o *instance.Options) { o.Reader = reader }), reader
}

const examplePage = "/admin/setup/example"

// The setup ends with the offer of an example firm, which fills the vault once and shows the links of its users once.
func TestExampleFirm(t *testing.T) {
	t.Parallel()
	h, reader := newExampleServer(t)
	admin, staff := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "tom", model.RoleStaff)
	admin.get(t, 200, "/admin/setup/done", `href="`+examplePage+`"`)
	admin.get(t, 200, examplePage, "Fill with the example firm", "Use it only to try deedkeep.", h.dir)
	staff.get(t, 403, examplePage)
	staff.post(t, 403, examplePage, nil)
	admin.post(t, 303, examplePage, nil).checkHeaders(t, map[string]string{"Location": examplePage})
	admin.get(t, 200, examplePage, "The server creates the example firm.").checkHeaders(t, map[string]string{"Refresh": "2"})
	again := h.send(t, "POST", examplePage, admin.cookie, "Content-Type: application/x-www-form-urlencoded", "Content-Length: 0")
	if again.StatusCode != 303 && again.StatusCode != 409 { // depends on whether the first run has marked the vault
		t.Errorf("POST while the vault is filled: status %d, want 303 or 409", again.StatusCode)
	}
	close(reader.started)
	for end := time.Now().Add(3 * time.Minute); strings.Contains(string(admin.get(t, 200, examplePage).body), "The server creates"); {
		if time.Sleep(100 * time.Millisecond); time.Now().After(end) {
			t.Fatal("the example firm isn't ready after three minutes")
		}
	}
	ready := admin.get(t, 200, examplePage, "The example firm is ready: 40 orders, 25 abstracts", "Show the links",
		"Example firm: invented names and documents.")
	ready.lacks(t, "/join/")
	if ready.Header.Get("Refresh") != "" {
		t.Error("the page reloads after the example firm is ready")
	}
	links := regexp.MustCompile(`value="http://vault.test(/join/[^"]+)"`).
		FindAllSubmatch(admin.post(t, 200, examplePage, map[string][]string{"links": {"1"}}).body, -1)
	if len(links) != 3 {
		t.Fatalf("got %d links, want 3", len(links))
	}
	h.secrets = append(h.secrets, string(links[0][1]))
	h.request(t, 200, "GET", string(links[0][1])).has(t, "Choose a")
	admin.post(t, 200, examplePage, map[string][]string{"links": {"1"}}).lacks(t, "/join/")
	admin.post(t, 409, examplePage, nil).has(t, "This data directory already has the example firm", "Use a new data directory")
	admin.get(t, 200, examplePage, "already has the example firm, with 40 orders").lacks(t, "Fill with")
	admin.get(t, 200, "/admin/setup/done").lacks(t, examplePage)
}

// A vault with records is never filled. If filling fails, the page says to start again.
func TestExampleFirmNotPossible(t *testing.T) {
	t.Parallel()
	h, reader := newExampleServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	reader.broken.Store(true)
	close(reader.started)
	admin.post(t, 303, examplePage, nil)
	h.waitFor(t, "the failure", func() bool {
		return strings.Contains(string(admin.get(t, 200, examplePage).body), "The example firm isn't complete.")
	})
	admin.get(t, 200, examplePage, "Start again in a new data directory").lacks(t, "Show the links")

	h, _ = newExampleServer(t)
	admin = h.newUser(t, "ada", model.RoleAdmin)
	if _, err := h.vault.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Fields: model.Inputs{
		"order_number": model.StringInput("1")}}, vault.Idempotency[model.Order]{}); err != nil {
		t.Fatalf("Orders.Create: %v", err)
	}
	admin.get(t, 200, "/admin/setup/done").lacks(t, examplePage)
	admin.get(t, 200, examplePage, "This data directory has records: 1 orders").lacks(t, "Fill with")
	admin.post(t, 409, examplePage, nil)
}
