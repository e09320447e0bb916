package client

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
)

// ProcessFailures lists the first 1,000 files whose processing failed. Control socket only.
func (c *Client) ProcessFailures(ctx context.Context) ([]apitypes.ProcessFailure, error) {
	var body apitypes.ProcessFailures
	err := c.call(ctx, http.MethodGet, "/control/process", nil, &body)
	return body.Data, err
}

// RetryProcessing queues a file whose processing failed, or all such files if file is 0. It returns their number.
// Control socket only.
func (c *Client) RetryProcessing(ctx context.Context, file int64) (int, error) {
	var body apitypes.ProcessRetried
	err := c.call(ctx, http.MethodPost, "/control/process/retry", apitypes.ProcessRetry{File: file}, &body)
	return body.Retried, err
}
