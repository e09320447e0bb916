package client

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
)

// ProcessFailures lists the files whose processing failed, the first thousand. Door
// only.
func (c *Client) ProcessFailures(ctx context.Context) ([]apitypes.ProcessFailure, error) {
	var body apitypes.ProcessFailures
	err := c.call(ctx, http.MethodGet, "/control/process", nil, &body)
	return body.Data, err
}

// RetryProcessing puts a file whose processing failed into the queue again, or all
// of them when the number is 0, and tells how many. Door only.
func (c *Client) RetryProcessing(ctx context.Context, file int64) (int, error) {
	var body apitypes.ProcessRetried
	err := c.call(ctx, http.MethodPost, "/control/process/retry", apitypes.ProcessRetry{File: file}, &body)
	return body.Retried, err
}
