package cmd

import (
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

// printJSON writes one document, for scripts.
func (s *shell) printJSON(v any) error {
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printTable writes rows for people, the first being the heads of the columns.
func (s *shell) printTable(rows [][]string) error {
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(table, "\t") //nolint:errcheck // Flush tells
			}
			fmt.Fprint(table, cell) //nolint:errcheck // Flush tells
		}
		fmt.Fprintln(table) //nolint:errcheck // Flush tells
	}
	return table.Flush()
}

// formatTime is a time for people, in the office's time zone.
func (s *shell) formatTime(t *apitypes.Time) string {
	if t == nil {
		return "never"
	}
	return t.In(s.location()).Format("2006-01-02 15:04 MST")
}

// location is the office's time zone: the setting, once it was read, or that of this machine.
func (s *shell) location() *time.Location { return cmp.Or(s.zone.Load(), time.Local) }

// explainNotFound names what was not found: the door only says that it was not.
func explainNotFound(err error, noun, which string) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return fmt.Errorf("there is no %s %s", noun, which)
	}
	return err
}
