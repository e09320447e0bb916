package server_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/client"
	"deedkeep/app/vaulttest"
)

// A document goes to the trash with its abstract and comes back, over HTTP and by
// the client: meanwhile it is a 404, and a link that was handed out stops.
func TestTrashRoundTrip(t *testing.T) {
	r := serve(t, nil)
	c := client.New("http://"+r.address+"/v1", r.key, nil)
	deed := string(vaulttest.PDF(3, "the deed"))
	made, err := c.CreateAbstract(t.Context(), client.AbstractDraft{Address: "12 Elm", Files: []client.Upload{{Filename: "Deed.pdf", Reader: strings.NewReader(deed)}}})
	if err != nil {
		t.Fatal(err)
	}
	file := made.Data.Files[0]
	link := signed(t, r, file.DownloadURL)
	follow := func(status int) {
		t.Helper()
		answer, err := http.Get(link) //nolint:noctx // a test's own server
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != status || (status == http.StatusOK) != (string(body) == deed) {
			t.Errorf("status %d, want %d, %v", answer.StatusCode, status, err)
		}
	}
	follow(http.StatusOK)
	if err := c.TrashAbstract(t.Context(), made.Data.ID); err != nil {
		t.Fatal(err)
	}
	follow(http.StatusNotFound)
	var refused *client.Error
	if _, err := c.Download(t.Context(), file.ID); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("download: %v", err)
	}
	var kinds []string
	for item, err := range c.Trash(t.Context(), client.List{PerPage: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, item.Kind+" "+item.ID.String()+" "+item.Heading)
	}
	if len(kinds) != 1 || kinds[0] != "abstract "+made.Data.ID+" 12 Elm" {
		t.Errorf("in the trash: %q", kinds)
	}
	back, err := c.RestoreAbstract(t.Context(), made.Data.ID)
	if err != nil || len(back.Files) != 1 || back.Files[0].ID != file.ID {
		t.Fatalf("restored %+v, %v", back, err)
	}
	follow(http.StatusOK)
	bytes, err := c.Download(t.Context(), file.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer bytes.Close()
	if content, err := io.ReadAll(bytes); err != nil || string(content) != deed {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// signed requests a signed link and doesn't follow it.
func signed(t *testing.T, r *running, download string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, download, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.key)
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.Header.Get("Location")
}

// The client's changes carry the version they are of, and its calls that are made
// again are made once.
func TestClientChanges(t *testing.T) {
	r := serve(t, nil)
	c := client.New("http://"+r.address, r.key, nil)
	var tag string
	var replayed bool
	once := c.With(client.CallOptions{IdempotencyKey: "k1", ETag: &tag, Replayed: &replayed})
	first, err := once.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "T-1"})
	if err != nil || tag == "" || replayed {
		t.Fatalf("%v, tag %q, replayed %v", err, tag, replayed)
	}
	again, err := once.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "T-1"})
	if err != nil || !replayed || again.ID != first.ID {
		t.Fatalf("%v, replayed %v, %s and %s", err, replayed, first.ID, again.ID)
	}
	if _, err := c.With(client.CallOptions{IfMatch: tag}).PatchOrder(t.Context(), first.ID, client.Patch{"city": "Salem"}); err != nil {
		t.Fatal(err)
	}
	var refused *client.Error
	if _, err := c.With(client.CallOptions{IfMatch: tag}).PatchOrder(t.Context(), first.ID, client.Patch{"city": "Lynn"}); !errors.As(err, &refused) || refused.Status != http.StatusPreconditionFailed {
		t.Errorf("the second change: %v", err)
	}
	n := 0
	for order, err := range c.Orders(t.Context(), client.List{Filters: map[string]string{"status": "ACTIVE"}}) {
		if err != nil || *order.City != "Salem" {
			t.Fatalf("%+v, %v", order, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d orders", n)
	}
	parent, err := c.CreateFolder(t.Context(), "Here", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.PatchFolder(t.Context(), parent.ID, client.Patch{"name": "There"}); err != nil {
		t.Error(err)
	}
	if err := c.DeleteFolder(t.Context(), parent.ID); err != nil {
		t.Error(err)
	}
	if _, err := c.Folder(t.Context(), parent.ID); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("a folder that is gone: %v", err)
	}
}
