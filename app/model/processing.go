package model

import "strings"

// What becomes of a document's processing, as parts of File.Failure: what is missing,
// and why.
const (
	FailureNoText    = "No text"
	FailureNoPreview = "No picture"

	// Trying again may mend these: another hour, or a larger machine.
	FailureTooSlow       = "the document takes too long"
	FailureTooMuchMemory = "the document takes too much memory"
	FailureNotOpened     = "It could not be opened here; it can be tried again."
)

// Retryable reports that the processing failed, and that trying again may mend that.
// What a document itself is wrong with stays so for good.
func (f File) Retryable() bool {
	for _, why := range []string{FailureTooSlow, FailureTooMuchMemory, FailureNotOpened} {
		if strings.Contains(f.Failure, why) {
			return true
		}
	}
	return false
}

// MissingText reports that the processing ended without the text that the document may
// have: until somebody has it processed again, nobody tries.
func (f File) MissingText() bool {
	return strings.Contains(f.Failure, FailureNoText) || strings.Contains(f.Failure, FailureNotOpened)
}

// CannotPreview reports that the processing found that no picture can be made.
func (f File) CannotPreview() bool { return strings.Contains(f.Failure, FailureNoPreview) }
