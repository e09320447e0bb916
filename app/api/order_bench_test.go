package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkOrder measures how long it takes to create an order over a keep-alive
// connection.
func BenchmarkOrder(b *testing.B) {
	srv := newTestServer(b)
	n := 0
	for b.Loop() {
		n++
		body := fmt.Sprintf(
			`{"order_number":"2026-%d","due_date":"2026-06-15","address":"114 Chestnut Ridge Road","city":"Morgantown",`+
				`"county":"Monongalia","state":"WV"}`, n)
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.server.URL+"/v1/orders", strings.NewReader(body))
		if err != nil {
			b.Fatalf("new request: %v", err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+srv.keys["full"])
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			b.Fatalf("send request: %v", err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusCreated {
			b.Fatalf("create order: status %s, %v, want 201", response.Status, err)
		}
		if err := response.Body.Close(); err != nil {
			b.Fatalf("close response body: %v", err)
		}
	}
}
