package server_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// While an abstract is in the trash, its document can't be found and the document's signed
// links don't work. After both are restored, they work again.
func TestDeleteAndRestoreAbstract(t *testing.T) {
	r := serve(t, nil)
	c := client.New("http://"+r.address+"/v1", r.key, nil)
	deed := string(vaulttest.PDF(3, "the deed"))
	draft := client.AbstractDraft{Address: "12 Elm", Files: []client.Upload{{Filename: "Deed.pdf", Reader: strings.NewReader(deed)}}}
	created, err := c.CreateAbstract(t.Context(), draft)
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	file := created.Data.Files[0]
	link := signedURL(t, r, file.DownloadURL)
	checkLink := func(status int) {
		t.Helper()
		resp, err := http.Get(link) //nolint:noctx // the test's own server
		if err != nil {
			t.Fatalf("send request: %v", err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status || (status == http.StatusOK) != (string(body) == deed) {
			t.Errorf("GET of the signed link: got status %d and %d bytes, %v, want %d", resp.StatusCode, len(body), err, status)
		}
	}
	checkLink(http.StatusOK)
	if err := c.TrashAbstract(t.Context(), created.Data.ID); err != nil {
		t.Fatalf("trash abstract: %v", err)
	}
	checkLink(http.StatusNotFound)
	var apiErr *client.Error
	if _, err := c.Download(t.Context(), file.ID); !errors.As(err, &apiErr) || apiErr.Status != http.StatusNotFound {
		t.Errorf("download from the trash: got %v, want a client.Error with status 404", err)
	}
	var trash []string
	for item, err := range c.Trash(t.Context(), client.ListOptions{PerPage: 1}) {
		if err != nil {
			t.Fatalf("list trash: %v", err)
		}
		trash = append(trash, item.Kind+" "+item.ID.String()+" "+item.Heading)
	}
	if want := "abstract " + created.Data.ID + " 12 Elm"; len(trash) != 1 || trash[0] != want {
		t.Errorf("trash: got %q, want [%q]", trash, want)
	}
	restored, err := c.RestoreAbstract(t.Context(), created.Data.ID)
	if err != nil || len(restored.Files) != 1 || restored.Files[0].ID != file.ID {
		t.Fatalf("RestoreAbstract: got %+v, %v, want file %v", restored, err, file.ID)
	}
	checkLink(http.StatusOK)
	download, err := c.Download(t.Context(), file.ID)
	if err != nil {
		t.Fatalf("download: %v", err)
	}
	defer download.Close()
	if content, err := io.ReadAll(download); err != nil || string(content) != deed {
		t.Errorf("download after the restore: got %d bytes, %v, want %d", len(content), err, len(deed))
	}
}

// signedURL requests a download and returns the signed URL that the response redirects to.
func signedURL(t *testing.T, r *running, download string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, download, http.NoBody)
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	request.Header.Set("Authorization", "Bearer "+r.key)
	resp, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	defer resp.Body.Close()
	return resp.Header.Get("Location")
}

// The client sends If-Match and Idempotency-Key headers, and returns the ETag of a response
// and whether the response was replayed.
func TestClientCallOptions(t *testing.T) {
	r := serve(t, nil)
	c := client.New("http://"+r.address, r.key, nil)
	var tag string
	var replayed bool
	once := c.With(client.CallOptions{IdempotencyKey: "k1", ETag: &tag, Replayed: &replayed})
	first, err := once.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "T-1"})
	if err != nil || tag == "" || replayed {
		t.Fatalf("CreateOrder: %v, got ETag %q and replayed %v, want an ETag and false", err, tag, replayed)
	}
	again, err := once.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "T-1"})
	if err != nil || !replayed || again.ID != first.ID {
		t.Fatalf("second CreateOrder: %v, got order %s and replayed %v, want %s and true", err, again.ID, replayed, first.ID)
	}
	if _, err := c.With(client.CallOptions{IfMatch: tag}).PatchOrder(t.Context(), first.ID, client.Patch{"city": "Salem"}); err != nil {
		t.Fatalf("patch order: %v", err)
	}
	var apiErr *client.Error
	_, err = c.With(client.CallOptions{IfMatch: tag}).PatchOrder(t.Context(), first.ID, client.Patch{"city": "Lynn"})
	if !errors.As(err, &apiErr) || apiErr.Status != http.StatusPreconditionFailed {
		t.Errorf("second PatchOrder: got %v, want a client.Error with status 412", err)
	}
	n := 0
	for order, err := range c.Orders(t.Context(), client.ListOptions{Filters: map[string]string{"status": "ACTIVE"}}) {
		if err != nil || *order.City != "Salem" {
			t.Fatalf("list orders: got %+v, %v, want the city Salem", order, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("list orders: got %d, want 1", n)
	}
	folder, err := c.CreateFolder(t.Context(), "Here", nil)
	if err != nil {
		t.Fatalf("create folder: %v", err)
	}
	if _, err := c.PatchFolder(t.Context(), folder.ID, client.Patch{"name": "There"}); err != nil {
		t.Errorf("patch folder: %v", err)
	}
	if err := c.DeleteFolder(t.Context(), folder.ID); err != nil {
		t.Errorf("delete folder: %v", err)
	}
	if _, err := c.Folder(t.Context(), folder.ID); !errors.As(err, &apiErr) || apiErr.Status != http.StatusNotFound {
		t.Errorf("get a deleted folder: got %v, want a client.Error with status 404", err)
	}
}
