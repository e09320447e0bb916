package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

// builtIn is the language whose file is part of the binary.
const builtIn = "eng"

// checkLanguages checks the language files for OCR: those of the configured languages, and any other
// in their directory. A worker process loads them, as in the server.
func checkLanguages(ctx context.Context, opts Options) apitypes.Diagnosis {
	c := opts.Config
	if !c.OCR.Enabled {
		return ok(languagesCheck, "not checked because OCR is off")
	}
	present, err := languageFiles(c.LanguageDir())
	if err != nil {
		return warn(languagesCheck, err.Error(), "check that the server can read the directory of language files (ocr.dir)")
	}
	bad, err := badLanguages(ctx, opts, languagesToCheck(c.OCR.Languages, present))
	if err != nil {
		return warn(languagesCheck, "the language files can't be checked: "+err.Error(), "fix the other findings, then run doctor again")
	}
	return diagnoseLanguages(c, present, bad)
}

const languagesCheck = "languages"

// MissingLanguages returns the configured languages that have no file, and all languages that OCR can
// use.
func MissingLanguages(c config.Config) (missing, installed []string, err error) {
	present, err := languageFiles(c.LanguageDir())
	installed = append([]string{builtIn}, slices.DeleteFunc(present, func(name string) bool { return name == builtIn })...)
	for _, name := range c.OCR.Languages {
		if !slices.Contains(installed, name) {
			missing = append(missing, name)
		}
	}
	return missing, installed, err
}

// languagesToCheck returns the configured languages and those that have a file, as many as a worker
// process loads.
func languagesToCheck(configured, present []string) []string {
	list := slices.Clone(configured)
	for _, name := range present {
		if config.CheckLanguages([]string{name}) == nil && !slices.Contains(list, name) && len(list) < config.MaxLanguages {
			list = append(list, name)
		}
	}
	return list
}

// diagnoseLanguages describes the language files that OCR can't use. present are the languages that
// have a file, and bad are those that a worker process can't read.
func diagnoseLanguages(c config.Config, present []string, bad []sandbox.BadLanguage) apitypes.Diagnosis {
	var unusable []string
	for _, name := range present {
		if config.CheckLanguages([]string{name}) != nil {
			unusable = append(unusable, sandbox.LanguageFile(name)+" (the name must be a language, such as spa)")
		}
	}
	for _, b := range bad {
		reason := b.Reason
		if !slices.Contains(present, b.Name) {
			reason = "missing, but " + b.Name + " is in ocr.languages"
		}
		unusable = append(unusable, fmt.Sprintf("%s (%s)", sandbox.LanguageFile(b.Name), reason))
	}
	if len(unusable) > 0 {
		return warn(languagesCheck, "OCR can't use "+strings.Join(unusable, ", "), fmt.Sprintf("copy the files from Tesseract's tessdata_fast "+
			"or tessdata_best to %s, or delete them and remove the languages from ocr.languages; then restart the server", c.LanguageDir()))
	}
	return ok(languagesCheck, "OCR reads "+strings.Join(c.OCR.Languages, ", "))
}

// languageFiles returns the languages that have a file in a directory, or none if there is no directory.
func languageFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if name, found := strings.CutSuffix(e.Name(), filepath.Ext(sandbox.LanguageFile(builtIn))); found {
			names = append(names, name)
		}
	}
	return names, nil
}

// badLanguages returns the languages that a worker process can't read.
func badLanguages(ctx context.Context, opts Options, list []string) ([]sandbox.BadLanguage, error) {
	if !slices.ContainsFunc(list, func(name string) bool { return name != builtIn }) {
		return nil, nil
	}
	c := opts.Config
	cache, _ := engineCacheDir(c)
	pool := sandbox.Open(sandbox.Options{
		CacheDir: cache, Workers: 1, MemoryLimit: int64(c.Reader.Memory), Deadlines: sandbox.Deadlines{OCR: c.OCR.PageTimeout},
		OCR: sandbox.OCR{Languages: list, Dir: c.LanguageDir()}, Log: opts.Log,
	})
	r := sandbox.Request{Doc: strings.NewReader(onePagePDF), Size: int64(len(onePagePDF)), MIME: "application/pdf", Ext: "pdf"}
	_, err := pool.ReadPage(ctx, r, 1, document.ExtractLimits{})
	bad, _ := pool.BadLanguages()
	return bad, errors.Join(err, pool.Close())
}
