package office

import "testing"

func TestDates(t *testing.T) {
	for _, c := range []struct {
		v    float64
		mac  bool
		want string
	}{
		{1, false, "1900-01-01"}, {59, false, "1900-02-28"}, {61, false, "1900-03-01"}, {43572, false, "2019-04-17"},
		{43572.25, false, "2019-04-17 06:00"}, {0.5, false, "12:00"}, {42110, true, "2019-04-17"}, {0, true, "1904-01-01"},
		{2958465, false, "9999-12-31"}, {2958466, false, ""}, {-1, false, ""},
	} {
		if got := formatDate(c.v, c.mac); got != c.want {
			t.Errorf("formatDate(%v, %v) = %q, want %q", c.v, c.mac, got, c.want)
		}
	}
	for code, want := range map[string]bool{
		"yyyy-mm-dd": true, "[h]:mm": true, "[$-409]d-mmm": true, `0.00" days"`: false, "General": false, "#,##0": false,
		`"d"0`: false, `\d0`: false, "[Red]0;d": false, "0_d": false, "[": false, `"`: false,
	} {
		if got := isDateFormat(code); got != want {
			t.Errorf("isDateFormat(%s) = %v, want %v", code, got, want)
		}
	}
}
