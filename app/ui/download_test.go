package ui_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"deedkeep/app/vaulttest"
)

func encodeImage(t *testing.T, encode func(io.Writer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})); err != nil {
		t.Fatalf("encode image: %v", err)
	}
	return b.Bytes()
}

// The response headers depend on the document's type.
func TestDownloadHeaders(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	const (
		sandbox = "default-src 'none'; frame-ancestors 'self'; sandbox"
		viewer  = "default-src 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'"
	)
	for _, c := range []struct {
		filename          string
		content           []byte
		mime, disposition string
		policy            string
	}{
		{"Canary deed.pdf", vaulttest.PDF(1, "a"), "application/pdf", "inline", viewer},
		{"Plat ü.PNG", encodeImage(t, png.Encode), "image/png", "inline", sandbox},
		{"p.jpg", encodeImage(t, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }), "image/jpeg", "inline", sandbox},
		{"p.gif", encodeImage(t, func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }), "image/gif", "inline", sandbox},
		{"p.bmp", encodeImage(t, bmp.Encode), "image/bmp", "attachment", sandbox},
		{"p.tif", encodeImage(t, func(w io.Writer, m image.Image) error { return tiff.Encode(w, m, nil) }), "image/tiff", "attachment", sandbox},
		{`<b>"q"; x.txt`, []byte("<html><script>alert(1)</script></html>"), "text/plain", "attachment", sandbox},
	} {
		t.Run(c.filename, func(t *testing.T) {
			file := h.upload(t, c.filename, c.content)
			sum := sha256.Sum256(c.content)
			for _, method := range []string{"GET", "HEAD"} {
				got := h.request(t, 200, method, h.signedLink(file), "Authorization: Bearer dk_live_nonsense", "Cookie: session=x",
					"Accept-Encoding: gzip")
				if method == "GET" && !bytes.Equal(got.body, c.content) || method == "HEAD" && len(got.body) != 0 {
					t.Errorf("%s: body has %d bytes, want %d for GET, 0 for HEAD", method, len(got.body), len(c.content))
				}
				got.checkHeaders(t, map[string]string{
					"Content-Type": c.mime, "Content-Security-Policy": c.policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
					"Cache-Control": "private, no-store", "Etag": `"` + hex.EncodeToString(sum[:]) + `"`, "Accept-Ranges": "bytes",
					"Content-Length": fmt.Sprint(len(c.content)), "Content-Encoding": "", "Set-Cookie": "", "Cross-Origin-Resource-Policy": "cross-origin",
				})
				disposition, params, err := mime.ParseMediaType(got.Header.Get("Content-Disposition"))
				if err != nil || disposition != c.disposition || params["filename"] != c.filename {
					t.Errorf("Content-Disposition = %q (%v), want %s of %q", got.Header.Get("Content-Disposition"), err, c.disposition,
						c.filename)
				}
			}
		})
	}
}

func TestDownloadConditions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	content := append(vaulttest.PDF(1, "ranges"), bytes.Repeat([]byte("0123456789"), 100)...)
	file := h.upload(t, "a.pdf", content)
	tag := `"` + file.Digest + `"`
	size := len(content)
	for _, c := range []struct {
		name   string
		header []string
		status int
		body   string
		ranges string
	}{
		{"first bytes", []string{"Range: bytes=0-3"}, 206, "%PDF", fmt.Sprintf("bytes 0-3/%d", size)},
		{"from an offset", []string{fmt.Sprintf("Range: bytes=%d-", size-2)}, 206, "89", fmt.Sprintf("bytes %d-%d/%d", size-2, size-1, size)},
		{"last bytes", []string{"Range: bytes=-3"}, 206, "789", fmt.Sprintf("bytes %d-%d/%d", size-3, size-1, size)},
		{"after the end", []string{fmt.Sprintf("Range: bytes=%d-", size)}, 416, "", fmt.Sprintf("bytes */%d", size)},
		{"another unit", []string{"Range: pages=1-2"}, 416, "", ""},
		{"If-Range that matches", []string{"Range: bytes=0-3", "If-Range: " + tag}, 206, "%PDF", ""},
		{"If-Range of another file", []string{"Range: bytes=0-3", `If-Range: "x"`}, 200, string(content), ""},
		{"weak If-Range", []string{"Range: bytes=0-3", "If-Range: W/" + tag}, 200, string(content), ""},
		{"If-None-Match", []string{"If-None-Match: " + tag}, 304, "", ""},
		{"If-None-Match with several ETags", []string{`If-None-Match: "x", W/` + tag}, 304, "", ""},
		{"If-None-Match, any", []string{"If-None-Match: *"}, 304, "", ""},
		{"If-None-Match, another file", []string{`If-None-Match: "x"`}, 200, string(content), ""},
		{"If-Match", []string{"If-Match: " + tag}, 200, string(content), ""},
		{"If-Match, another file", []string{`If-Match: "x"`}, 412, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := h.request(t, c.status, "GET", h.signedLink(file), c.header...)
			if c.status < 300 && string(got.body) != c.body {
				t.Errorf("body = %.80q, want %.80q", got.body, c.body)
			}
			if c.ranges != "" && got.Header.Get("Content-Range") != c.ranges {
				t.Errorf("Content-Range = %q, want %q", got.Header.Get("Content-Range"), c.ranges)
			}
			if c.status != 416 && got.Header.Get("Etag") != tag {
				t.Errorf("ETag = %q, want %q", got.Header.Get("Etag"), tag)
			}
			head := h.request(t, c.status, "HEAD", h.signedLink(file), c.header...)
			if len(head.body) != 0 {
				t.Errorf("body of HEAD has %d bytes, want 0", len(head.body))
			}
		})
	}
	got := h.request(t, 206, "GET", h.signedLink(file), "Range: bytes=0-1,-1")
	if kind, _, err := mime.ParseMediaType(got.Header.Get("Content-Type")); err != nil || kind != "multipart/byteranges" {
		t.Errorf("Content-Type of two ranges = %q, want multipart/byteranges", got.Header.Get("Content-Type"))
	}
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// requestErrorPage requests an error page and checks that it reveals nothing about the document.
func (ts *testServer) requestErrorPage(t *testing.T, status int, method, target string, header ...string) reply {
	t.Helper()
	got := ts.request(t, status, method, target, header...)
	got.checkHeaders(t, map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy,
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Etag": "", "Content-Disposition": ""})
	if method != http.MethodHead && (!bytes.Contains(got.body, []byte("<h1>")) || bytes.Contains(got.body, []byte("%PDF"))) {
		t.Errorf("body = %s, want an error page without the document", got.body)
	}
	return got
}

// Any change to a signed link makes it invalid, even if the changed link is only a different
// spelling of the same address.
func TestDownloadLinkTampered(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	file, other := h.upload(t, "Canary a.pdf", vaulttest.PDF(1, "a")), h.upload(t, "b.pdf", vaulttest.PDF(2, "b"))
	link := h.signedLink(file)
	h.request(t, 200, "GET", link)
	h.request(t, 200, "GET", "http://vault.test"+link) // the absolute form that clients send to a proxy
	for i := len("/dl/"); i < len(link); i++ {
		for _, c := range []byte{'0', 'A', 'a', '-', '.'} {
			if link[i] == c {
				continue
			}
			changed := []byte(link)
			changed[i] = c
			// net/http responds with 400 if an escape sequence is invalid.
			if got := h.send(t, "GET", string(changed)); got.StatusCode != 403 && got.StatusCode != 400 {
				t.Errorf("link with byte %d replaced by %c: status %d, want 403 or 400", i, c, got.StatusCode)
			}
		}
	}
	for i, c := range []byte(link) {
		if i >= len("/dl/") && c != '/' && c != '%' {
			h.requestErrorPage(t, 403, "GET", fmt.Sprintf("%s%%%02X%s", link[:i], c, link[i+1:]))
			break
		}
	}
	p := strings.Split(strings.TrimPrefix(link, "/dl/"), "/")
	q := strings.Split(strings.TrimPrefix(h.signedLink(other), "/dl/"), "/")
	for _, target := range []string{
		link + "?", link + "?x=1", link + "?token=1", link + "/", link + "//", link + "%20", link + ";x=1", "/dl/", "/dl/1",
		"/dl/1/2/3", "/dl//" + strings.Join(p, "/"),
		strings.Replace(link, "%20", "+", 1), strings.Replace(link, "%20", "%2520", 1), strings.Replace(link, "/dl/1/", "/dl/01/", 1),
		strings.Replace(link, "/dl/1/", "/dl/+1/", 1),
		"/dl/" + q[0] + "/" + p[1] + "/" + p[2] + "/" + p[3], "/dl/" + p[0] + "/" + p[1] + "/" + q[2] + "/" + p[3],
		"/dl/" + p[0] + "/" + p[1] + "/" + p[2] + "/" + q[3],
		"/dl/" + p[0] + "/9999999999/" + p[2] + "/" + p[3], "/dl/" + p[0] + "/" + p[1] + "/" + p[2] + "/x/../" + p[3],
		"/dl/" + p[0] + "/" + p[1] + "/" + p[2] + "=/" + p[3],
	} {
		h.requestErrorPage(t, 403, "GET", target)
		h.requestErrorPage(t, 403, "HEAD", target)
	}
	for _, unknown := range []string{"//dl/" + strings.Join(p, "/"), "/DL/" + strings.Join(p, "/"), "/x/..",
		"/%64l/" + strings.Join(p, "/"), "/dl", "/v2", "/favicon.ico"} {
		h.requestErrorPage(t, 404, "GET", unknown)
	}
}

// A signed link expires exactly at its expiration time.
func TestDownloadLinkExpires(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	link := h.signedLink(h.upload(t, "a.pdf", vaulttest.PDF(1, "a")))
	h.clock.Advance(5*time.Minute - time.Microsecond)
	h.request(t, 200, "GET", link)
	h.clock.Advance(time.Microsecond)
	got := h.requestErrorPage(t, 403, "GET", link)
	if !bytes.Contains(got.body, []byte("Download link expired")) {
		t.Errorf("body = %s, want it to say that the link has expired", got.body)
	}
	h.clock.Advance(time.Hour)
	h.requestErrorPage(t, 403, "GET", link, "Range: bytes=0-1", "Authorization: Bearer dk_live_x")
}

func TestDownloadMethods(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	link := h.signedLink(h.upload(t, "a.pdf", vaulttest.PDF(1, "a")))
	for _, target := range []string{link, "/dl/x", "/"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"} {
			h.requestErrorPage(t, 405, method, target, "Content-Length: 0").checkHeaders(t, map[string]string{"Allow": "GET, HEAD"})
		}
	}
	h.requestErrorPage(t, 200, "GET", "/sign-in")
	h.requestErrorPage(t, 200, "HEAD", "/sign-in")
}

// If a document doesn't exist, its link gets a 404 response. If its content is missing, the
// response is 500.
func TestDownloadMissing(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	file := h.upload(t, "a.pdf", vaulttest.PDF(1, "a"))
	missing := file
	missing.ID = 99
	h.requestErrorPage(t, 404, "GET", h.signedLink(missing))
	link := h.signedLink(file)
	content, err := os.ReadFile(h.blobPath(file))
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	h.deleteBlob(t, file)
	got := h.requestErrorPage(t, 500, "GET", link)
	if bytes.Contains(got.body, []byte(file.Digest)) || bytes.Contains(got.body, []byte("blobs")) {
		t.Errorf("error page shows internals: %s", got.body)
	}
	// The test cleanup verifies the vault, so restore the content.
	if err := os.WriteFile(h.blobPath(file), content, 0o400); err != nil {
		t.Fatalf("os.WriteFile: %v", err)
	}
	h.request(t, 200, "GET", link)
}

// readFromRecorder records the reader that net/http passes to ReadFrom.
type readFromRecorder struct {
	http.ResponseWriter
	from *io.Reader
}

func (rfr readFromRecorder) Unwrap() http.ResponseWriter { return rfr.ResponseWriter }

func (rfr readFromRecorder) ReadFrom(r io.Reader) (int64, error) {
	*rfr.from = r
	return rfr.ResponseWriter.(io.ReaderFrom).ReadFrom(r)
}

// The file itself is passed to the connection, so that the kernel can copy the content.
func TestDownloadUsesReadFrom(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	content := append(vaulttest.PDF(1, "a"), make([]byte, 1<<20)...)
	link := h.signedLink(h.upload(t, "a.pdf", content))
	var from io.Reader
	pages := h.server.Config.Handler
	probing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := w.(io.ReaderFrom); !ok {
			t.Errorf("%T doesn't implement io.ReaderFrom", w)
		}
		pages.ServeHTTP(readFromRecorder{w, &from}, r)
	}))
	got, err := http.Get(probing.URL + link)
	if err != nil {
		t.Fatalf("http.Get: %v", err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil || !bytes.Equal(body, content) {
		t.Errorf("GET %s = %d bytes, %v, want %d", link, len(body), err, len(content))
	}
	if err := got.Body.Close(); err != nil {
		t.Errorf("close response body: %v", err)
	}
	probing.Close()
	limited, ok := from.(*io.LimitedReader)
	if !ok {
		t.Fatalf("writer read from a %T, want *io.LimitedReader", from)
	}
	if _, ok := limited.R.(syscall.Conn); !ok {
		t.Errorf("writer read from a %T, want a syscall.Conn", limited.R)
	}
}
