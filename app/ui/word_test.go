package ui

import "testing"

func TestHumane(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"active": "Active", "on_hold": "On hold", "Needs Curative": "Needs Curative", "eClosed": "eClosed", "waiting on client": "waiting on client", "": "", "été": "été",
	} {
		if got := humane(status); got != want {
			t.Errorf("humane(%q) = %q, want %q", status, got, want)
		}
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, address, place string
		want                 bool
	}{
		{"itself", "/admin/users", "/admin/users", true},
		{"something in it", "/admin/users/3", "/admin/users", true},
		{"another that begins so", "/admin/users2", "/admin/users", false},
		{"what it is in", "/admin", "/admin/users", false},
		{"everything is under the root", "/me", "/", true},
	} {
		if got := under(c.address, c.place); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// One table gives the colour of every status, of orders and abstracts.
func TestTone(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"active": "neutral", "on_hold": "warn", "On Hold": "warn", "completed": "good", "Complete": "good", "Delivered": "good", "cancelled": "", "Cancelled (by client)": "",
		"void": "", "Withdrawn": "", "In Search": "neutral", "Needs Curative": "warn", "Problem": "warn", "Sold": "neutral", "": "neutral",
	} {
		if got := tone(status); got != want {
			t.Errorf("tone(%q) = %q, want %q", status, got, want)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mill s":           "Also shown: what has no word “s”. Type on to narrow it.",
		"tax-é":            "Also shown: what has no word “é”. Type on to narrow it.",
		`"right of wa`:     "Also shown: what has the words, but not one behind the other.",
		"Bk 1022 Pg 311":   "Also shown: what has the number without the word before it.",
		"bk 2":             "Also shown: what has the number without the word before it.",
		"book 7 page 3 ":   "Also shown: what has the number without the word before it.",
		`"right of way" s`: "Also shown: what has no word “s”. Type on to narrow it.",
	} {
		if got := without(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
