package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// benchmarkOrder is one of the orders of the benchmarks.
func benchmarkOrder(n int) string {
	return fmt.Sprintf(`{"order_number":"2026-%d","due_date":"2026-06-15","address":"114 Chestnut Ridge Road","city":"Morgantown",`+
		`"county":"Monongalia","state":"WV"}`, n)
}

// BenchmarkOrder measures how long it takes to create an order over a keep-alive
// connection.
func BenchmarkOrder(b *testing.B) {
	srv := newTestServer(b)
	n := 0
	for b.Loop() {
		n++
		send(b, srv, http.MethodPost, "/v1/orders", benchmarkOrder(n), http.StatusCreated)
	}
}

// BenchmarkOrderList measures how long it takes to list 50 orders, uncompressed, over a
// keep-alive connection.
func BenchmarkOrderList(b *testing.B) {
	srv := newTestServer(b)
	for n := range 2_000 {
		draft := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(fmt.Sprintf("2026-%d", n)),
			"address": model.StringInput("114 Chestnut Ridge Road"), "city": model.StringInput("Morgantown"),
			"county": model.StringInput("Monongalia"), "state": model.StringInput("WV")}}
		if _, err := srv.vault.Orders.Create(b.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{}); err != nil {
			b.Fatalf("create order: %v", err)
		}
	}
	for b.Loop() {
		send(b, srv, http.MethodGet, "/v1/orders?per_page=50", "", http.StatusOK)
	}
}

// benchmarkClient doesn't ask for compressed responses.
var benchmarkClient = &http.Client{Transport: &http.Transport{DisableCompression: true}}

// send sends a request and reads the response, which must have the wanted status.
func send(b *testing.B, srv *testServer, method, path, body string, want int) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, srv.server.URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatalf("new request: %v", err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "Bearer "+srv.keys["full"])
	response, err := benchmarkClient.Do(request)
	if err != nil {
		b.Fatalf("send request: %v", err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != want {
		b.Fatalf("%s %s: status %s, %v, want %d", method, path, response.Status, err, want)
	}
	if err := response.Body.Close(); err != nil {
		b.Fatalf("close response body: %v", err)
	}
}
