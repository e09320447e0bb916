package origin_test

import (
	"testing"

	"deedkeep/app/model/origin"
)

func TestText(t *testing.T) {
	got := origin.Text([]origin.Part{{Filename: "2019 packet.pdf", Pages: "3-7"},
		{Filename: "Deed.tif", Pages: "2"}, {Filename: "a.pdf", Pages: "1,3-5"}})
	if want := "pages 3–7 of 2019 packet.pdf, page 2 of Deed.tif, pages 1, 3–5 of a.pdf"; got != want {
		t.Errorf("Text() = %q, want %q", got, want)
	}
}
