package title_test

import (
	"testing"

	"deedkeep/app/title"
)

func TestMayPass(t *testing.T) {
	for failure, want := range map[string]struct{ may, pictureless bool }{
		"": {},
		"No picture: the document is beyond the limits.":                                    {pictureless: true},
		"No text: the document is damaged.":                                                 {},
		"No text: the document takes too long.":                                             {may: true},
		"No text: the document is damaged. No picture: the document takes too much memory.": {may: true, pictureless: true},
		"It could not be opened here; it can be tried again.":                               {may: true},
	} {
		f := title.File{Failure: failure}
		if f.MayPass() != want.may || f.Pictureless() != want.pictureless {
			t.Errorf("%q: may pass %v, pictureless %v", failure, f.MayPass(), f.Pictureless())
		}
	}
}
