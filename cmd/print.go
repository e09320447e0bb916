package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
	"deedkeep/app/control"
)

func (s *shell) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(s.out, format, args...)
	return err
}

// print prints v as JSON if --json is set, and a text otherwise.
func (s *shell) print(v any, format string, args ...any) error {
	if s.json {
		return s.printJSON(v)
	}
	return s.printf(format, args...)
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

// printReport prints the report of a verification. If it found damage, it returns errDamage.
func (s *shell) printReport(report any, ok bool, text string) error {
	if err := s.print(report, "%s", text); err != nil || ok {
		return err
	}
	return errDamage
}

// printList prints list as JSON if --json is set. Otherwise, it prints a table: headings
// are separated by tabs, and row returns the cells of an element. If list is empty, it prints
// ifEmpty, if that is a text, instead of the headings.
func printList[T any](s *shell, list []T, ifEmpty, headings string, row func(T) []any) error {
	rows := [][]string{strings.Split(headings, "\t")}
	for _, v := range list {
		var cells []string
		for _, cell := range row(v) {
			cells = append(cells, fmt.Sprint(cell))
		}
		rows = append(rows, cells)
	}
	if len(list) == 0 && ifEmpty != "" {
		return s.print(apitypes.List[T](nil), "%s\n", ifEmpty)
	}
	return s.print(list, "%s", table(rows))
}

// table formats rows in aligned columns.
func table(rows [][]string) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t")) // writing to memory can't fail
	}
	_ = w.Flush() // writing to memory can't fail
	return text.String()
}

// findingLines returns one line for each finding.
func findingLines(findings []apitypes.Finding) string {
	var text strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&text, "%s %s: %s\n", f.Kind, f.Subject, f.Problem)
	}
	return text.String()
}

// listCommand returns a command without arguments that prints the result of get with show.
func listCommand[T any](s *shell, use, short, example string, get func(*control.Client, context.Context) (T, error), show func(T) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		RunE: func(cmd *cobra.Command, _ []string) error { return query(s, cmd, get, show) },
	}
}

// query calls get with a client of the control API (see withClient) and prints the result
// with show.
func query[T any](s *shell, cmd *cobra.Command, get func(*control.Client, context.Context) (T, error), show func(T) error) error {
	return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
		result, err := get(c, ctx)
		if err != nil {
			return err
		}
		return show(result)
	})
}

// queryID is like query for a record whose ID is arg. If the ID is not valid, the error refers
// to listCommand, which lists the valid IDs.
func queryID[T any](s *shell, cmd *cobra.Command, arg, recordType, listCommand string,
	get func(*control.Client, context.Context, int64) (T, error), show func(T) error) error {
	id, err := parseID(arg, recordType, listCommand)
	if err != nil {
		return err
	}
	return query(s, cmd, func(c *control.Client, ctx context.Context) (T, error) {
		result, err := get(c, ctx, id)
		return result, explainNotFound(err, recordType, arg)
	}, show)
}

// formatTime formats a time in the office's time zone. It returns "never" for nil.
func (s *shell) formatTime(t *apitypes.Time) string {
	if t == nil {
		return "never"
	}
	return t.In(s.location()).Format("Jan 2, 2006, 3:04 PM MST")
}

// location returns the office's time zone or, if the settings aren't loaded yet, the local
// time zone of this machine.
func (s *shell) location() *time.Location { return cmp.Or(s.zone.Load(), time.Local) }

// explainNotFound replaces a 404 error with one that names the record.
func explainNotFound(err error, recordType, id string) error {
	if rejected, ok := errors.AsType[*client.Error](err); ok && rejected.Status == http.StatusNotFound {
		return fmt.Errorf("%s %s not found", recordType, id)
	}
	return err
}

// explainChoices converts an error about an invalid value of field to a usage error that
// also lists the valid values. It returns other errors unchanged.
func explainChoices(err error, field string, choices []string) error {
	rejected, ok := errors.AsType[*client.Error](err)
	if !ok || len(rejected.Errors.Of(field)) == 0 {
		return err
	}
	explained := *rejected
	explained.Message = fmt.Sprintf("%s (valid values: %s)", strings.TrimSuffix(rejected.Errors.Of(field)[0], "."), strings.Join(choices, ", "))
	return &usageError{&explained}
}
