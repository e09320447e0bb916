package document

import (
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office"
)

// docType is a type of document that is accepted, and what can be done with it.
type docType struct {
	mime       string
	extensions []string
	// inspect returns a Report with this MIME type, or the zero Report if the content has another
	// type. If a read fails, doc keeps the error.
	inspect func(doc *docio.Reader, mime string, lim InspectLimits) Report
	text    func(doc *source, out *docio.TextWriter) error // nil: documents of this type have no text
	pages   *pages                                         // nil: documents of this type have no page images
	codec                                                  // of an image
}

// pages holds the functions for documents with page images.
type pages struct {
	image func(doc *source, n, width int, lim ExtractLimits) (image.Image, error)
	sizes func(doc *source, lim ExtractLimits) ([]PageSize, error)
	size  func(doc *source, n int, lim ExtractLimits) (PageSize, error) // of one page

	searchable func(doc *source, words PageWords, w io.Writer, lim ExtractLimits) error
}

// codec decodes an image format.
type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// MIME types that the code distinguishes.
const (
	mimePDF  = "application/pdf"
	mimeJPEG = "image/jpeg"
)

var (
	pdfPages   = &pages{pdfPage, pdfSizes, pdfSize, searchablePDF}
	tiffPages  = &pages{tiffPage, tiffSizes, tiffPageSize, searchableTIFF}
	imagePages = &pages{imagePage, imageSizes, imagePageSize, searchableImage}
)

// types lists the accepted types.
var types = []docType{
	{mimePDF, []string{"pdf"}, contentOnly(isPDF), pdfText, pdfPages, codec{}},
	{"image/tiff", []string{"tif", "tiff"}, inspectTIFF, nil, tiffPages, codec{}},
	{"image/png", []string{"png"}, contentOnly(isPNG), nil, imagePages, codec{png.DecodeConfig, png.Decode}},
	{mimeJPEG, []string{"jpg", "jpeg"}, contentOnly(isJPEG), nil, imagePages, codec{jpeg.DecodeConfig, jpeg.Decode}},
	{"image/gif", []string{"gif"}, contentOnly(isGIF), nil, imagePages, codec{gif.DecodeConfig, gif.Decode}},
	{"image/bmp", []string{"bmp"}, contentOnly(isBMP), nil, imagePages, codec{bmp.DecodeConfig, bmp.Decode}},
	{"image/webp", []string{"webp"}, contentOnly(isWEBP), nil, imagePages, codec{webp.DecodeConfig, webp.Decode}},
	{"text/plain", []string{"txt"}, contentOnly(isText), plainText, nil, codec{}},
	{office.MIMEDOCX, []string{"docx"}, inspectOOXML, officeText(office.DOCX), nil, codec{}},
	{office.MIMEXLSX, []string{"xlsx"}, inspectOOXML, officeText(office.XLSX), nil, codec{}},
	{office.MIMEPPTX, []string{"pptx"}, inspectOOXML, officeText(office.PPTX), nil, codec{}},
	{office.MIMEDOC, []string{"doc"}, inspectOLE, officeText(office.DOC), nil, codec{}},
	{office.MIMEXLS, []string{"xls"}, inspectOLE, officeText(office.XLS), nil, codec{}},
	{office.MIMEPPT, []string{"ppt"}, inspectOLE, officeText(office.PPT), nil, codec{}},
}

// officeText returns the function for an Office document that read reads.
func officeText(read func(*docio.Reader, *docio.TextWriter) error) func(*source, *docio.TextWriter) error {
	return func(doc *source, out *docio.TextWriter) error { return read(doc.Reader, out) }
}

// typeOf returns the type with a MIME type, or one without functions if there is none.
func typeOf(mime string) docType {
	return find(func(t docType) bool { return t.mime == mime })
}

// typeByExtension returns the type with an extension, or one without functions if there is none.
func typeByExtension(ext string) docType {
	return find(func(t docType) bool { return slices.Contains(t.extensions, ext) })
}

func find(is func(docType) bool) docType {
	if i := slices.IndexFunc(types, is); i >= 0 {
		return types[i]
	}
	return docType{}
}
