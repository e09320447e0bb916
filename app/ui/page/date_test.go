package page

import "testing"

func TestFormatTypedDate(t *testing.T) {
	if got := FormatTypedDate("2019-04-07"); got != "4/7/2019" {
		t.Errorf("FormatTypedDate = %q, want 4/7/2019", got)
	}
	if got := FormatTypedDate("soon"); got != "soon" {
		t.Errorf("FormatTypedDate of other text = %q, want it unchanged", got)
	}
}
