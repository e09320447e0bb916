package document

import (
	"compress/zlib"
	"image/color"
	"image/jpeg"
	"io"

	"deedkeep/app/document/pdfwriter"
	"deedkeep/app/document/raster"
)

// Names of the color spaces of PDF.
const (
	deviceGray = "/DeviceGray"
	deviceRGB  = "/DeviceRGB"
	deviceCMYK = "/DeviceCMYK"
)

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
			image.Orientation = exifOrientation(doc.Reader)
			image.Inverted = image.ColorSpace == deviceCMYK // as Adobe does, and the decoder
			return image, nil
		}
	}
	r, err := decodeImage(doc, doc.codec, lim)
	if err != nil {
		return nil, err
	}
	return embedded(r, false), nil
}

// embedded returns the rows of r for a PDF, with 1 bit per pixel if the image is bilevel.
func embedded(r *raster.Raster, bilevel bool) *pdfwriter.Image {
	image := &pdfwriter.Image{
		Width: r.Width, Height: r.Height, Orientation: r.Orientation, Bits: 8, ColorSpace: deviceGray, Filter: "FlateDecode",
	}
	if r.Color {
		image.ColorSpace = deviceRGB
	}
	if bilevel {
		image.Bits = 1
	}
	image.Write = func(w io.Writer) error {
		z := zlib.NewWriter(w)
		row := make([]byte, r.Width*r.Channels())
		for range r.Height {
			if err := r.Next(row); err != nil {
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
