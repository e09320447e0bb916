package control

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

// Client sends commands to the control socket. Requests that the server rejects return a *client.Error with the
// server's message. A Client is safe for concurrent use.
type Client struct {
	http *client.Client
}

// NewClient returns a client that sends requests through rt. Use RoundTripper for a running server and the transport
// of a MemoryListener for a server in this process.
func NewClient(rt http.RoundTripper) *Client { return &Client{http: client.New(BaseURL, "", rt)} }

// AsOperator returns a copy of the client that sends operator in the OperatorHeader of each request. The audit log
// contains this name. If operator is empty, no header is sent.
func (c *Client) AsOperator(operator string) *Client {
	if operator == "" {
		return c
	}
	return &Client{http: c.http.WithHeader(OperatorHeader, operator)}
}

// call sends a request to route ("METHOD /path") with body as JSON, or without content if body is nil.
func call[T any](ctx context.Context, c *Client, route string, body any) (response T, err error) {
	method, path, _ := strings.Cut(route, " ")
	err = c.http.Do(ctx, method, path, body, &response)
	return response, err
}

// data is like call. It returns the member data of the response.
func data[T any](ctx context.Context, c *Client, route string, body any) (T, error) {
	response, err := call[apitypes.Data[T]](ctx, c, route, body)
	return response.Data, err
}

// maxStream is the maximum size of a response with progress and a result.
const maxStream = 64 << 20

// followProgress posts body, which may be nil, calls progress, unless nil, for each report of progress in the response, and
// returns the result at its end.
func followProgress[T any](ctx context.Context, c *Client, path string, body any, progress func(apitypes.Progress)) (result T, err error) {
	err = c.http.Lines(ctx, http.MethodPost, path, body, maxStream, func(read func(any) error, requestID string) (bool, error) {
		var line apitypes.Line[T]
		if err := read(&line); err != nil {
			return false, err
		}
		switch {
		case line.Error != "":
			return false, &client.Error{Status: cmp.Or(line.Status, http.StatusInternalServerError), Message: line.Error, RequestID: requestID}
		case line.Result != nil:
			result = *line.Result
			return false, nil
		case line.Progress != nil && progress != nil:
			progress(*line.Progress)
		}
		return true, nil
	})
	return result, err
}
