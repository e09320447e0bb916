package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
)

func (s *shell) eventsExport() *cobra.Command {
	var (
		from         int64
		format, file string
	)
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Export the audit log",
		Long: `Export the audit log. Entries are written oldest first, as JSON lines with the field
names of the API, or as CSV for spreadsheets. In CSV, a cell that a spreadsheet would
run as a formula starts with an apostrophe. Store exports on another machine: "deedkeep
events verify --export" compares the log with them. An unreadable entry is skipped and
reported.

Exit code 3: some entries could not be read.`,
		Example: `  deedkeep events export -o events-2026-05.jsonl
  deedkeep events export --from 1201 --format csv -o events.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from < 1 {
				return &usageError{errors.New("--from must be 1 or greater")}
			}
			if format != "jsonl" && format != "csv" {
				return &usageError{fmt.Errorf("--format must be jsonl or csv, not %q", format)}
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				return s.withOutput(file, func(out io.Writer) error { return s.exportEvents(ctx, c, from, newEventWriter(format, out)) })
			})
		},
	}
	cmd.Flags().Int64Var(&from, "from", 1, "number of the first entry")
	cmd.Flags().StringVar(&format, "format", "jsonl", "output format: jsonl or csv")
	cmd.Flags().StringVarP(&file, "output", "o", "", "new output file (default: standard output)")
	return cmd
}

func (s *shell) exportEvents(ctx context.Context, c *control.Client, from int64, out eventWriter) error {
	damaged := false
	err := c.ExportEvents(ctx, from, out.write, func(f apitypes.Finding) error {
		damaged = true
		s.messagef("entry %s skipped: %s", f.Subject, f.Problem)
		return nil
	})
	if err == nil {
		err = out.flush()
	}
	if err != nil {
		return err
	}
	if damaged {
		return errDamage
	}
	return nil
}

// withOutput runs fn with a new file that only the current user can read, or with standard
// output if path is empty. If fn fails, the file is removed.
func (s *shell) withOutput(path string, fn func(io.Writer) error) error {
	if path == "" {
		return fn(s.out)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s already exists; choose another file name to keep the earlier export", path)
	}
	if err != nil {
		return err
	}
	err = fn(file)
	if err == nil || errors.Is(err, errDamage) {
		return errors.Join(err, file.Sync(), file.Close())
	}
	return errors.Join(err, file.Close(), os.Remove(path))
}

// eventWriter writes audit log entries in one of the export formats.
type eventWriter struct {
	write func(apitypes.Event) error
	flush func() error
}

func newEventWriter(format string, out io.Writer) eventWriter {
	if format == "csv" {
		table := apitypes.NewEventTable(out)
		return eventWriter{func(e apitypes.Event) error { return table.Write(e) }, table.Flush}
	}
	buffer := bufio.NewWriter(out)
	return eventWriter{func(e apitypes.Event) error {
		line, err := apitypes.Marshal(e)
		if err != nil {
			return err
		}
		_, err = buffer.Write(append(line, '\n'))
		return err
	}, buffer.Flush}
}
