package documents

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// downloadSearchable sends a document as a searchable PDF. HEAD only checks that it can be created.
func (p *Pages) downloadSearchable(r *page.Request) error {
	file, err := p.App.Files.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		if err := p.App.Previews.CanBeSearchable(file); err != nil {
			return err
		}
		setSearchableHeaders(r, file)
		return nil
	}
	created, err := p.App.Previews.Searchable(r.Context(), r.Actor, file.ID)
	if err != nil {
		return err
	}
	setSearchableHeaders(r, created.File)
	r.W.Header().Set("Content-Length", strconv.FormatInt(created.Size, 10))
	p.App.Events.RecordAccess(r.Actor, fileDownloaded, model.RecordRef("file", file.ID), map[string]string{"as": "searchable"})
	_, err = io.Copy(r.W, created)
	if err = errors.Join(err, created.Close()); err != nil {
		p.AbortResponse(r, "searchable PDF", err)
	}
	return nil
}

func setSearchableHeaders(r *page.Request, file model.File) {
	r.SetDataHeaders(model.MIMEPDF, page.DocumentPolicy, "private, no-store")
	h := r.W.Header()
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": jobs.SearchableFilename(file)}))
	h.Set("Referrer-Policy", "no-referrer")
}

// notSearchable returns the reason why a document can't be downloaded as a searchable PDF now, or "".
func (p *Pages) notSearchable(file model.File) string {
	if e, ok := errors.AsType[*errs.Error](p.App.Previews.CanBeSearchable(file)); ok {
		return e.Message
	}
	return ""
}
