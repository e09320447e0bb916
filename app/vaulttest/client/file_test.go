package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deedkeep/app/vaulttest/client"
)

// link returns a handler for /dl/ that responds with a document and records the request headers.
func link(got *http.Header) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*got = r.Header.Clone()
		if r.URL.RawQuery != "sig=a%2Bb" {
			http.Error(w, "changed", http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, "the bytes")
	}
}

func TestDownloadSendsTheKeyOnlyToTheServer(t *testing.T) {
	var away, home http.Header
	other := httptest.NewServer(link(&away))
	defer other.Close()
	var to string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/file-vault/files/77/download", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Error("the request has no key")
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("GET /dl/77", link(&home))
	mux.HandleFunc("GET /hop", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", other.URL+"/dl/77?sig=a%2Bb")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("GET /loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	srv := httptest.NewServer(mux)
	defer srv.Close()

	for _, row := range []struct {
		name, to, want string
		home, away     bool
	}{
		{name: "same host", to: srv.URL + "/dl/77?sig=a%2Bb", want: "the bytes", home: true},
		{name: "relative", to: "/dl/77?sig=a%2Bb", want: "the bytes", home: true},
		{name: "other host", to: other.URL + "/dl/77?sig=a%2Bb", want: "the bytes", away: true},
		{name: "other host after a redirect", to: "/hop", want: "the bytes", away: true},
		{name: "loop", to: "/loop"},
		{name: "changed", to: "/dl/77?sig=b"},
		{name: "no address", to: ""},
		{name: "a file of this machine", to: "file:///etc/passwd"},
	} {
		t.Run(row.name, func(t *testing.T) {
			to, away, home = row.to, nil, nil
			body, err := client.New(srv.URL+"/v1", key, nil).Download(t.Context(), 77)
			if row.want == "" {
				if err == nil {
					t.Error("Download succeeded, want an error")
				}
				return
			}
			if err != nil {
				t.Fatalf("download: %v", err)
			}
			defer body.Close()
			text, err := io.ReadAll(body)
			if err != nil || string(text) != row.want {
				t.Errorf("got %q, %v, want %q", text, err, row.want)
			}
			if (home != nil) != row.home || (away != nil) != row.away {
				t.Errorf("requests to the same host: %v, to the other: %v, want %v and %v", home != nil, away != nil, row.home, row.away)
			}
			if row.home && home.Get("Authorization") != "Bearer "+key {
				t.Errorf("Authorization at the same host = %q, want the key", home.Get("Authorization"))
			}
			if row.away && away.Get("Authorization") != "" {
				t.Errorf("headers at the other host = %v, want no key", away)
			}
		})
	}
}

func TestDownloadError(t *testing.T) {
	srv, _ := serve(t, 404, `{"message":"Not found."}`)
	_, err := client.New(srv.URL, key, nil).Download(t.Context(), 77)
	var failure *client.Error
	if !errors.As(err, &failure) || failure.Status != 404 || failure.Message != "Not found." || failure.RequestID != "req-1" {
		t.Fatalf("Download = %v, want status 404 with request ID req-1", err)
	}
}

func TestTruncatedDownload(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			http.Redirect(w, r, "/dl/77", http.StatusFound)
			return
		}
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
	}))
	defer srv.Close()
	body, err := client.New(srv.URL, key, nil).Download(t.Context(), 77)
	if err != nil {
		t.Fatalf("download: %v", err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); !errors.Is(err, io.ErrUnexpectedEOF) || string(text) != "half" {
		t.Fatalf("got %q, %v, want half, %v", text, err, io.ErrUnexpectedEOF)
	}
}

// A signed link grants access to a document, so errors, which may be logged, must not contain it.
func TestDownloadErrorOmitsSignedLink(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, gone.URL+"/dl/77?sig=SIGNATURE", http.StatusFound)
	}))
	defer srv.Close()
	_, err := client.New(srv.URL, key, nil).Download(t.Context(), 77)
	if err == nil || strings.Contains(err.Error(), "SIGNATURE") || strings.Contains(err.Error(), key) {
		t.Fatalf("Download = %v, want an error without the signature and the key", err)
	}
}
