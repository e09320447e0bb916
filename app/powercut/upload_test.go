//go:build root && linux

package powercut

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest/client"
)

// resumable is a resumable upload, with the offsets that the server confirmed.
type resumable struct {
	body      []byte
	confirmed []confirmation
}

// confirmation is an offset, with the position in the recording at which it was confirmed.
type confirmation struct {
	at     int
	offset int64
}

// confirm records a confirmed offset of an upload.
func (j *journal) confirm(id string, body []byte, offset int64, at int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	up := j.uploads[id]
	if up == nil {
		up = &resumable{body: body}
		j.uploads[id] = up
	}
	up.confirmed = append(up.confirmed, confirmation{at, offset})
}

// check returns a sentence if the upload has lost confirmed bytes in a power failure at position moment. It completes
// the upload with the missing bytes, and compares the stored document.
func (r *resumable) check(ctx context.Context, v *instance.Instance, id string, moment int) (problem string, err error) {
	want := int64(-1)
	for _, c := range r.confirmed {
		if c.at <= moment {
			want = c.offset
		}
	}
	if want < 0 {
		return "", nil // the upload may be missing
	}
	owner := model.Actor{Kind: model.ActorKey, ID: keyID}
	up, err := v.Uploads.Offset(ctx, owner, id)
	if err != nil {
		return fmt.Sprintf("upload: got %v, want %d confirmed bytes", err, want), nil //nolint:nilerr // the upload is lost
	}
	if up.Offset < want {
		return fmt.Sprintf("upload: got %d bytes, want at least %d", up.Offset, want), nil
	}
	if !up.Ended() {
		if up, err = v.Uploads.Write(ctx, owner, id, up.Offset, bytes.NewReader(r.body[up.Offset:])); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256(r.body)
	if up.File == nil || up.File.Digest != hex.EncodeToString(sum[:]) {
		return fmt.Sprintf("upload: got file %+v and rejection %q, want a document with the bytes that were sent", up.File, up.Rejection), nil
	}
	return "", nil
}

// resumable sends a document as a resumable upload in several requests. The last one often has a single byte. Some
// uploads remain incomplete.
func (w *worker) resumable(ctx context.Context, c *client.Client) error {
	part, digest := w.document()
	body, err := io.ReadAll(part.Reader)
	if err != nil {
		return err
	}
	from := w.testServer.moment()
	response, err := c.WithHeader("Tus-Resumable", "1.0.0").WithHeader("Upload-Length", strconv.Itoa(len(body))).
		WithHeader("Upload-Metadata", "filename "+base64.StdEncoding.EncodeToString([]byte(part.Filename))).
		Send(ctx, http.MethodPost, "/v1/uploads", nil, "")
	if err != nil {
		return fmt.Errorf("begin an upload: %w", err)
	}
	id := path.Base(response.Header.Get("Location"))
	if err := response.Body.Close(); err != nil {
		return err
	}
	w.testServer.journal.confirm(id, body, 0, w.testServer.moment())
	ends := []int{w.rng.IntN(len(body)-2) + 1, len(body) - 1, len(body)}
	if w.rng.IntN(4) == 0 {
		ends = ends[:w.rng.IntN(2)+1]
	}
	offset := 0
	for _, end := range ends {
		response, err := c.WithHeader("Tus-Resumable", "1.0.0").WithHeader("Upload-Offset", strconv.Itoa(offset)).
			Send(ctx, http.MethodPatch, "/v1/uploads/"+id, bytes.NewReader(body[offset:end]), "application/offset+octet-stream")
		if err != nil {
			return fmt.Errorf("send bytes of an upload: %w", err)
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
		offset = end
		w.testServer.journal.confirm(id, body, int64(offset), w.testServer.moment())
	}
	if offset < len(body) {
		return nil
	}
	var stored apitypes.UploadBody
	err = c.Do(ctx, http.MethodGet, "/v1/uploads/"+id, nil, &stored)
	if err == nil && stored.Data.File == nil {
		err = errors.New("a complete upload has no document")
	}
	if err != nil {
		return fmt.Errorf("get an upload: %w", err)
	}
	// The workers never delete this file, because the check needs it.
	w.testServer.journal.add(fmt.Sprint("file ", stored.Data.File.ID), change{from, w.testServer.moment(), digest})
	return nil
}
