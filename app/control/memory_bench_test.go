package control

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// BenchmarkMemoryUpload sends a large body to a listener in this process.
func BenchmarkMemoryUpload(b *testing.B) {
	body := make([]byte, 64<<20)
	listener := ListenMemory()
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })}
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer server.Close()
	client := &http.Client{Transport: listener.RoundTripper()}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		response, err := client.Post(BaseURL+"/", "application/octet-stream", struct{ io.Reader }{bytes.NewReader(body)})
		if err != nil {
			b.Fatalf("post: %v", err)
		}
		_ = response.Body.Close()
	}
}
