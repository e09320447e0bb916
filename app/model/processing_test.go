package model_test

import (
	"testing"

	"deedkeep/app/model"
)

func TestFailureReasons(t *testing.T) {
	for failure, want := range map[string]struct{ retryable, noPreview, noText bool }{
		"": {},
		"No picture: the document is beyond the limits.":                                    {noPreview: true},
		"No text: the document is damaged.":                                                 {noText: true},
		"No text: the document takes too long.":                                             {retryable: true, noText: true},
		"No text: the document is damaged. No picture: the document takes too much memory.": {retryable: true, noPreview: true, noText: true},
		"It could not be opened here; it can be tried again.":                               {retryable: true, noText: true},
	} {
		f := model.File{Failure: failure}
		if f.Retryable() != want.retryable || f.CannotPreview() != want.noPreview || f.MissingText() != want.noText {
			t.Errorf("%q: Retryable %v, CannotPreview %v, MissingText %v; want %+v", failure, f.Retryable(), f.CannotPreview(),
				f.MissingText(), want)
		}
	}
}
