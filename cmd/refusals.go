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
	mostTold   = 20     // refusals for people; the report has them all
	mostListed = 10_000 // refusals that --json lists
)

// refusals notes what an import did not file: all of it in a CSV file, when one is
// wanted, and the first of it for people and for --json.
type refusals struct {
	first []apitypes.ImportRejection
	count int
	path  string
	file  *os.File
	table *csv.Writer
}

// newRefusals begins the report at path, if it is not empty. A file that is there is
// written over: it is the report of an import before.
func newRefusals(path string) (*refusals, error) {
	r := &refusals{path: path}
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

func (r *refusals) add(one apitypes.ImportRejection) error {
	one.Path = strings.ToValidUTF8(one.Path, "\uFFFD")
	if r.count++; len(r.first) < mostListed {
		r.first = append(r.first, one)
	}
	if r.table == nil {
		return nil
	}
	if err := r.table.Write([]string{cell(one.Path), cell(one.What), cell(one.Reason)}); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

func (r *refusals) close() error {
	if r.file == nil {
		return nil
	}
	r.table.Flush()
	if err := errors.Join(r.table.Error(), r.file.Close()); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// warn tells people of the first.
func (r *refusals) warn(s *shell) {
	for n, one := range r.first {
		if n == mostTold {
			break
		}
		s.say("%s: %s", printable(one.Path), one.Reason)
	}
	if left := r.count - mostTold; left > 0 && r.path == "" {
		s.say("and %d more; --report FILE lists them all", left)
	} else if left > 0 {
		s.say("and %d more in %s", left, r.path)
	}
}

// cell is a text for one cell of a spreadsheet.
func cell(text string) string {
	return apitypes.EscapeFormula(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}

// printable keeps the name of a file from writing on the terminal what it likes.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
