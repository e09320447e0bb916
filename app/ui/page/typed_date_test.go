package page

import (
	"testing"
	"time"
)

func TestParseTypedDate(t *testing.T) {
	latest := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for _, row := range []struct{ typed, want string }{
		{"4/17/2019", "2019-04-17"}, {"04/17/2019", "2019-04-17"}, {" 4-17-2019 ", "2019-04-17"}, {"4.17.2019", "2019-04-17"},
		{"04172019", "2019-04-17"}, {"041719", "2019-04-17"}, {"4/17/19", "2019-04-17"}, {"2019-04-17", "2019-04-17"},
		{"20190417", "2019-04-17"}, {"Apr 17, 2019", "2019-04-17"}, {"060298", "1998-06-02"},
		{"112226", "2026-11-22"}, {"112326", "1926-11-23"}, {"022900", "2000-02-29"},
		{"2/30/2019", "2/30/2019"}, {"13/1/2019", "13/1/2019"}, {"0417", "0417"}, {"soon", "soon"}, {"", ""},
	} {
		if got := ParseTypedDate(row.typed, latest); got != row.want {
			t.Errorf("ParseTypedDate(%q) = %q, want %q", row.typed, got, row.want)
		}
	}
	if got := ParseTypedDate("6/1/31", latest.AddDate(60, 0, 0)); got != "2031-06-01" {
		t.Errorf("ParseTypedDate of an expiration = %q, want 2031-06-01", got)
	}
	if got := FormatTypedDate("2019-04-07"); got != "4/7/2019" {
		t.Errorf("FormatTypedDate = %q, want 4/7/2019", got)
	}
	if got := FormatTypedDate("soon"); got != "soon" {
		t.Errorf("FormatTypedDate of other text = %q, want it unchanged", got)
	}
}
