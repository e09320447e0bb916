package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deedkeep/app/config"
	"deedkeep/app/sandbox"
)

func TestLanguages(t *testing.T) {
	c := config.Default()
	c.Data = t.TempDir()
	if names, err := languageFiles(c.LanguageDir()); err != nil || len(names) != 0 {
		t.Errorf("languageFiles of no directory = %q, %v; want none", names, err)
	}
	if err := os.Mkdir(c.LanguageDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fra.traineddata", "spa.traineddata", "my file.traineddata", "README.txt"} {
		if err := os.WriteFile(filepath.Join(c.LanguageDir(), filepath.Base(name)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	present, err := languageFiles(c.LanguageDir())
	if want := []string{"fra", "my file", "spa"}; err != nil || !slices.Equal(present, want) {
		t.Errorf("languageFiles = %q, %v; want %q", present, err, want)
	}
	c.OCR.Languages = []string{"eng", "deu"}
	if got, want := languagesToCheck(c.OCR.Languages, present), []string{"eng", "deu", "fra", "spa"}; !slices.Equal(got, want) {
		t.Errorf("languagesToCheck = %q, want %q", got, want)
	}
	check(t, "usable", diagnoseLanguages(c, []string{"deu", "fra"}, nil), OK, "OCR reads eng, deu")
	check(t, "missing", diagnoseLanguages(c, nil, []sandbox.BadLanguage{{Name: "deu", Reason: "no such file"}}), Warn,
		"deu.traineddata (missing, but deu is in ocr.languages)")
	check(t, "damaged, not configured", diagnoseLanguages(c, []string{"fra"}, []sandbox.BadLanguage{{Name: "fra", Reason: "no model"}}), Warn,
		"fra.traineddata (no model)")
	check(t, "bad name", diagnoseLanguages(c, []string{"my file"}, nil), Warn, "my file.traineddata (the name must be a language")
	c.OCR.Enabled = false
	check(t, "OCR is off", checkLanguages(t.Context(), Options{Config: c}), OK, "OCR is off")
}
