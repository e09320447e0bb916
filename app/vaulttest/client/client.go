// Package client calls /v1 like a program of a customer, with Go types, for tests.
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
// It streams files and never holds them in memory.
package client

import (
	"context"
	"net/http"
	"strings"

	"deedkeep/app/client"
)

// Error is an error response from the server.
type Error = client.Error

// Client calls /v1 of one server. It is safe for concurrent use.
type Client struct {
	*client.Client
	base, key string
	transport http.RoundTripper
}

// New returns a client for the server at base, which is the server's URL with or without /v1. The client
// authenticates with key unless key is empty. It sends requests through rt, or through http.DefaultTransport if rt is
// nil. If base is not an http or https URL, every call returns an error.
func New(base, key string, rt http.RoundTripper) *Client {
	if rt == nil {
		rt = http.DefaultTransport
	}
	return (&Client{base: base, key: key, transport: rt}).With(CallOptions{})
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
func (c *Client) With(options CallOptions) *Client {
	with := *c
	with.Client = client.New(c.base, c.key, optionsTransport{c.transport, options})
	return &with
}

// optionsTransport sets the headers of a request and reads those of a successful response.
type optionsTransport struct {
	http.RoundTripper
	options CallOptions
}

func (t optionsTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		// Let the server reject an invalid key before the documents are sent.
		r.Header.Set("Expect", "100-continue")
	}
	if t.options.IdempotencyKey != "" && r.Method == http.MethodPost {
		r.Header.Set("Idempotency-Key", t.options.IdempotencyKey)
	}
	if t.options.IfMatch != "" && r.Method != http.MethodGet {
		r.Header.Set("If-Match", t.options.IfMatch)
	}
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil || response.StatusCode/100 != 2 {
		return response, err
	}
	if t.options.ETag != nil {
		*t.options.ETag = response.Header.Get("ETag")
	}
	if t.options.Replayed != nil {
		*t.options.Replayed = response.Header.Get("Idempotent-Replayed") == "true"
	}
	return response, nil
}

// Patch maps the names of fields to new values. Other fields stay unchanged. The value nil clears a field. Custom
// fields are passed in custom_fields and are merged with the existing ones.
type Patch map[string]any

// delete sends a DELETE request. A successful response has no body.
func (c *Client) delete(ctx context.Context, path string) error {
	response, err := c.Send(ctx, http.MethodDelete, path, nil, "")
	if err != nil {
		return err
	}
	return response.Body.Close()
}
