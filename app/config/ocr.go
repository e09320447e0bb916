package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// LanguageDir returns the directory of the language files for OCR: OCR.Dir if it is set, otherwise `languages`
// in the data directory.
func (c Config) LanguageDir() string {
	if c.OCR.Dir != "" {
		return c.OCR.Dir
	}
	return filepath.Join(c.Data, "languages")
}

// Period parses Hours. It returns the start and the end as durations after midnight. They are equal if Hours is "".
func (o OCR) Period() (from, to time.Duration, err error) {
	if o.Hours == "" {
		return 0, 0, nil
	}
	start, end, _ := strings.Cut(o.Hours, "-")
	first, errFirst := parseClock(start)
	last, errLast := parseClock(end)
	if errFirst != nil || errLast != nil || first == last {
		return 0, 0, fmt.Errorf("%q is not a valid period; use a value such as 18:00-06:00, or \"\" for always", o.Hours)
	}
	return first, last, nil
}

func parseClock(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", strings.TrimSpace(text))
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, err
}

func checkHours(o OCR) string {
	if _, _, err := o.Period(); err != nil {
		return err.Error()
	}
	return ""
}

// languageCode matches the names of Tesseract's language files, such as eng, chi_sim, and deu_latf.
var languageCode = regexp.MustCompile(`^[a-zA-Z]{3,8}(_[a-zA-Z]{2,8})*$`)

func checkLanguages(languages []string) string {
	if len(languages) == 0 {
		return "must list at least one language"
	}
	for i, code := range languages {
		switch {
		case !languageCode.MatchString(code):
			return fmt.Sprintf("%q is not a valid language; use a code such as eng or spa", code)
		case slices.Contains(languages[:i], code):
			return fmt.Sprintf("lists %q twice", code)
		}
	}
	return ""
}
