package model_test

import (
	"testing"

	"deedkeep/app/model"
)

func TestFailureReasons(t *testing.T) {
	for failure, want := range map[string]struct{ may, pictureless, textless bool }{
		"": {},
		"No picture: the document is beyond the limits.":                                    {pictureless: true},
		"No text: the document is damaged.":                                                 {textless: true},
		"No text: the document takes too long.":                                             {may: true, textless: true},
		"No text: the document is damaged. No picture: the document takes too much memory.": {may: true, pictureless: true, textless: true},
		"It could not be opened here; it can be tried again.":                               {may: true, textless: true},
	} {
		f := model.File{Failure: failure}
		if f.Retryable() != want.may || f.CannotPreview() != want.pictureless || f.MissingText() != want.textless {
			t.Errorf("%q: Retryable %v, CannotPreview %v, MissingText %v, want others", failure, f.Retryable(), f.CannotPreview(), f.MissingText())
		}
	}
}
