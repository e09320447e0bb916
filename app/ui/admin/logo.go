package admin

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/decode"
	"deedkeep/app/httpx"
	"deedkeep/app/settings"
	"deedkeep/app/ui/page"
)

// maxFirmForm is the maximum size of a form with a logo, in bytes. A logo beyond settings.MaxLogoBytes is rejected in the
// form, and only a much larger one with a page of its own.
const maxFirmForm = 32 << 20

// changeFirm stores the settings of the firm and its logo.
func (p *Pages) changeFirm(r *page.Request) error {
	r.SetPathValue("group", "firm")
	return p.withFirmForm(r, p.changeSettings)
}

// submitFirm stores the step of the setup with the logo.
func (p *Pages) submitFirm(r *page.Request) error {
	r.SetPathValue("step", "firm")
	return p.withFirmForm(r, p.submitSetup)
}

// withFirmForm reads a form that can have a logo, and calls handle. PostForm then contains the logo.
func (p *Pages) withFirmForm(r *page.Request, handle page.HandlerFunc) error {
	mediaType, boundary, _, err := decode.Boundary(r.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		if err := page.ReadForm(r, page.MaxFormBytes); err != nil {
			return err
		}
		r.PostForm.Del("logo")
		return handle(r)
	}
	sent := httpx.NewBody(r.W, r.Request, httpx.Limits{Stall: p.Stall, MinRate: p.MinRate})
	r.Body = sent
	if err == nil {
		r.PostForm = map[string][]string{}
		limits := decode.MultipartLimits{Parts: 20, Fields: maxFirmForm}
		err = httpx.ReadParts(r.W, r.Request, boundary, maxFirmForm, limits, func(part *decode.Part) error {
			limit := page.MaxFormBytes // no field may be that long
			if part.HasFilename {
				limit = settings.MaxLogoBytes + 1
			}
			content, err := io.ReadAll(io.LimitReader(part, int64(limit)))
			if err == nil && part.HasFilename == (part.Name == "logo") {
				r.PostForm.Set(part.Name, string(content))
			}
			return err
		})
	}
	if err != nil {
		if !sent.Drain(1<<20, time.Second) {
			r.W.Header().Set("Connection", "close")
		}
		return firmFormError(err)
	}
	return handle(r)
}

// firmFormError returns the error page for a form that couldn't be read.
func firmFormError(err error) error {
	var (
		long      *http.MaxBytesError
		limit     *decode.LimitError
		malformed *decode.MalformedError
	)
	const heading = "Nothing was saved"
	switch {
	case errors.As(err, &long), errors.As(err, &limit):
		return page.NewHTTPError(http.StatusRequestEntityTooLarge, heading,
			fmt.Sprintf("The form is too large. Go back and choose a logo of up to %s.", page.FormatSize(settings.MaxLogoBytes)))
	case errors.As(err, &malformed), errors.Is(err, httpx.ErrIncomplete):
		return page.NewHTTPError(http.StatusBadRequest, heading, "The form was incomplete. Go back and submit it again.")
	case errors.Is(err, httpx.ErrTooSlow):
		return page.NewHTTPError(http.StatusRequestTimeout, heading, "The connection was too slow. Go back and submit the form again.")
	}
	return err
}

// submittedLogo checks the logo of a form. It returns a function that stores or removes it, or does nothing.
func (p *Pages) submittedLogo(r *page.Request, form settingForm) (change func() error, err error) {
	upload := r.PostForm.Get("logo")
	switch {
	case form.HasLogo && upload != "":
		logo, err := p.App.Stored.ReadLogo(r.Context(), r.Actor, []byte(upload))
		return func() error { return p.App.Stored.SetLogo(r.Context(), r.Actor, logo) }, err
	case form.HasLogo && r.PostForm.Get("logo_remove") == "true":
		return func() error { return p.App.Stored.SetLogo(r.Context(), r.Actor, settings.Logo{}) }, nil
	}
	return func() error { return nil }, nil
}

// logo sends the logo of the firm. Its address changes with the image.
func (p *Pages) logo(r *page.Request) error {
	logo := p.App.Stored.Logo()
	if logo.Version == "" || logo.Version != r.PathValue("version") {
		return page.NotFound(r)
	}
	r.SetDataHeaders(logo.Type, page.DocumentPolicy, "private, max-age=31536000, immutable")
	r.W.Header().Set("Content-Length", strconv.Itoa(len(logo.Image)))
	_, _ = r.W.Write(logo.Image) // an error means that the client has disconnected
	return nil
}
