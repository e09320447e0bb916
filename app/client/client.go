// Package client speaks /v1 in Go. The client of the control socket, in package control,
// is built on its Do, DoRaw, and Lines.
//
//	vault := client.New("https://vault.example/v1", key, http.DefaultTransport)
//	created, err := vault.CreateAbstract(ctx, client.AbstractDraft{
//		Address: "12 Elm Street",
//		Files:   []client.Upload{{Filename: "Deed.pdf", Reader: deed}},
//	})
//	var failure *client.Error
//	if errors.As(err, &failure) {
//		fmt.Println(failure.Status, failure.Message, failure.Errors.Of("address"))
//	}
//
// The client streams files and never holds them in memory. Every call returns when its context ends. The size of a JSON
// response is limited, and every response body is closed. The key is never sent to another host, even after a redirect.
// An error response is returned as *Error with the server's message. All other errors come from the network, from the
// reader of an upload, or from a truncated response.
//
// The client doesn't retry and doesn't log. The caller provides the transport.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/apitypes"
)

const (
	maxResponse  = 64 << 20 // max bytes of a JSON response
	maxErrorBody = 1 << 20  // max bytes of the body of an error response
)

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	baseErr error
	key     string
	header  http.Header // sent with every request to the server
	options CallOptions
	http    *http.Client
}

// New returns a client for the server at base, which is the server's URL with or without /v1. The client
// authenticates with key unless key is empty. It sends requests through rt, or through http.DefaultTransport if rt is
// nil. If base is not an http or https URL, every call returns an error.
func New(base, key string, rt http.RoundTripper) *Client {
	c := &Client{key: key, http: &http.Client{
		Transport: rt,
		// Following a redirect would drop the body of a POST, or send the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.base, c.baseErr = url.Parse(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"))
	if c.baseErr == nil && (c.base.Host == "" || c.base.Scheme != "http" && c.base.Scheme != "https") {
		c.baseErr = fmt.Errorf("base %q is not an http or https address", base)
	}
	return c
}

// WithHeader returns a copy of the client that sends an additional header with every request to the server. The
// header is never sent to other hosts.
func (c *Client) WithHeader(name, value string) *Client {
	with := *c
	with.header = c.header.Clone()
	if with.header == nil {
		with.header = http.Header{}
	}
	with.header.Set(name, value)
	return &with
}

// CallOptions are the optional headers of a request and of its response.
type CallOptions struct {
	IdempotencyKey string  // for POST requests: repeated requests with the same content get the same response
	IfMatch        string  // for changes: the ETag that the record must have
	ETag           *string // receives the ETag of the record; "" if the response has none
	Replayed       *bool   // receives true if the response is a replay for the idempotency key
}

// With returns a client that applies options to its calls. Use it for one call.
//
//	var tag string
//	order, err := vault.With(client.CallOptions{ETag: &tag}).Order(ctx, id)
//	order, err = vault.With(client.CallOptions{IfMatch: tag}).PatchOrder(ctx, id, client.Patch{"city": nil})
func (c *Client) With(call CallOptions) *Client {
	with := *c
	with.options = call
	return &with
}

// Do sends a request with body as JSON, or without content if body is nil. It decodes the JSON of a successful
// response into result. If the status is not successful, it returns an *Error.
func (c *Client) Do(ctx context.Context, method, path string, body, result any) error {
	content, contentType, err := encode(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return c.DoRaw(ctx, method, path, content, contentType, result)
}

func encode(body any) (content io.Reader, contentType string, err error) {
	if body == nil {
		return nil, "", nil
	}
	text, err := apitypes.Marshal(body)
	return bytes.NewReader(text), "application/json", err
}

// DoRaw is like Do but sends content of any type. The transport closes content if it is an io.Closer.
func (c *Client) DoRaw(ctx context.Context, method, path string, content io.Reader, contentType string, result any) error {
	response, err := c.send(ctx, method, path, content, contentType)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read from
	if err := decode(response.Body, result); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// send returns a successful response. The caller must close its body. If the status is not successful, send returns
// an *Error.
func (c *Client) send(ctx context.Context, method, path string, content io.Reader, contentType string) (*http.Response, error) {
	if c.baseErr != nil {
		return nil, c.baseErr
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, content)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	c.options.setHeaders(req)
	if strings.HasPrefix(contentType, "multipart/") {
		// Let the server reject an invalid key before the documents are sent.
		req.Header.Set("Expect", "100-continue")
	}
	response, err := c.do(req)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		defer response.Body.Close() //nolint:errcheck // only read from
		return nil, responseError(response)
	}
	c.options.readHeaders(response)
	return response, nil
}

func (a CallOptions) setHeaders(req *http.Request) {
	if a.IdempotencyKey != "" && req.Method == http.MethodPost {
		req.Header.Set("Idempotency-Key", a.IdempotencyKey)
	}
	if a.IfMatch != "" && req.Method != http.MethodGet {
		req.Header.Set("If-Match", a.IfMatch)
	}
}

func (a CallOptions) readHeaders(response *http.Response) {
	if a.ETag != nil {
		*a.ETag = response.Header.Get("ETag")
	}
	if a.Replayed != nil {
		*a.Replayed = response.Header.Get("Idempotent-Replayed") == "true"
	}
}

// do sends req. The key and the client's headers are added only to requests to the server itself.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == c.base.Scheme && req.URL.Host == c.base.Host {
		if c.key != "" {
			req.Header.Set("Authorization", "Bearer "+c.key)
		}
		maps.Copy(req.Header, c.header)
	}
	response, err := c.http.Do(req)
	if err != nil {
		// The URL in a url.Error may be a signed link, which must not appear in logs.
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err
		}
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	return response, nil
}

// Patch maps the names of fields to new values. Other fields stay unchanged. The value nil clears a field. Custom
// fields are passed in custom_fields and are merged with the existing ones.
type Patch map[string]any

// delete sends a DELETE request. A successful response has no body.
func (c *Client) delete(ctx context.Context, path string) error {
	response, err := c.send(ctx, http.MethodDelete, path, nil, "")
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func decode(body io.Reader, result any) error {
	text, err := io.ReadAll(io.LimitReader(body, maxResponse+1))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if len(text) > maxResponse {
		return fmt.Errorf("read answer: over %d bytes", maxResponse)
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}
