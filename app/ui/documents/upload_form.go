package documents

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"deedkeep/app/decode"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Without scripts, browsers send all documents of a form in one request.

func (p *Pages) uploadToAbstract(r *page.Request) error {
	if _, err := p.App.Abstracts.Get(r.Context(), r.PathID); err != nil {
		return err // before any document is stored
	}
	return p.receiveForm(r, p.AbstractPath(r.PathID), func(staged *vault.StagedUpload) (vault.AbstractWithFiles, error) {
		record, err := p.App.Abstracts.Attach(r.Context(), r.Actor, r.PathID, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
		if err != nil {
			return record, err
		}
		before := len(record.Files) - (staged.Len() - len(record.Failures))
		record.Files = record.Files[before:]
		return record, nil
	})
}

func (p *Pages) uploadToFolder(r *page.Request) error {
	draft := model.UploadDraft{FolderID: model.NewIDInput(r.PathID)}
	return p.receiveForm(r, page.FolderOrVaultPath(r.PathID), func(staged *vault.StagedUpload) (vault.AbstractWithFiles, error) {
		return p.App.Files.Upload(r.Context(), r.Actor, draft, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	})
}

// receiveForm stores the documents of a form. Then it redirects to a page that shows which
// documents were uploaded and which were rejected.
func (p *Pages) receiveForm(r *page.Request, to string, file func(*vault.StagedUpload) (vault.AbstractWithFiles, error)) error {
	sent := httpx.NewBody(r.W, r.Request, httpx.Limits{Stall: p.Stall, MinRate: p.MinRate})
	r.Body = sent
	staged, err := p.App.Files.Stage(r.Context())
	if err == nil {
		defer staged.Discard()
		err = p.stageParts(r, staged)
	}
	if err != nil {
		if !sent.Drain(1<<20, time.Second) {
			r.W.Header().Set("Connection", "close")
		}
		return bodyError(err)
	}
	if !staged.HasFiles() {
		return p.RedirectWithFailure(r, to, "No files were selected.")
	}
	record, err := file(staged)
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, to, uploadNotice(record))
}

// stageParts stages each document in a multipart body.
func (p *Pages) stageParts(r *page.Request, staged *vault.StagedUpload) error {
	mediaType, boundary, _, err := decode.Boundary(r.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		return page.NewHTTPError(http.StatusUnsupportedMediaType, "Form not recognized", "Reload the page and select the documents again.")
	}
	if err != nil {
		return err
	}
	limits := decode.MultipartLimits{Parts: p.Parts, Fields: p.FormBytes}
	return httpx.ReadParts(r.W, r.Request, boundary, p.BodyBytes, limits, func(part *decode.Part) error {
		if !part.HasFilename {
			return nil
		}
		return httpx.StageFile(staged, part)
	})
}

// bodyError returns the error page for a request body that couldn't be read.
func bodyError(err error) error {
	const heading = "Upload failed"
	var (
		long      *http.MaxBytesError
		malformed *decode.MalformedError
		limit     *decode.LimitError
	)
	switch {
	case errors.As(err, &long):
		return page.NewHTTPError(http.StatusRequestEntityTooLarge, heading,
			fmt.Sprintf("The documents are larger than %s in total. Upload fewer at a time.", page.FormatSize(long.Limit)))
	case errors.As(err, &limit):
		return page.NewHTTPError(http.StatusRequestEntityTooLarge, heading, "The upload has too many documents. Upload fewer at a time.")
	case errors.As(err, &malformed), errors.Is(err, httpx.ErrIncomplete):
		return page.NewHTTPError(http.StatusBadRequest, heading,
			"The upload was incomplete, so nothing was saved. Go back and try again.")
	case errors.Is(err, httpx.ErrTooSlow):
		return page.NewHTTPError(http.StatusRequestTimeout, heading,
			"The upload was too slow, so nothing was saved. Go back and upload fewer documents at a time.")
	}
	return err
}

// uploadNotice says which documents were uploaded and which were rejected, with reasons.
func uploadNotice(record vault.AbstractWithFiles) string {
	var lines []string
	if n := len(record.Files); n > 0 {
		names := make([]string, 0, n)
		for _, f := range record.Files {
			names = append(names, f.Filename)
		}
		lines = append(lines, fmt.Sprintf("%s uploaded: %s.", page.Plural(n, "document", "documents"), strings.Join(names, ", ")))
	}
	rejected, advice := make([]string, 0, len(record.Failures)), []string(nil)
	for _, f := range record.Failures {
		rejected = append(rejected, fmt.Sprintf("%s (%s)", f.Filename, f.Reason))
		if says := rejectionAdvice(f.Reason); says != "" && !slices.Contains(advice, says) {
			advice = append(advice, says)
		}
	}
	if n := len(rejected); n > 0 {
		// Rejections come first because the length of a notice is limited. Uploaded documents are
		// visible on the page anyway.
		first := fmt.Sprintf("%s rejected: %s.", rejectedCount(n), strings.Join(rejected, "; "))
		lines = slices.Concat([]string{first}, advice, lines)
	}
	return strings.Join(lines, " ")
}

func rejectedCount(n int) string {
	if n == 1 {
		return "1 document was"
	}
	return page.FormatCount(n) + " documents were"
}
