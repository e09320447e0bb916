package control

import (
	"cmp"
	"context"
	"net/http"

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

// Status returns the number of records in the vault, the lengths of its queues, and the free disk space.
func (c *Client) Status(ctx context.Context) (apitypes.Status, error) {
	var body apitypes.Status
	err := c.http.Do(ctx, http.MethodGet, "/control/status", nil, &body)
	return body, err
}

// Checkup returns the part of a diagnosis that only the open vault can provide. The doctor command uses it.
func (c *Client) Checkup(ctx context.Context) (apitypes.Checkup, error) {
	var body apitypes.Checkup
	err := c.http.Do(ctx, http.MethodGet, "/control/doctor", nil, &body)
	return body, err
}

// OpenProbe returns a path at the public address that accepts one body and discards it; client.Client.SendProbe sends
// it. Without a running server it returns a *client.Error of status 409.
func (c *Client) OpenProbe(ctx context.Context) (string, error) {
	var body apitypes.ProbeOpened
	err := c.http.Do(ctx, http.MethodPost, "/control/probe", nil, &body)
	return body.Path, err
}

// CreateBackup creates a snapshot. It calls progress in this goroutine unless progress is nil. If ctx ends, the
// backup stops and leaves no snapshot. CreateBackup returns a *client.Error if the server rejects or can't finish the
// backup, and io.ErrUnexpectedEOF if the response ends early.
func (c *Client) CreateBackup(ctx context.Context, create apitypes.BackupCreate,
	progress func(apitypes.Progress)) (apitypes.Backup, error) {
	return followProgress[apitypes.Backup](ctx, c, "/control/backup", create, progress)
}

// BackupsPruned records in the audit log that a command removed snapshots.
func (c *Client) BackupsPruned(ctx context.Context, pruned apitypes.BackupPruned) error {
	return c.http.Do(ctx, http.MethodPost, "/control/backup/pruned", pruned, &struct{}{})
}

// Verify checks every record and every byte of the vault and calls progress, unless nil, in this goroutine. The result
// lists the damage, which is not an error. Verify returns a *client.Error if the server can't finish, and
// io.ErrUnexpectedEOF if the response ends early or exceeds 64 MiB.
func (c *Client) Verify(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/verify", nil, progress)
}

// Repair rebuilds everything that is derived from records and then verifies like Verify; the result also says what was
// rebuilt. It returns a *client.Error if the vault accepts no writes.
func (c *Client) Repair(ctx context.Context, progress func(apitypes.Progress)) (apitypes.Verify, error) {
	return followProgress[apitypes.Verify](ctx, c, "/control/repair", nil, progress)
}

// Reindex rebuilds the search index and waits until it is complete. It calls progress in this goroutine unless
// progress is nil. If ctx ends, a running server continues rebuilding.
func (c *Client) Reindex(ctx context.Context, progress func(apitypes.Progress)) (apitypes.SearchIndex, error) {
	return followProgress[apitypes.SearchIndex](ctx, c, "/control/reindex", nil, progress)
}

// ProcessFailures returns the first 1,000 files whose processing failed.
func (c *Client) ProcessFailures(ctx context.Context) ([]apitypes.ProcessFailure, error) {
	var body apitypes.ProcessFailures
	err := c.http.Do(ctx, http.MethodGet, "/control/process", nil, &body)
	return body.Data, err
}

// RetryProcessing queues a file whose processing failed again. If file is 0, it queues all failed files. It returns
// the number of queued files.
func (c *Client) RetryProcessing(ctx context.Context, file int64) (int, error) {
	var body apitypes.ProcessRetried
	err := c.http.Do(ctx, http.MethodPost, "/control/process/retry", apitypes.ProcessRetry{File: file}, &body)
	return body.Retried, err
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
