package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkOrder is one order as clients send it, over a connection that stays open.
func BenchmarkOrder(b *testing.B) {
	h := open(b)
	n := 0
	for b.Loop() {
		n++
		body := fmt.Sprintf(`{"order_number":"2026-%d","due_date":"2026-06-15","address":"114 Chestnut Ridge Road","city":"Morgantown","county":"Monongalia","state":"WV"}`, n)
		ask, err := http.NewRequestWithContext(b.Context(), http.MethodPost, h.server.URL+"/v1/orders", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		ask.Header.Set("Content-Type", "application/json")
		ask.Header.Set("Authorization", "Bearer "+h.keys["full"])
		answer, err := http.DefaultClient.Do(ask)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusCreated {
			b.Fatal(answer.Status, err)
		}
		if err := answer.Body.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
