package vaulttest

import (
	"context"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

// ImageReader is a Reader that renders images in the test process.
type ImageReader struct{ Reader }

func source(r sandbox.Request) document.Source {
	return document.Source{Doc: r.Doc, Size: r.Size, MIME: r.MIME}
}

// Sizes returns the size of an image.
func (ImageReader) Sizes(ctx context.Context, r sandbox.Request, lim document.ExtractLimits) ([]document.PageSize, error) {
	return document.PageSizes(ctx, source(r), lim)
}

// PageImage renders an image.
func (ImageReader) PageImage(ctx context.Context, r sandbox.Request, page, width int, lim document.ExtractLimits) (document.Image, error) {
	return document.PageImage(ctx, source(r), page, width, lim)
}
