package config

import (
	"errors"
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

func checkHours(o OCR) error {
	_, _, err := o.Period()
	return err
}

// MaxLanguages is the maximum number of languages. Each takes memory and time on every page.
const MaxLanguages = 16

// languageName matches the names of Tesseract's language files, such as eng, chi_sim, and deu_latf. A name is part of a
// path, and Tesseract separates names with +.
var languageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{1,31}$`)

// CheckLanguages returns an error if a list of languages for OCR is empty, too long, or has invalid or repeated names.
func CheckLanguages(languages []string) error {
	if len(languages) == 0 {
		return errors.New("must list at least one language")
	}
	if len(languages) > MaxLanguages {
		return fmt.Errorf("must list at most %d languages, not %d", MaxLanguages, len(languages))
	}
	for i, name := range languages {
		switch {
		case !languageName.MatchString(name):
			return fmt.Errorf("%q is not a valid language; use a code such as eng or spa", name)
		case slices.Contains(languages[:i], name):
			return fmt.Errorf("lists %q twice", name)
		}
	}
	return nil
}

// errorText returns the text of err, or "" if it is nil.
func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}
