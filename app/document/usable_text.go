package document

import "unicode"

// Bounds of UsableText and LegibleText.
const (
	// minUsableLetters is the number of letters and digits below which the text of a page is
	// probably only a stamp or a page number on a scanned image. The stamps of electronic
	// recording have up to about 180.
	minUsableLetters = 200
	// maxUnmappedPercent is the maximum share of characters that no reader can make sense of.
	maxUnmappedPercent = 10
	// minVowelPercent and maxVowelPercent bound the share of vowels among ASCII letters. English
	// has about 38%, and the shifted letters of fonts without a Unicode table have about 10%.
	minVowelPercent = 20
	maxVowelPercent = 65
	minVowelLetters = 100 // fewer ASCII letters say nothing about the share of vowels
)

// textProfile counts the characters of a text.
type textProfile struct{ letters, ascii, vowels, unmapped, visible int }

func profileText(text string) (p textProfile) {
	for _, r := range text {
		switch {
		case r < 0x80 && unicode.IsLetter(r):
			p.ascii++
			p.letters++
			switch r {
			case 'a', 'e', 'i', 'o', 'u', 'y', 'A', 'E', 'I', 'O', 'U', 'Y':
				p.vowels++
			}
		case r == unicode.ReplacementChar, unicode.Is(unicode.Co, r), r != '\t' && r != '\n' && r != '\r' && r != '\f' && unicode.IsControl(r),
			r >= 0x80 && !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cf):
			p.unmapped++
		case unicode.IsLetter(r), unicode.IsDigit(r):
			p.letters++
		}
		if !unicode.IsSpace(r) {
			p.visible++
		}
	}
	return p
}

// Letters returns the number of letters and digits in a text.
func Letters(text string) int { return profileText(text).letters }

// LegibleText reports whether a text that was extracted from a document consists of the
// characters that the page shows. It doesn't if the document's fonts don't say which characters
// their glyphs are. A text that is too short to tell counts as legible.
func LegibleText(text string) bool { return profileText(text).legible() }

func (p textProfile) legible() bool {
	if p.unmapped*100 > p.visible*maxUnmappedPercent {
		return false
	}
	if p.ascii < minVowelLetters || p.ascii*2 < p.letters-p.ascii { // mostly digits, or another script
		return true
	}
	return p.vowels*100 >= p.ascii*minVowelPercent && p.vowels*100 <= p.ascii*maxVowelPercent
}

// UsableText reports whether the text of a page is worth searching, so that the page doesn't need
// OCR. It is not if it is nearly empty or not legible. It judges only by the text, because the
// tags of a document say nothing about its quality.
func UsableText(text string) bool {
	p := profileText(text)
	return p.letters >= minUsableLetters && p.legible()
}
