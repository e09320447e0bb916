package blobstore

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// BenchmarkDownload downloads one document in three ways: the plain file, a blob that is
// already verified, and a blob that isn't verified yet. It alternates between them, so
// that noise on the machine affects all of them equally. It reports the median of each in
// microseconds, and the ratios to the plain file.
func BenchmarkDownload(b *testing.B) {
	for _, size := range []int{50 << 10, 1 << 20, 100 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			s := newDiskStore(b)
			d, err := pipelinedCommit(b, s, plainReader{&nonZeroReader{left: size}})
			if err != nil {
				b.Fatalf("pipelined keep: %v", err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/pdf")
				w.Header().Set("ETag", `"`+d.String()+`"`)
				switch r.URL.Path {
				case "/first":
					s.verifications.remove(d)
				case "/plain":
					f, err := s.Open(r.Context(), d)
					if err == nil {
						http.ServeContent(w, r, "", time.Time{}, f)
						err = f.Close()
					}
					if err != nil {
						b.Errorf("close: %v", err)
					}
					return
				}
				f, u, err := s.OpenVerified(r.Context(), d, int64(size))
				switch {
				case err != nil:
					b.Errorf("OpenVerified: %v", err)
					return
				case u != nil:
					http.ServeContent(w, r, "", time.Time{}, u)
				default:
					http.ServeContent(w, r, "", time.Time{}, f)
				}
				if err := f.Close(); err != nil {
					b.Errorf("close: %v", err)
				}
			}))
			defer server.Close()
			took := map[string][]time.Duration{}
			paths := []string{"/plain", "/verified", "/first"}
			for i := range b.N {
				for j := range paths {
					path := paths[(i+j)%len(paths)]
					took[path] = append(took[path], timeDownload(b, server.URL+path, size))
				}
			}
			median := func(path string) float64 {
				all := slices.Sorted(slices.Values(took[path]))
				return float64(all[len(all)/2]) / float64(time.Microsecond)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median("/plain"), "plain-µs")
			b.ReportMetric(median("/verified"), "verified-µs")
			b.ReportMetric(median("/first"), "first-µs")
			b.ReportMetric(median("/verified")/median("/plain"), "verified/plain")
			b.ReportMetric(median("/first")/median("/plain"), "first/plain")
		})
	}
}

// nonZeroReader is a reader of pseudorandom bytes, most of them not zero.
type nonZeroReader struct{ left int }

func (n *nonZeroReader) Read(p []byte) (int, error) {
	if n.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), n.left)]
	for i := range p {
		p[i] = byte((n.left - i) * 7)
	}
	n.left -= len(p)
	return len(p), nil
}

func timeDownload(b *testing.B, target string, size int) time.Duration {
	b.Helper()
	began := time.Now()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, target, nil)
	if err != nil {
		b.Fatalf("NewRequestWithContext: %v", err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatalf("Do: %v", err)
	}
	n, err := io.Copy(io.Discard, response.Body)
	took := time.Since(began)
	if err := errors.Join(err, response.Body.Close()); err != nil || n != int64(size) {
		b.Fatalf("got %d bytes, %v, want %d", n, err, size)
	}
	return took
}
