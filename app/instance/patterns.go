package instance

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"deedkeep/app/extract"
	"deedkeep/app/strictyaml"
)

// ReadPatterns returns the extraction rules with the patterns in a data directory, if there are any.
// If there are problems, it returns the built-in rules.
func ReadPatterns(dir string) (*extract.Rules, []extract.Problem) {
	rules := extract.DefaultRules()
	file, err := os.Open(filepath.Join(dir, extract.PatternsFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return rules, nil
	}
	if err != nil {
		return rules, []extract.Problem{{Reason: err.Error()}}
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := strictyaml.Read(file)
	if err != nil {
		return rules, []extract.Problem{{Reason: err.Error()}}
	}
	return rules.WithPatterns(text)
}

// extractRules is like ReadPatterns, but it logs the problems.
func extractRules(dir string, log *slog.Logger) *extract.Rules {
	rules, problems := ReadPatterns(dir)
	for _, problem := range problems {
		log.Error("county patterns not used because the file is not valid", "file", filepath.Join(dir, extract.PatternsFileName),
			"line", problem.Line, "error", problem.Reason)
	}
	return rules
}
