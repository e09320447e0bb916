package cmd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"

	"deedkeep/app/apitypes"
)

const (
	maxPrinted = 20     // refusals for people; the report has them all
	maxListed  = 10_000 // refusals that --json lists
)

// rejectionReport notes what an import did not file: all of it in a CSV file, when one is
// wanted, and the first of it for people and for --json.
type rejectionReport struct {
	first []apitypes.ImportRejection
	count int
	path  string
	file  *os.File
	table *csv.Writer
}

// newRejectionReport begins the report at path, if it is not empty. A file that is there is
// written over: it is the report of an import before.
func newRejectionReport(path string) (*rejectionReport, error) {
	r := &rejectionReport{path: path}
	if path == "" {
		return r, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	r.file, r.table = file, csv.NewWriter(file)
	r.table.UseCRLF = true // RFC 4180; and a byte order mark, by which Excel knows UTF-8
	_, err = file.WriteString("\uFEFF")
	return r, errors.Join(err, r.table.Write([]string{"path", "what", "reason"}))
}

func (r *rejectionReport) add(one apitypes.ImportRejection) error {
	one.Path = strings.ToValidUTF8(one.Path, "\uFFFD")
	if r.count++; len(r.first) < maxListed {
		r.first = append(r.first, one)
	}
	if r.table == nil {
		return nil
	}
	if err := r.table.Write([]string{csvCell(one.Path), csvCell(one.What), csvCell(one.Reason)}); err != nil {
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

// print tells people of the first.
func (r *rejectionReport) print(s *shell) {
	for n, one := range r.first {
		if n == maxPrinted {
			break
		}
		s.messagef("%s: %s", quoteUnprintable(one.Path), one.Reason)
	}
	if left := r.count - maxPrinted; left > 0 && r.path == "" {
		s.messagef("and %d more; --report FILE lists them all", left)
	} else if left > 0 {
		s.messagef("and %d more in %s", left, r.path)
	}
}

// csvCell is a text for one cell of a spreadsheet.
func csvCell(text string) string {
	return apitypes.EscapeFormula(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}

// quoteUnprintable keeps the name of a file from writing on the terminal what it likes.
func quoteUnprintable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
