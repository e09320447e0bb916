package model

import (
	"strings"
	"time"
)

// Parts of File.Failure: the missing output and the reason. They are stored and shown to users,
// so the wording must not change.
const (
	FailureNoText    = "No text"
	FailureNoPreview = "No picture"

	// After these failures, a retry may succeed later or on a larger machine.
	FailureTooSlow       = "the document takes too long"
	FailureTooMuchMemory = "the document takes too much memory"
	FailureNotOpened     = "It could not be opened here; it can be tried again."
)

// Retryable reports whether processing failed for a reason that may not recur. Errors in the
// document itself are permanent.
func (f File) Retryable() bool {
	for _, reason := range []string{FailureTooSlow, FailureTooMuchMemory, FailureNotOpened} {
		if strings.Contains(f.Failure, reason) {
			return true
		}
	}
	return false
}

// MissingText reports whether processing failed to extract text that the document may have. The
// document isn't processed again until someone requests it.
func (f File) MissingText() bool {
	return strings.Contains(f.Failure, FailureNoText) || strings.Contains(f.Failure, FailureNotOpened)
}

// CannotPreview reports whether processing found that no preview can be created.
func (f File) CannotPreview() bool { return strings.Contains(f.Failure, FailureNoPreview) }

// ProcessingTask is a queued task to process one document.
type ProcessingTask struct {
	Seq      uint64    `json:"seq"`
	FileID   uint64    `json:"file_id"`
	Owner    string    `json:"owner,omitempty"` // the workers are shared fairly among owners
	Attempts int       `json:"attempts,omitempty"`
	DueAt    time.Time `json:"at"` // the earliest time at which to process it
}
