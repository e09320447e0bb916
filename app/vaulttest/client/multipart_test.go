package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deedkeep/app/vaulttest/client"
)

// serveForm starts a server that responds with body. It returns the server and the request line and parts that it
// received, each part as name|file name|content.
func serveForm(t *testing.T, status int, body string) (*httptest.Server, *[]string) {
	t.Helper()
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path)
		reader, err := r.MultipartReader()
		if err != nil {
			t.Errorf("read multipart form: %v", err)
			return
		}
		for {
			p, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("next part: %v", err)
				return
			}
			_, names, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
			if err != nil {
				t.Errorf("parse disposition: %v", err)
			}
			content, err := io.ReadAll(p)
			if err != nil {
				t.Errorf("read part: %v", err)
			}
			name := names["filename"]
			if name == "" {
				name = "-"
			}
			got = append(got, names["name"]+"|"+name+"|"+string(content))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv, &got
}

func TestMultipartRequests(t *testing.T) {
	const createdJSON = `{"data":` + abstractJSON + `,"errors":[{"filename":"a.exe","error":"File is empty"}]}`
	const uploadedJSON = `{"success":true,"message":"Files uploaded successfully","files":[` + fileJSON + `],"errors":[]}`
	for _, row := range []struct {
		name     string
		do       func(context.Context, *client.Client) (string, error)
		status   int
		response string
		want     []string
		result   string
	}{
		{"abstract with all fields", func(ctx context.Context, c *client.Client) (string, error) {
			created, err := c.CreateAbstract(ctx, client.AbstractDraft{
				TemplateID: ptr(int64(2)), CustomFields: map[string]any{"b": []string{"x"}, "a": 1.5},
				Address: "12 Elm & Oak", City: "Salem", County: "Essex", State: "MA", TaxMap: "14",
				Files: []client.Upload{{Filename: "Deed.pdf", Reader: strings.NewReader("one")}, {Filename: "a.exe", Reader: strings.NewReader("")}},
			})
			return fmt.Sprintf("%s %d %s %v", created.Data.ID, created.Data.Files[0].ID, created.Data.CustomFields["fee"], created.Errors), err
		}, 201, createdJSON, []string{
			"POST /v1/abstracts", "template_id|-|2", `custom_fields|-|{"a":1.5,"b":["x"]}`, "address|-|12 Elm & Oak",
			"city|-|Salem", "county|-|Essex", "state|-|MA", "tax_map|-|14", "files[]|Deed.pdf|one", "files[]|a.exe|",
		}, "k3Jd82Qz 77 1.50 [{a.exe File is empty}]"},
		{"abstract without fields", func(ctx context.Context, c *client.Client) (string, error) {
			created, err := c.CreateAbstract(ctx, client.AbstractDraft{})
			return created.Data.ID, err
		}, 201, createdJSON, []string{"POST /v1/abstracts"}, "k3Jd82Qz"},
		{"more files", func(ctx context.Context, c *client.Client) (string, error) {
			created, err := c.AddFiles(ctx, "k3Jd82Qz", []client.Upload{{Filename: "Plat.pdf", Reader: strings.NewReader("two")}})
			return created.Data.ID, err
		}, 201, createdJSON, []string{"POST /v1/abstracts/k3Jd82Qz/files", "files[]|Plat.pdf|two"}, "k3Jd82Qz"},
		{"upload", func(ctx context.Context, c *client.Client) (string, error) {
			done, err := c.Upload(ctx, ptr(int64(4)), []client.Upload{{Filename: "Deed.pdf", Reader: strings.NewReader("three")}})
			return fmt.Sprint(done.Success, done.Files[0].ID), err
		}, 201, uploadedJSON, []string{"POST /v1/file-vault/upload", "folder_id|-|4", "files|Deed.pdf|three"}, "true 77"},
		{"upload, all rejected", func(ctx context.Context, c *client.Client) (string, error) {
			done, err := c.Upload(ctx, nil, []client.Upload{{Filename: "Deed.pdf", Reader: strings.NewReader("")}})
			return fmt.Sprint(done.Success, done.Errors), err
		}, 200, `{"success":false,"message":"m","files":[],"errors":[{"filename":"Deed.pdf","error":"File is empty"}]}`,
			[]string{"POST /v1/file-vault/upload", "files|Deed.pdf|"}, "false [{Deed.pdf File is empty}]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv, got := serveForm(t, row.status, row.response)
			result, err := row.do(t.Context(), client.New(srv.URL, key, srv.Client().Transport))
			if err != nil {
				t.Fatalf("call: %v", err)
			}
			if want := strings.Join(row.want, "\n"); strings.Join(*got, "\n") != want {
				t.Errorf("sent\n%s\nwant\n%s", strings.Join(*got, "\n"), want)
			}
			if result != row.result {
				t.Errorf("result %q, want %q", result, row.result)
			}
		})
	}
}

func TestFilenamesRoundTrip(t *testing.T) {
	for _, row := range []struct{ name, sent, plain, want string }{
		{"plain", "Deed (copy) 1.pdf", `filename="Deed (copy) 1.pdf"`, "Deed (copy) 1.pdf"},
		{"quote", `12" plat.pdf`, `filename="12%22 plat.pdf"; filename*=UTF-8''12%22%20plat.pdf`, `12" plat.pdf`},
		{"percent", "50%22.pdf", `filename="50%22.pdf"; filename*=UTF-8''50%2522.pdf`, "50%22.pdf"},
		{"umlaut", "Größe+.pdf", `filename="Größe+.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%2B.pdf`, "Größe+.pdf"},
		{"line end", "a\r\nX: y.pdf", `filename="a%0D%0AX: y.pdf"; filename*=UTF-8''a%0D%0AX%3A%20y.pdf`, "a\r\nX: y.pdf"},
		{"backslash", `C:\deed.pdf`, `filename="C:\deed.pdf"; filename*=UTF-8''C%3A%5Cdeed.pdf`, `C:\deed.pdf`},
		{"not UTF-8", "a\xff.pdf", "filename=\"a\xff.pdf\"; filename*=UTF-8''a%EF%BF%BD.pdf", "a\ufffd.pdf"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv, got := serve(t, 201, `{}`)
			_, err := client.New(srv.URL, key, nil).Upload(t.Context(), nil, []client.Upload{{Filename: row.sent, Reader: strings.NewReader("x")}})
			if err != nil {
				t.Fatalf("upload: %v", err)
			}
			want := `Content-Disposition: form-data; name="files"; ` + row.plain
			var line string
			for l := range strings.SplitSeq(got.body, "\r\n") {
				if strings.HasPrefix(l, "Content-Disposition:") {
					line = l
				}
			}
			if line != want {
				t.Errorf("sent %q, want %q", line, want)
			}
			if _, exact, found := strings.Cut(line, "; filename*="); found {
				_, names, err := mime.ParseMediaType("form-data; filename*=" + exact)
				if err != nil || names["filename"] != row.want {
					t.Errorf("file name in %q = %q, %v, want %q", line, names["filename"], err, row.want)
				}
			}
		})
	}
}

// Uploads are streamed: the server receives the first byte of a document before the last byte exists.
func TestUploadIsStreamed(t *testing.T) {
	first := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reader, err := r.MultipartReader()
		if err != nil {
			t.Errorf("read multipart form: %v", err)
			return
		}
		p, err := reader.NextPart()
		if err != nil {
			t.Errorf("next part: %v", err)
			return
		}
		if _, err := io.ReadFull(p, make([]byte, 1)); err != nil {
			t.Errorf("read first byte: %v", err)
		}
		close(first)
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Errorf("read request body: %v", err)
		}
		w.WriteHeader(201)
		_, _ = io.WriteString(w, `{"success":true}`)
	}))
	defer srv.Close()
	filler := strings.Repeat("x", 256<<10)
	document := io.MultiReader(strings.NewReader(filler), blockingReader{first}, strings.NewReader(filler))
	done, err := client.New(srv.URL, key, nil).Upload(t.Context(), nil, []client.Upload{{Filename: "a.txt", Reader: document}})
	if err != nil || !done.Success {
		t.Fatalf("Upload = %+v, %v, want success", done, err)
	}
}

// blockingReader blocks until its channel is closed, then returns io.EOF.
type blockingReader struct{ until chan struct{} }

func (r blockingReader) Read([]byte) (int, error) { <-r.until; return 0, io.EOF }

func TestUploadNamesUnreadableFile(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer srv.Close()
	c := client.New(srv.URL, key, nil)
	_, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "Deed.pdf", Reader: broken{}}})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), `read "Deed.pdf"`) {
		t.Errorf("Upload = %v, want %v with the name of the file", err, errBroken)
	}
	if _, err = c.Upload(t.Context(), nil, []client.Upload{{Filename: "Plat.pdf"}}); err == nil ||
		!strings.Contains(err.Error(), `read "Plat.pdf"`) {
		t.Errorf("Upload without a reader = %v, want an error with the name of the file", err)
	}
}

func TestCustomFieldsThatCannotBeEncoded(t *testing.T) {
	c := client.New("http://vault.test", key, nil)
	if _, err := c.CreateAbstract(t.Context(), client.AbstractDraft{CustomFields: map[string]any{"a": func() {}}}); err == nil {
		t.Error("CreateAbstract with a function as a value succeeded, want an error")
	}
	if _, err := c.CreateOrder(t.Context(), client.OrderDraft{CustomFields: map[string]any{"a": func() {}}}); err == nil {
		t.Error("CreateOrder with a function as a value succeeded, want an error")
	}
}
