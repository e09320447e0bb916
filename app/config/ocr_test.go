package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestHours(t *testing.T) {
	for text, row := range map[string]struct {
		from, to time.Duration
		valid    bool
	}{
		"":              {0, 0, true},
		"18:00-06:00":   {18 * time.Hour, 6 * time.Hour, true},
		"9:05 - 17:30":  {9*time.Hour + 5*time.Minute, 17*time.Hour + 30*time.Minute, true},
		"00:00-23:59":   {0, 23*time.Hour + 59*time.Minute, true},
		"18:00":         {},
		"18:00-18:00":   {},
		"18-6":          {},
		"24:00-06:00":   {},
		"18:00-06:00-1": {},
		"night":         {},
	} {
		from, to, err := OCR{Hours: text}.Period()
		if (err == nil) != row.valid || from != row.from || to != row.to {
			t.Errorf("Period of %q = %v, %v, %v; want %v, %v, valid: %t", text, from, to, err, row.from, row.to, row.valid)
		}
	}
}

func TestLanguages(t *testing.T) {
	for _, row := range []struct {
		languages []string
		valid     bool
	}{
		{[]string{"eng"}, true}, {[]string{"eng", "spa"}, true}, {[]string{"chi_sim"}, true},
		{nil, false}, {[]string{"eng", "eng"}, false}, {[]string{"../eng"}, false}, {[]string{"e"}, false}, {[]string{""}, false},
		{[]string{"Latin"}, true}, {[]string{"eng2_best"}, true}, {[]string{"eng+spa"}, false}, {[]string{"eng.traineddata"}, false},
		{strings.Split("l1 l2 l3 l4 l5 l6 l7 l8 l9 l10 l11 l12 l13 l14 l15 l16", " "), true},
		{strings.Split("l1 l2 l3 l4 l5 l6 l7 l8 l9 l10 l11 l12 l13 l14 l15 l16 l17", " "), false},
	} {
		if err := CheckLanguages(row.languages); (err == nil) != row.valid {
			t.Errorf("CheckLanguages(%q) = %v, want valid: %t", row.languages, err, row.valid)
		}
	}
}

func TestLanguageDir(t *testing.T) {
	if got, want := (Config{Data: "d"}).LanguageDir(), filepath.Join("d", "languages"); got != want {
		t.Errorf("LanguageDir = %q, want %q", got, want)
	}
	if got := (Config{Data: "d", OCR: OCR{Dir: "x"}}).LanguageDir(); got != "x" {
		t.Errorf("LanguageDir = %q, want x", got)
	}
}
