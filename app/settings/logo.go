package settings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
)

// MaxLogoBytes is the maximum size of an uploaded logo, in bytes.
const MaxLogoBytes = 1 << 20

// Limits on the sides of a logo, in pixels.
const (
	minLogoSide    = 16
	maxLogoSide    = 4000
	storedLogoSide = 600 // a larger logo is scaled down to this
)

// ImageReader renders images in worker processes, see sandbox.Pool.
type ImageReader interface {
	Sizes(ctx context.Context, r sandbox.Request, lim document.ExtractLimits) ([]document.PageSize, error)
	PageImage(ctx context.Context, r sandbox.Request, page, width int, lim document.ExtractLimits) (document.Image, error)
}

// Logo is the logo of the firm, as a worker encoded it.
type Logo struct {
	Image   []byte // PNG or JPEG
	Type    string // media type
	Version string // identifies the image; "" if there is no logo
}

func newLogo(image []byte) Logo {
	if len(image) == 0 {
		return Logo{}
	}
	sum := sha256.Sum256(image)
	return Logo{Image: image, Type: http.DetectContentType(image), Version: hex.EncodeToString(sum[:8])}
}

// Logo returns the logo of the firm.
func (s *Service) Logo() Logo { return *s.logo.Load() }

// logoTypes are the media types of images that can become a logo. Workers read them.
var logoTypes = []string{"image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp"}

// ReadLogo returns an uploaded image as a logo, which SetLogo can store. A worker process decodes it and encodes it
// again, with at most storedLogoSide pixels per side. The error is Invalid if the image can't become a logo.
func (s *Service) ReadLogo(ctx context.Context, actor model.Actor, upload []byte) (Logo, error) {
	mediaType := http.DetectContentType(upload)
	switch {
	case len(upload) > MaxLogoBytes:
		return Logo{}, invalidLogo("The logo is larger than %d MB. Choose a smaller file.", MaxLogoBytes>>20)
	case !slices.Contains(logoTypes, mediaType):
		return Logo{}, invalidLogo("The logo is not a PNG or JPEG image. Choose another file.")
	case s.images == nil:
		return Logo{}, &errs.Error{Kind: errs.Unavailable, Message: "Images can't be read now. Try again later."}
	}
	r := sandbox.Request{Doc: bytes.NewReader(upload), Size: int64(len(upload)), MIME: mediaType, Owner: actor.Record(), Class: sandbox.Upload}
	limits := document.ExtractLimits{MaxPixels: maxLogoSide * maxLogoSide, MaxWidth: storedLogoSide}
	sizes, err := s.images.Sizes(ctx, r, limits)
	if err != nil {
		return Logo{}, logoError(err)
	}
	width := sizes[0].ImageWidth
	height := int(float64(width) * sizes[0].Height / sizes[0].Width)
	if longer, shorter := max(width, height), min(width, height); longer > maxLogoSide || shorter < minLogoSide {
		return Logo{}, invalidLogo("The logo is %d × %d pixels. Choose an image with %d to %d pixels per side.", width, height,
			minLogoSide, maxLogoSide)
	}
	image, err := s.images.PageImage(ctx, r, 1, max(min(width, storedLogoSide, width*storedLogoSide/height), 1), limits)
	if err != nil {
		return Logo{}, logoError(err)
	}
	logo := newLogo(image.Bytes)
	if logo.Type != image.MIME {
		return Logo{}, fmt.Errorf("the worker encoded the logo as %s, not as %s", logo.Type, image.MIME)
	}
	return logo, nil
}

func invalidLogo(format string, args ...any) error {
	return &errs.Error{Kind: errs.Invalid, Message: fmt.Sprintf(format, args...)}
}

func logoError(err error) error {
	switch {
	case errors.Is(err, document.ErrTooLarge), errors.Is(err, sandbox.ErrMemory), errors.Is(err, sandbox.ErrDeadline):
		return invalidLogo("The logo is too large. Choose an image with up to %d pixels per side.", maxLogoSide)
	case sandbox.IsDocumentError(err), errors.Is(err, io.ErrUnexpectedEOF):
		return invalidLogo("The logo is damaged. Save the image again, or choose another file.")
	case errors.Is(err, sandbox.ErrBusy):
		return &errs.Error{Kind: errs.Unavailable, Cause: errs.Busy, Err: err,
			Message: "The server is processing many documents. Try again in a minute."}
	}
	return fmt.Errorf("read the logo: %w", err)
}

// SetLogo replaces the logo of the firm with one from ReadLogo. The zero Logo removes it.
func (s *Service) SetLogo(ctx context.Context, actor model.Actor, logo Logo) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.db.WriteAsAdmin(ctx, actor, nil, func(t *store.Tx) error {
		image, err := t.Logo()
		before := newLogo(image)
		if err != nil || before.Version == logo.Version {
			return err
		}
		change := model.TextChange("firm.logo", before.Version, logo.Version)
		switch {
		case before.Version == "":
			change.Text = "Logo: added"
		case logo.Version == "":
			change.Text = "Logo: removed"
		default:
			change.Text = "Logo: replaced"
		}
		return errors.Join(t.PutLogo(logo.Image), s.db.AddEntry(t, model.Event{At: s.db.Now(), Actor: actor, Kind: "settings.changed",
			Changes: []model.Change{change}}))
	})
	if err == nil {
		s.logo.Store(&logo)
	}
	return err
}
