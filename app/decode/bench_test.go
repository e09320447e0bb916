package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Typical bodies of POST /v1/orders and PATCH /v1/abstracts/{id}. Each has about 300 bytes.
var (
	order = []byte(
		`{"order_number":"2026-104417","due_date":"2026-06-15","address":"114 Chestnut Ridge Road","city":"Morgantown","county":"Monongalia",` +
			`"state":"WV","custom_fields":{"transaction_type":"Purchase","product":"Two Owner","client":"First Appalachian Bank",` +
			`"parcel_id":"10-4A-118.2","rush":"Standard"}}`)
	abstract = []byte(
		`{"status":"in_progress","address":"114 Chestnut Ridge Road","county":"Monongalia","state":"WV","tax_map":"10-4A-118.2",` +
			`"custom_fields":{"search_type":"Current Owner","effective_date":"2026-05-29","names":["Doe, Jane","Doe, John"],"pages":42},` +
			`"files":[12,15,{"id":16},18],"note":"Plat book 4, page 7 \u2013 see deed"}`)
)

func BenchmarkObject(b *testing.B) {
	for name, body := range map[string][]byte{"order": order, "abstract": abstract} {
		b.Run(name+"/ours", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Object(body); err != nil {
					b.Fatalf("decode the object: %v", err)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var m map[string]json.RawMessage
				if err := json.Unmarshal(body, &m); err != nil {
					b.Fatalf("decode the object with encoding/json: %v", err)
				}
			}
		})
	}
}

// socket is a reader that limits each read to 64 KiB, like a network socket.
type socket struct{ r bytes.Reader }

func (s *socket) Read(b []byte) (int, error) { return s.r.Read(b[:min(len(b), 64<<10)]) }

const boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW7"

// upload returns a multipart body with one file.
func upload(content []byte) []byte {
	return []byte("--" + boundary + "\r\n" + head("files[]") + string(content) + "\r\n--" + boundary + "--\r\n")
}

// random returns 10 MiB of random bytes, which can't be compressed, like the content of most documents.
func random(b *testing.B) []byte {
	content := make([]byte, 10<<20)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(content); err != nil {
		b.Fatalf("generate random bytes: %v", err)
	}
	return content
}

// ours and standard return functions that copy the content of the first part of a body to w. ours uses this package,
// and standard uses mime/multipart.
func ours(w io.Writer) func(io.Reader) (int64, error) {
	return func(src io.Reader) (int64, error) {
		r := NewReader(src, boundary, MultipartLimits{})
		defer r.Close()
		p, err := r.Next()
		if err != nil {
			return 0, err
		}
		return p.WriteTo(w)
	}
}

func standard(w io.Writer) func(io.Reader) (int64, error) {
	return func(src io.Reader) (int64, error) {
		p, err := multipart.NewReader(src, boundary).NextRawPart()
		if err != nil {
			return 0, err
		}
		return io.Copy(w, struct{ io.Reader }{p})
	}
}

// BenchmarkUpload uploads a file to a net/http server over a loopback connection.
func BenchmarkUpload(b *testing.B) {
	raw := upload(random(b))
	for name, read := range map[string]func(io.Reader) (int64, error){"ours": ours(io.Discard), "mime-multipart": standard(io.Discard)} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n, err := read(r.Body); err != nil || n != 10<<20 {
					http.Error(w, "incomplete file", http.StatusInternalServerError)
				}
			}))
			defer server.Close()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				resp, err := server.Client().Post(server.URL, "multipart/form-data", bytes.NewReader(raw))
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatalf("upload: %+v, %v; want status 200", resp, err)
				}
				if err := resp.Body.Close(); err != nil {
					b.Fatalf("close the response: %v", err)
				}
			}
		})
	}
}

func BenchmarkMultipart(b *testing.B) {
	content := random(b)
	scan := bytes.Repeat([]byte("\r\n-----------------------------\r\n"), len(content)/33)
	for name, content := range map[string][]byte{"random": content, "50 KB": content[:50<<10], "dashes": scan} {
		raw := upload(content)
		run := func(b *testing.B, read func(io.Reader) (int64, error)) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				s := new(socket)
				s.r.Reset(raw)
				if n, err := read(s); err != nil || n != int64(len(content)) {
					b.Fatalf("read the part: %d bytes, %v; want %d", n, err, len(content))
				}
			}
		}
		b.Run(name+"/ours", func(b *testing.B) { run(b, ours(io.Discard)) })
		b.Run(name+"/mime-multipart", func(b *testing.B) { run(b, standard(io.Discard)) })
		b.Run(name+"/ours+sha256", func(b *testing.B) { run(b, ours(sha256.New())) })
		b.Run(name+"/mime-multipart+sha256", func(b *testing.B) { run(b, standard(sha256.New())) })
	}
}
