package document

import (
	"compress/zlib"
	"fmt"
	"image/color"
	"image/jpeg"
	"io"

	"deedkeep/app/document/pdfwriter"
	"deedkeep/app/document/tiff"
)

// Names of the color spaces of PDF.
const (
	deviceGray = "/DeviceGray"
	deviceRGB  = "/DeviceRGB"
	deviceCMYK = "/DeviceCMYK"
)

// embedded returns the image for a PDF. Data that a PDF can contain is copied: a fax or JPEG image
// that is one strip. Any other image is compressed again without loss.
func (t *tiffImage) embedded() *pdfwriter.Image {
	var image *pdfwriter.Image
	if t.band == nil && t.blockH >= t.height {
		switch t.compression {
		case tiffG3, tiffG4:
			image = t.embeddedFax()
		case tiffJPEG:
			image = t.embeddedJPEG()
		}
	}
	if image == nil {
		image = t.raster().embedded(t.bits == 1 && t.samples == 1 && t.channels == 1)
		write := image.Write
		image.Write = func(w io.Writer) error {
			if err := write(w); err != nil {
				return err
			}
			if t.decoded == 0 {
				return t.failed
			}
			return nil
		}
	}
	image.Orientation = t.dir.Orientation()
	return image
}

// embeddedFax returns the strip of a fax image. The samples of a TIFF are black if they are 1, unless
// 0 is black. In a PDF, it is the other way around.
func (t *tiffImage) embeddedFax() *pdfwriter.Image {
	off, n, err := t.block(0)
	if err != nil {
		return nil
	}
	k := -1
	if t.compression == tiffG3 {
		const twoDimensional = 1
		k = int(t.dir.Number(tiff.TagT4Options, 0) & twoDimensional)
	}
	return &pdfwriter.Image{
		Width: t.width, Height: t.height, Bits: 1, ColorSpace: deviceGray, Filter: "CCITTFaxDecode",
		Parameters: fmt.Sprintf("/K %d /Columns %d /Rows %d /EndOfBlock false /BlackIs1 %t", k, t.width, t.height, t.photometric == blackIsZero),
		Write: func(w io.Writer) error {
			var r io.Reader = io.NewSectionReader(t.doc, off, n)
			if t.fillOrder == 2 {
				r = bitReverser{r}
			}
			return copyTo(w, r)
		},
	}
}

// embeddedJPEG returns the strip of a JPEG image, completed with the tables that a TIFF stores
// separately.
func (t *tiffImage) embeddedJPEG() *pdfwriter.Image {
	off, n, err := t.block(0)
	if err != nil {
		return nil
	}
	stream, err := t.jpegStream(off, n)
	if err != nil {
		return nil
	}
	image := jpegImage(stream)
	if image == nil || image.Width != t.width || image.Height != t.height {
		return nil
	}
	return image
}

// jpegImage returns a JPEG for a PDF, or nil if a PDF can't contain it.
func jpegImage(stream func() io.Reader) *pdfwriter.Image {
	config, err := jpeg.DecodeConfig(stream())
	if err != nil {
		return nil
	}
	space := deviceRGB
	switch config.ColorModel {
	case color.GrayModel:
		space = deviceGray
	case color.CMYKModel:
		space = deviceCMYK
	}
	return &pdfwriter.Image{
		Width: config.Width, Height: config.Height, Bits: 8, ColorSpace: space, Filter: "DCTDecode",
		Write: func(w io.Writer) error { return copyTo(w, stream()) },
	}
}

// embeddedImage returns an image file for a PDF. A JPEG is copied. Any other image is compressed
// again without loss, but with 8 bits per sample and on a white background.
func embeddedImage(doc *source, lim ExtractLimits) (*pdfwriter.Image, error) {
	if doc.mime == mimeJPEG {
		if image := jpegImage(func() io.Reader { return doc.All() }); image != nil {
			image.Orientation = exifOrientation(doc)
			image.Inverted = image.ColorSpace == deviceCMYK // as Adobe does, and the decoder
			return image, nil
		}
	}
	r, err := decodeImage(doc, codecs[doc.mime], lim)
	if err != nil {
		return nil, err
	}
	return r.embedded(false), nil
}

// embedded returns the rows of r for a PDF, with 1 bit per pixel if the image is bilevel.
func (r *raster) embedded(bilevel bool) *pdfwriter.Image {
	image := &pdfwriter.Image{
		Width: r.width, Height: r.height, Orientation: r.orientation, Bits: 8, ColorSpace: deviceGray, Filter: "FlateDecode",
	}
	if r.color {
		image.ColorSpace = deviceRGB
	}
	if bilevel {
		image.Bits = 1
	}
	image.Write = func(w io.Writer) error {
		z := zlib.NewWriter(w)
		row := make([]byte, r.width*r.channels())
		for range r.height {
			if err := r.next(row); err != nil {
				return err
			}
			packed := row
			if bilevel {
				packed = packBilevel(row)
			}
			if _, err := z.Write(packed); err != nil {
				return err
			}
		}
		return z.Close()
	}
	return image
}

// packBilevel returns a row of black and white pixels with 8 pixels in a byte.
func packBilevel(row []byte) []byte {
	packed := make([]byte, (len(row)+7)/8)
	for x, v := range row {
		packed[x/8] |= v & 0x80 >> (x % 8)
	}
	return packed
}

func copyTo(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}
