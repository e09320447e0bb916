package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

func (s *shell) eventsCommand() *cobra.Command {
	return commandGroup("events", "List, export, and verify the audit log", "  deedkeep events list\n  deedkeep events verify",
		s.eventsList(), s.eventsExport(), s.eventsVerify())
}

func (s *shell) eventsList() *cobra.Command {
	var filter control.EventFilter
	var from, to string
	var follow bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List audit log entries, newest first",
		Long: `List audit log entries, newest first.

With --follow, the command prints the newest entries in sequence and then new ones as the
server writes them, until you press Ctrl-C. With --json, each entry is one line.`,
		Example: `  deedkeep events list --limit 200
  deedkeep events list --follow --kind session.refused
  deedkeep events list --actor key:3 --from 2026-05-01
  deedkeep events list --record file:17 --kind file.opened --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Dates are in the office's time zone, which is known once a client is connected.
			period := func() (err error) {
				if filter.From, err = parseTimeBound("--from", from, 0, s.location()); err != nil {
					return err
				}
				filter.To, err = parseTimeBound("--to", to, 1, s.location())
				return err
			}
			if err := period(); err != nil { // a usage error, whether or not there is a vault
				return err
			}
			if follow {
				return s.followEvents(cmd.Context(), &filter, period)
			}
			return query(s, cmd, func(c *control.Client, ctx context.Context) ([]apitypes.Event, error) {
				if err := period(); err != nil {
					return nil, err
				}
				events, err := c.Events(ctx, filter)
				return events, asUsageError(err)
			}, s.printEvents)
		},
	}
	cmd.Flags().StringVar(&filter.Actor, "actor", "", "actor: key:3, user:2, operator, link, or system")
	cmd.Flags().StringVar(&filter.Kind, "kind", "", "event type, such as abstract.created or file.opened")
	cmd.Flags().StringVar(&filter.Record, "record", "", "record, such as file:17 or order:Zz9aB31x")
	cmd.Flags().StringVar(&from, "from", "", "earliest date or time, such as 2026-05-29 or 2026-05-29T14:00:00Z")
	cmd.Flags().StringVar(&to, "to", "", "latest date or time")
	cmd.Flags().IntVar(&filter.Limit, "limit", 50, "maximum number of entries, up to 10000")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new entries until Ctrl-C; requires a running server")
	cmd.MarkFlagsMutuallyExclusive("follow", "to")
	return cmd
}

const (
	followInterval = time.Second
	followBatch    = 1000 // max entries of a request
)

// followEvents prints the newest entries that match filter, in sequence, and then new ones until ctx is canceled.
// It needs a server, because a command that opens the vault itself would keep others from opening it.
func (s *shell) followEvents(ctx context.Context, filter *control.EventFilter, period func() error) error {
	c, err := s.load(ctx, nil)
	if err != nil {
		return err
	}
	err = s.callServer(ctx, c, func(ctx context.Context, c *control.Client) error {
		if err := period(); err != nil {
			return err
		}
		newest, err := c.Events(ctx, control.EventFilter{Limit: 1})
		if err != nil {
			return err
		}
		last := new(int64)
		if len(newest) > 0 {
			*last = newest[0].Seq
		}
		events, err := c.Events(ctx, *filter)
		if err != nil {
			return asUsageError(err)
		}
		slices.Reverse(events)
		events = slices.DeleteFunc(events, func(e apitypes.Event) bool { return e.Seq > *last })
		for tick := time.Tick(followInterval); ; {
			if err := s.printFollowed(events, *filter); err != nil {
				return err
			}
			if len(events) < followBatch {
				select {
				case <-tick:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			// The server reads all new entries. With a filter, it would read those again that don't match.
			if events, err = c.Events(ctx, control.EventFilter{After: last, Limit: followBatch}); err != nil {
				return err
			}
			if n := len(events); n > 0 {
				*last = events[n-1].Seq
			}
		}
	})
	if errors.Is(err, control.ErrNoServer) {
		return errs.NotNow(errs.Stopping, "no server is running in "+c.Data+"; --follow requires one", err)
	}
	return err
}

// printFollowed prints the entries that match filter, one line each.
func (s *shell) printFollowed(events []apitypes.Event, filter control.EventFilter) error {
	for _, e := range events {
		actor := e.Actor.Kind
		if e.Actor.ID != nil {
			actor += fmt.Sprintf(":%d", *e.Actor.ID)
		}
		record := ""
		if e.Record != nil {
			record = *e.Record
		}
		matches := func(want, got string) bool { return want == "" || want == got }
		if !matches(filter.Actor, actor) || !matches(filter.Kind, e.Kind) || !matches(filter.Record, record) {
			continue
		}
		if s.json {
			line, err := apitypes.Marshal(e)
			if err != nil {
				return err
			}
			if err := s.printf("%s\n", line); err != nil {
				return err
			}
			continue
		}
		cells := make([]string, 0, 7)
		for _, cell := range s.eventCells(e) {
			cells = append(cells, fmt.Sprint(cell))
		}
		if err := s.printf("%s\n", strings.Join(cells, "  ")); err != nil {
			return err
		}
	}
	return nil
}

// parseTimeBound parses a date or an RFC 3339 time. For a date, it returns midnight in zone
// if days is 0. Otherwise, it returns the last microsecond of the given number of days,
// starting with that date.
func parseTimeBound(flag, text string, days int, zone *time.Location) (*apitypes.Time, error) {
	if text == "" {
		return nil, nil
	}
	if day, err := time.ParseInLocation(apitypes.DateLayout, text, zone); err == nil {
		return new(apitypes.At(day.AddDate(0, 0, days).Add(-time.Duration(days) * time.Microsecond))), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%s: %q is not a valid date or time; use 2026-05-29 or 2026-05-29T14:00:00Z", flag, text)}
	}
	return new(apitypes.At(at)), nil
}

func (s *shell) printEvents(events []apitypes.Event) error {
	return printList(s, events, "no matching entries", "ENTRY\tTIME\tACTOR\tADDRESS\tEVENT\tRECORD\tDETAILS", s.eventCells)
}

func (s *shell) eventCells(e apitypes.Event) []any {
	return []any{e.Seq, e.At.In(s.location()).Format("Jan 2, 2006, 3:04:05 PM MST"), actorText(e.Actor), orDash(e.Actor.Address), e.Kind,
		orDash(e.Record), eventDetails(e)}
}

// actorText returns the type, ID, and name of an actor, for example "user:2 Kim Lee".
func actorText(a apitypes.Actor) string {
	text := a.Kind
	if a.ID != nil {
		text += fmt.Sprintf(":%d", *a.ID)
	}
	if a.Name != nil {
		text += " " + oneLine(*a.Name)
	}
	return text
}

// eventDetails returns the details and changes of an event on one line.
func eventDetails(e apitypes.Event) string {
	var parts []string
	for name, value := range e.Detail {
		parts = append(parts, name+"="+value)
	}
	slices.Sort(parts)
	for _, c := range e.Changes {
		if c.Text != nil {
			parts = append(parts, *c.Text)
		} else if !slices.ContainsFunc(e.Changes, func(c apitypes.Change) bool { return c.Text != nil }) { // written by an older version
			parts = append(parts, fmt.Sprintf("%s: %s → %s", c.Field, c.From, c.To))
		}
	}
	return oneLine(strings.Join(parts, "; "))
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return oneLine(*text)
}

// oneLine replaces control characters with spaces, so that names in the audit log can't
// control the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

func (s *shell) eventsVerify() *cobra.Command {
	var exportFile string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify the audit log's hash chain",
		Long: `Verify the audit log's hash chain. The command lists entries that were changed, added,
or are missing.

Anyone who can modify the database can rewrite the entire log. To detect that, keep the
number and hash of the last entry, which this command prints, or an export, on another
machine. With --export, the command compares the log with an earlier export: the full
content of JSON lines, or the numbers and hashes of a CSV file. It also reports entries
that are missing within the export.

Exit code 3: verification failed.`,
		Example: "  deedkeep events verify\n  deedkeep events verify --export events-2026-05.jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.EventVerify, error) {
				found, err := withProgress(s, "", func(report func(apitypes.Progress)) (apitypes.EventVerify, error) { return c.VerifyEvents(ctx, report) })
				if err == nil && exportFile != "" {
					err = compareWithExport(ctx, c, exportFile, &found)
				}
				return found, err
			}, s.printEventVerify)
			if errors.Is(err, instance.ErrDamaged) { // the database can't be opened, so there is no report
				return s.printEventVerify(apitypes.EventVerify{Findings: []apitypes.Finding{{Kind: "database", Subject: "vault.db", Problem: message(err)}}})
			}
			return err
		},
	}
	cmd.Flags().StringVar(&exportFile, "export", "", "earlier export (JSON lines or CSV) to compare with the audit log")
	return cmd
}

func (s *shell) printEventVerify(r apitypes.EventVerify) error {
	text := findingLines(r.Findings)
	if r.More > 0 {
		text += fmt.Sprintf("and %d more\n", r.More)
	}
	verdict := "audit log verified"
	if !r.OK {
		verdict = "AUDIT LOG VERIFICATION FAILED"
	}
	if r.Matching != nil {
		text += apitypes.Count(*r.Matching, "entry of the export matches", "entries of the export match") + " the audit log\n"
	}
	text += fmt.Sprintf("%s: %s; last entry %d, hash %s\n", verdict, apitypes.Count(r.Entries, "entry", "entries"), r.Last, r.Head)
	return s.printReport(r, r.OK, text)
}
