package account

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quietZone is the width of the white border, in modules. ISO/IEC 18004 requires four.
const quietZone = 4

// qrCodeSVG returns a QR code for the text as inline SVG, dark on white in all themes. It isn't a
// separate image because the image's address would contain the secret.
func qrCodeSVG(text string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("generate QR code: %w", err)
	}
	side := code.Bounds().Dx()
	var path strings.Builder
	for y := range side {
		for x := range side {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quietZone, y+quietZone)
			}
		}
	}
	size := side + 2*quietZone
	return template.HTML(fmt.Sprintf( // #nosec G203 -- numbers alone
		`<svg viewBox="0 0 %d %d" width="224" height="224" role="img" aria-label="QR code for your authenticator app" shape-rendering="crispEdges">`+
			`<rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="%s"/></svg>`, size, size, size, size, path.String())), nil
}
