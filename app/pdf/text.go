package pdf

import (
	"context"
	"encoding/binary"
	"errors"
	"unicode"
	"unicode/utf16"

	"deedkeep/app/wasm"
)

// textChunk is the number of characters that are copied from the engine in one call.
const textChunk = 8192

// lineHyphen is the character that PDFium returns for a hyphen at the end of a line.
const lineHyphen = 0x02

// Text returns the text of a page in the order in which PDFium reads it, followed by the contents
// of form fields and free-text annotations. The text is UTF-8 without control characters other than
// "\t" and "\n", and lines end in "\n". Hyphens at the ends of lines are kept. Text stops after
// maxBytes bytes (0: no limit). It returns ErrUnreadable if the page can't be loaded.
func (d *Document) Text(ctx context.Context, page int, maxBytes int64) (string, error) {
	var text string
	err := d.do(ctx, func() error {
		return d.page(ctx, page, func(handle uint32) error {
			text = d.readText(ctx, handle, maxBytes)
			return ctx.Err()
		})
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

func (d *Document) readText(ctx context.Context, page uint32, maxBytes int64) string {
	handle := d.in.Call(ctx, "FPDFText_LoadPage", page)
	if handle == 0 {
		return ""
	}
	count := d.in.Call(ctx, "FPDFText_CountChars", handle)
	// A character takes at most four bytes in UTF-16. The additional four bytes are for the
	// terminating zero.
	buffer := d.in.Alloc(ctx, 4*(textChunk+1))
	var units []uint16
	for at := uint32(0); int32(at) < int32(count) && (maxBytes <= 0 || int64(len(units)) < maxBytes); at += textChunk {
		if ctx.Err() != nil {
			break // so that the buffer is freed
		}
		n := d.in.Call(ctx, "FPDFText_GetText", handle, at, min(textChunk, count-at), buffer)
		units = d.in.appendUnits(units, buffer, n)
	}
	d.in.Call(ctx, "free", buffer)
	d.in.Call(ctx, "FPDFText_ClosePage", handle)
	return plainText(append(units, d.readAnnotations(ctx, page, maxBytes)...), maxBytes)
}

// appendUnits appends the n UTF-16 units at buffer to units, except for the last one, which is the
// terminating zero.
func (in *instance) appendUnits(units []uint16, buffer, n uint32) []uint16 {
	if n == 0 {
		return units
	}
	if n > max(2*(textChunk+1), maxValueBytes/2) {
		panic(&wasm.FaultError{Call: "FPDFText_GetText", Cause: errors.New("more text than expected")})
	}
	raw := in.Read(buffer, 2*(n-1))
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(raw[i:]))
	}
	return units
}

// plainText converts UTF-16 units to UTF-8. Unpaired surrogates become U+FFFD, control characters
// and noncharacters are removed, and line breaks become "\n".
func plainText(units []uint16, maxBytes int64) string {
	text := make([]byte, 0, len(units))
	for _, r := range utf16.Decode(units) {
		switch {
		case r == lineHyphen || r == 0xFFFE:
			r = '-'
		case r == '\n' || r == '\t':
		case r == 0xFFFF || unicode.IsControl(r):
			continue
		}
		if n := len(string(r)); maxBytes > 0 && int64(len(text)+n) > maxBytes {
			break
		}
		text = append(text, string(r)...)
	}
	return string(text)
}
