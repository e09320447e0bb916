// Package client speaks /v1 and the control door in Go.
//
//	vault := client.New("https://vault.example/v1", key, http.DefaultTransport)
//	made, err := vault.CreateAbstract(ctx, client.AbstractDraft{
//		Address: "12 Elm Street",
//		Files:   []client.Upload{{Filename: "Deed.pdf", Reader: deed}},
//	})
//	var refused *client.Error
//	if errors.As(err, &refused) {
//		fmt.Println(refused.Status, refused.Message, refused.Errors.Of("address"))
//	}
//
// It promises that files are streamed and never held in memory, that every wait
// ends with its context, that an answer is read to a bound and closed, and that
// the key goes to no other host, whatever a redirect says. What the server
// refuses comes back as *Error with the server's own sentence; every other
// error is of the network, the file being read, or an answer that was cut.
//
// It refuses to retry, to log and to choose a transport: the caller hands one
// in, for TCP as for the door.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/apitypes"
)

// ControlBaseURL is the base of a client whose transport dials the control door.
const ControlBaseURL = "http://deedkeep"

// OperatorHeader carries who runs a command; only the door believes it.
const OperatorHeader = "X-Deedkeep-Operator"

const (
	maxResponse  = 64 << 20 // bytes of a JSON answer
	maxErrorBody = 1 << 20  // bytes of the body of a failure
)

// Client calls one installation. It is safe for use by several goroutines.
type Client struct {
	base     *url.URL
	baseErr  error
	key      string
	operator string
	options  CallOptions
	http     *http.Client
}

// New makes a client of the installation at base (its address, with or without
// /v1) that authenticates by key and sends through rt, nil meaning
// http.DefaultTransport. With an empty key it sends none. A base that is not an
// http or https address is told by every call.
func New(base, key string, rt http.RoundTripper) *Client {
	c := &Client{key: key, http: &http.Client{
		Transport: rt,
		// A followed POST would lose its body, or carry the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.base, c.baseErr = url.Parse(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"))
	if c.baseErr == nil && (c.base.Host == "" || c.base.Scheme != "http" && c.base.Scheme != "https") {
		c.baseErr = fmt.Errorf("base %q is not an http or https address", base)
	}
	return c
}

// AsOperator returns a client that names the operator in OperatorHeader on every call,
// for the event log of the installation behind a door.
func (c *Client) AsOperator(operator string) *Client {
	named := *c
	named.operator = operator
	return &named
}

// CallOptions is what goes along with a call besides its content, and what comes back.
type CallOptions struct {
	IdempotencyKey string  // of a POST: sent again with the same content, it has the same answer
	IfMatch        string  // of a change: the ETag the record must have
	ETag           *string // is set to that of the record, if the answer has one
	Replayed       *bool   // is set to whether the answer is that of an earlier call
}

// With returns a client whose calls carry these headers; it is for one call.
//
//	var tag string
//	order, err := vault.With(client.Call{ETag: &tag}).Order(ctx, id)
//	order, err = vault.With(client.Call{IfMatch: tag}).PatchOrder(ctx, id, client.Patch{"city": nil})
func (c *Client) With(call CallOptions) *Client {
	with := *c
	with.options = call
	return &with
}

// call sends one request and decodes the JSON of its good answer into result.
func (c *Client) call(ctx context.Context, method, path string, body any, result any) error {
	content, contentType, err := encode(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return c.exchange(ctx, method, path, content, contentType, result)
}

func encode(body any) (content io.Reader, contentType string, err error) {
	if body == nil {
		return nil, "", nil
	}
	text, err := apitypes.Marshal(body)
	return bytes.NewReader(text), "application/json", err
}

func (c *Client) exchange(ctx context.Context, method, path string, content io.Reader, contentType string, result any) error {
	answer, err := c.send(ctx, method, path, content, contentType)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // only read from
	if err := decode(answer.Body, result); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// send returns a good answer, whose body the caller closes; every other status
// is an *Error.
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
		// A key that is refused should not cost the upload of a document.
		req.Header.Set("Expect", "100-continue")
	}
	answer, err := c.do(req)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		defer answer.Body.Close() //nolint:errcheck // only read from
		return nil, responseError(answer)
	}
	c.options.readHeaders(answer)
	return answer, nil
}

func (a CallOptions) setHeaders(req *http.Request) {
	if a.IdempotencyKey != "" && req.Method == http.MethodPost {
		req.Header.Set("Idempotency-Key", a.IdempotencyKey)
	}
	if a.IfMatch != "" && req.Method != http.MethodGet {
		req.Header.Set("If-Match", a.IfMatch)
	}
}

func (a CallOptions) readHeaders(answer *http.Response) {
	if a.ETag != nil {
		*a.ETag = answer.Header.Get("ETag")
	}
	if a.Replayed != nil {
		*a.Replayed = answer.Header.Get("Idempotent-Replayed") == "true"
	}
}

// do sends req, with the key and the operator only to our own installation.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == c.base.Scheme && req.URL.Host == c.base.Host {
		if c.key != "" {
			req.Header.Set("Authorization", "Bearer "+c.key)
		}
		if c.operator != "" {
			req.Header.Set(OperatorHeader, c.operator)
		}
	}
	answer, err := c.http.Do(req)
	if err != nil {
		// The address in a url.Error may be a signed link, which no log should keep.
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err
		}
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	return answer, nil
}

// Patch is a change of a record: fields by name, of which only those named are
// changed. nil clears a value; CustomFields go under custom_fields, and are merged.
type Patch map[string]any

// delete sends a DELETE, whose good answer has no body.
func (c *Client) delete(ctx context.Context, path string) error {
	answer, err := c.send(ctx, http.MethodDelete, path, nil, "")
	if err != nil {
		return err
	}
	return answer.Body.Close()
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
