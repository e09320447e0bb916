package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"text/tabwriter"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

func (s *shell) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(s.out, format, args...)
	return err
}

// printJSON prints v as an indented JSON document.
func (s *shell) printJSON(v any) error {
	raw, err := apitypes.Marshal(v)
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, indented.String())
	return err
}

// printTable prints rows in aligned columns. The first row contains the headings.
func (s *shell) printTable(rows [][]string) error {
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(table, "\t") //nolint:errcheck // Flush returns the error
			}
			fmt.Fprint(table, cell) //nolint:errcheck // Flush returns the error
		}
		fmt.Fprintln(table) //nolint:errcheck // Flush returns the error
	}
	return table.Flush()
}

// formatTime formats a time in the office's time zone. It returns "never" for nil.
func (s *shell) formatTime(t *apitypes.Time) string {
	if t == nil {
		return "never"
	}
	return t.In(s.location()).Format("2006-01-02 15:04 MST")
}

// location returns the office's time zone or, if the settings aren't loaded yet, the local
// time zone of this machine.
func (s *shell) location() *time.Location { return cmp.Or(s.zone.Load(), time.Local) }

// explainNotFound replaces a 404 error with one that names the record.
func explainNotFound(err error, recordType, id string) error {
	var rejected *client.Error
	if errors.As(err, &rejected) && rejected.Status == http.StatusNotFound {
		return fmt.Errorf("there is no %s %s", recordType, id)
	}
	return err
}
