package httpx

import (
	"fmt"
	"io"
	"net/http"

	"deedkeep/app/decode"
	"deedkeep/app/vault"
)

// ReadParts calls handle for each part of a multipart body of at most maxBytes bytes, as the part arrives. If handle
// doesn't read a part to its end, the rest is skipped.
func ReadParts(w http.ResponseWriter, r *http.Request, boundary string, maxBytes int64, limits decode.MultipartLimits,
	handle func(*decode.Part) error,
) error {
	if r.ContentLength > maxBytes {
		return &http.MaxBytesError{Limit: maxBytes}
	}
	parts := decode.NewReader(http.MaxBytesReader(w, r.Body, maxBytes), boundary, limits)
	defer parts.Close()
	for {
		part, err := parts.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := handle(part); err != nil {
			return fmt.Errorf("read part %d: %w", part.Number, err)
		}
	}
}

// StageFile stages the document in a part. It ignores the empty part that browsers send if no document is selected.
func StageFile(staged *vault.StagedUpload, part *decode.Part) error {
	if part.Filename == "" {
		if empty, err := part.IsEmpty(); empty || err != nil {
			return err
		}
	}
	return staged.Add(decode.Filename(part.Filename), part)
}
