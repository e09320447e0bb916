package model

import "strings"

// What becomes of a document's processing, as parts of File.Failure: what is missing,
// and why.
const (
	NoText    = "No text"
	NoPicture = "No picture"

	// Trying again may mend these: another hour, or a larger machine.
	TooSlow = "the document takes too long"
	TooBig  = "the document takes too much memory"
	Unread  = "It could not be opened here; it can be tried again."
)

// MayPass reports that the processing failed, and that trying again may mend that.
// What a document itself is wrong with stays so for good.
func (f File) MayPass() bool {
	for _, why := range []string{TooSlow, TooBig, Unread} {
		if strings.Contains(f.Failure, why) {
			return true
		}
	}
	return false
}

// Textless reports that the processing ended without the text that the document may
// have: until somebody has it processed again, nobody tries.
func (f File) Textless() bool {
	return strings.Contains(f.Failure, NoText) || strings.Contains(f.Failure, Unread)
}

// Pictureless reports that the processing found that no picture can be made.
func (f File) Pictureless() bool { return strings.Contains(f.Failure, NoPicture) }
