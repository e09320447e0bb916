package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

// maxRedirects is the maximum number of redirects of a download. Redirects by the server and by proxies count.
const maxRedirects = 5

// Upload streams documents into a folder; nil means no folder. The result lists every rejected file. If all files are
// rejected, Success is false and the error is nil.
func (c *Client) Upload(ctx context.Context, folder *int64, files []Upload) (apitypes.Uploaded, error) {
	f := newForm()
	if folder != nil {
		if err := f.field("folder_id", strconv.FormatInt(*folder, 10)); err != nil {
			return apitypes.Uploaded{}, fmt.Errorf("upload: %w", err)
		}
	}
	if err := f.files("files", files); err != nil {
		return apitypes.Uploaded{}, fmt.Errorf("upload: %w", err)
	}
	var done apitypes.Uploaded
	err := c.post(ctx, "/v1/file-vault/upload", f, &done)
	return done, err
}

// File returns the metadata of file n.
func (c *Client) File(ctx context.Context, n int64) (apitypes.File, error) {
	var body apitypes.FileBody
	err := c.Do(ctx, http.MethodGet, filePath(n), nil, &body)
	return body.Data, err
}

// FilePage returns one page of the list of files.
func (c *Client) FilePage(ctx context.Context, l ListOptions) (apitypes.Page[apitypes.File], error) {
	return page[apitypes.File](ctx, c, "/v1/file-vault/files", l)
}

// Files iterates over the list of files and reads pages as needed.
func (c *Client) Files(ctx context.Context, l ListOptions) iter.Seq2[apitypes.File, error] {
	return all[apitypes.File](ctx, c, "/v1/file-vault/files", l)
}

// PatchFile renames or moves a file and returns the changed file.
func (c *Client) PatchFile(ctx context.Context, n int64, change Patch) (apitypes.File, error) {
	var body apitypes.FileBody
	err := c.Do(ctx, http.MethodPatch, filePath(n), change, &body)
	return body.Data, err
}

// TrashFile moves a file to the trash.
func (c *Client) TrashFile(ctx context.Context, n int64) error { return c.delete(ctx, filePath(n)) }

// RestoreFile restores a file from the trash.
func (c *Client) RestoreFile(ctx context.Context, n int64) (apitypes.File, error) {
	var body apitypes.FileBody
	err := c.Do(ctx, http.MethodPost, filePath(n)+"/restore", nil, &body)
	return body.Data, err
}

// Download returns the content of a file as a stream, which the caller must close. Read fails if the connection breaks
// before the end. Download follows the redirect to the signed link, and sends the key only to the host of the base URL.
func (c *Client) Download(ctx context.Context, n int64) (io.ReadCloser, error) {
	redirects := client.New(c.base, c.key, redirectTransport{c.transport})
	response, err := redirects.Send(ctx, http.MethodGet, filePath(n)+"/download", nil, "")
	if err != nil {
		return nil, fmt.Errorf("download file %d: %w", n, err)
	}
	return response.Body, nil
}

// redirectTransport follows redirects. It sends the key only to the host of the first request.
type redirectTransport struct{ http.RoundTripper }

func (t redirectTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	request := r
	for range maxRedirects {
		response, err := t.RoundTripper.RoundTrip(request)
		if err != nil || response.StatusCode/100 != 3 {
			return response, err
		}
		_ = response.Body.Close() // only read from
		to, err := response.Location()
		if err != nil {
			return nil, fmt.Errorf("redirect: %w", err)
		}
		if to.Scheme != "http" && to.Scheme != "https" {
			return nil, errors.New("redirect: not to an http or https address")
		}
		request = r.Clone(r.Context())
		request.URL, request.Host = to, to.Host
		if to.Scheme != r.URL.Scheme || to.Host != r.URL.Host {
			request.Header.Del("Authorization")
		}
	}
	return nil, fmt.Errorf("more than %d redirects", maxRedirects)
}

func filePath(n int64) string { return "/v1/file-vault/files/" + strconv.FormatInt(n, 10) }
