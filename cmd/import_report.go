package cmd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"deedkeep/app/apitypes"
)

const (
	maxPrinted = 20     // maximum number of rejections printed as messages; the CSV file contains all of them
	maxListed  = 10_000 // maximum number of rejections in the output of --json
)

// rejectionReport collects the files that an import rejected. A CSV file, if requested,
// contains all of them. The first ones are also kept in memory.
type rejectionReport struct {
	first []apitypes.ImportRejection
	count int
	path  string
	file  *os.File
	table *csv.Writer
}

// newRejectionReport returns a report for a CSV file at path, or for no file if path is empty.
func newRejectionReport(path string) *rejectionReport {
	return &rejectionReport{path: path, table: csv.NewWriter(io.Discard)}
}

// open creates the CSV file and overwrites the report of an earlier import. It is called when
// the import begins, so that a command that can't begin leaves no file and changes none.
func (r *rejectionReport) open() error {
	if r.path == "" {
		return nil
	}
	file, err := createOutput(r.path)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	r.file, r.table = file, csv.NewWriter(file)
	r.table.UseCRLF = true // RFC 4180; Excel needs the byte order mark to detect UTF-8
	_, err = file.WriteString("\uFEFF")
	return errors.Join(err, r.table.Write([]string{"path", "kind", "reason"}))
}

func (r *rejectionReport) add(rejection apitypes.ImportRejection) error {
	rejection.Path = strings.ToValidUTF8(rejection.Path, "\uFFFD")
	if r.count++; len(r.first) < maxListed {
		r.first = append(r.first, rejection)
	}
	var cells []string
	for _, text := range []string{rejection.Path, rejection.Kind, rejection.Reason} {
		cells = append(cells, apitypes.EscapeFormula(oneLine(text)))
	}
	if err := r.table.Write(cells); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

func (r *rejectionReport) close() error {
	if r.file == nil {
		return nil
	}
	r.table.Flush()
	if err := errors.Join(r.table.Error(), r.file.Close()); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// print prints the first rejections as messages.
func (r *rejectionReport) print(s *shell) {
	for _, rejection := range r.first[:min(maxPrinted, len(r.first))] {
		s.messagef("%s: %s", quoteUnprintable(rejection.Path), rejection.Reason)
	}
	if more := r.count - maxPrinted; more > 0 && r.path == "" {
		s.messagef("and %d more (use --report FILE to list all)", more)
	} else if more > 0 {
		s.messagef("and %d more in %s", more, r.path)
	}
}

// quoteUnprintable quotes a file name if it contains control characters, so that the name
// can't control the terminal.
func quoteUnprintable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
