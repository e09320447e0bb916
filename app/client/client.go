// Package client sends HTTP requests to a server of this program: JSON, content of any type, and responses of JSON
// lines. Package control builds the client of the control socket on it.
//
// Every call returns when its context ends. The size of a JSON response is limited, and every response body is closed.
// Redirects are not followed, so the key is never sent to another host. An error response is returned as *Error with
// the server's message. All other errors come from the network, from the reader of an upload, or from a truncated
// response.
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
	header  http.Header // sent with every request
	http    *http.Client
}

// New returns a client for the server at base, which is the server's URL with or without /v1. The client
// authenticates with key unless key is empty. It sends requests through rt, or through http.DefaultTransport if rt is
// nil. If base is not an http or https URL, every call returns an error.
func New(base, key string, rt http.RoundTripper) *Client {
	c := &Client{header: http.Header{}, http: &http.Client{
		Transport: rt,
		// Following a redirect would drop the body of a POST, or send the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if key != "" {
		c.header.Set("Authorization", "Bearer "+key)
	}
	c.base, c.baseErr = url.Parse(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"))
	if c.baseErr == nil && (c.base.Host == "" || c.base.Scheme != "http" && c.base.Scheme != "https") {
		c.baseErr = fmt.Errorf("server address %q must start with http:// or https://", base)
	}
	return c
}

// WithHeader returns a copy of the client that sends an additional header with every request.
func (c *Client) WithHeader(name, value string) *Client {
	with := *c
	with.header = c.header.Clone()
	with.header.Set(name, value)
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
	response, err := c.Send(ctx, method, path, content, contentType)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read from
	if err := decode(response.Body, result); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// Send returns a successful response. The caller must close its body. If the status is not successful, Send returns
// an *Error.
func (c *Client) Send(ctx context.Context, method, path string, content io.Reader, contentType string) (*http.Response, error) {
	if c.baseErr != nil {
		return nil, c.baseErr
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, content)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	maps.Copy(req.Header, c.header)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(req)
	if err != nil {
		// The URL in a url.Error may be a signed link, which must not appear in logs.
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err
		}
		return nil, fmt.Errorf("%s %s: %w", method, req.URL.Path, err)
	}
	if response.StatusCode/100 != 2 {
		defer response.Body.Close() //nolint:errcheck // only read from
		return nil, responseError(response)
	}
	return response, nil
}

func decode(body io.Reader, result any) error {
	text, err := io.ReadAll(io.LimitReader(body, maxResponse+1))
	if err != nil {
		return fmt.Errorf("read response: %w", err)
	}
	if len(text) > maxResponse {
		return fmt.Errorf("read response: larger than %d bytes", maxResponse)
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("read response: %w", err)
	}
	return nil
}
