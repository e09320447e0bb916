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
	"deedkeep/app/instance"
)

func (s *shell) eventsCommand() *cobra.Command {
	return commandGroup("events", "See, export and verify the log of who did what", "  deedkeep events list\n  deedkeep events verify",
		s.eventsList(), s.eventsExport(), s.eventsVerify())
}

func (s *shell) eventsList() *cobra.Command {
	var filter control.EventFilter
	var from, to string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the newest entries of the log, the newest first",
		Example: `  deedkeep events list --limit 200
  deedkeep events list --actor key:3 --from 2026-05-01
  deedkeep events list --record file:17 --kind file.opened --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := s.load(); err != nil { // loads the office's time zone, which applies to dates
				return err
			}
			var err error
			if filter.From, err = parseTimeBound("--from", from, 0, s.location()); err != nil {
				return err
			}
			if filter.To, err = parseTimeBound("--to", to, 1, s.location()); err != nil {
				return err
			}
			return query(s, cmd, func(c *control.Client, ctx context.Context) ([]apitypes.Event, error) {
				events, err := c.Events(ctx, filter)
				return events, asUsageError(err)
			}, s.printEvents)
		},
	}
	cmd.Flags().StringVar(&filter.Actor, "actor", "", "who: key:3, user:2, operator, link or system")
	cmd.Flags().StringVar(&filter.Kind, "kind", "", "what: abstract.created, file.opened, …")
	cmd.Flags().StringVar(&filter.Record, "record", "", "of which record: file:17, order: and its id")
	cmd.Flags().StringVar(&from, "from", "", "not before this day or time: 2026-05-29, 2026-05-29T14:00:00Z")
	cmd.Flags().StringVar(&to, "to", "", "not after this day or time")
	cmd.Flags().IntVar(&filter.Limit, "limit", 50, "how many, at most 10000")
	return cmd
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
		return nil, &usageError{fmt.Errorf("%s: %q is neither a day like 2026-05-29 nor a time like 2026-05-29T14:00:00Z", flag, text)}
	}
	return new(apitypes.At(at)), nil
}

func (s *shell) printEvents(events []apitypes.Event) error {
	return printList(s, events, "there is no such entry", "ENTRY\tWHEN\tWHO\tFROM\tWHAT\tRECORD\tMORE", func(e apitypes.Event) []any {
		return []any{e.Seq, e.At.In(s.location()).Format(time.DateTime + " MST"), actorText(e.Actor), orDash(e.Actor.Address), e.Kind, orDash(e.Record), eventDetails(e)}
	})
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
		parts = append(parts, fmt.Sprintf("%s: %s → %s", c.Field, c.From, c.To))
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
		Short: "Hold every entry of the log against its hash and the one before it",
		Long: `Hold every entry of the log against its hash and the one before it. What was
changed, is missing or was added is listed, and the exit code is 3.

Whoever can write the whole database can also seal a whole log anew. Only what is
kept elsewhere shows that: the number and hash of the last entry, which this command
prints, or an earlier export, which --export holds the log against. Of JSON lines all
that they say is compared, of CSV only the numbers and hashes. Entries that are missing
between the first and the last of the export are named.`,
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
	cmd.Flags().StringVar(&exportFile, "export", "", "an earlier export, JSON lines or CSV, that the log must still agree with")
	return cmd
}

func (s *shell) printEventVerify(r apitypes.EventVerify) error {
	text := findingLines(r.Findings)
	if r.More > 0 {
		text += fmt.Sprintf("and %d more\n", r.More)
	}
	verdict := "the log holds"
	if !r.OK {
		verdict = "THE LOG DOES NOT HOLD"
	}
	if r.Agree != nil {
		text += apitypes.Count(*r.Agree, "entry of the export agrees", "entries of the export agree") + " with the log\n"
	}
	text += fmt.Sprintf("%s: %s, the last is %d with the hash %s\n", verdict, apitypes.Count(r.Entries, "entry", "entries"), r.Last, r.Head)
	return s.printReport(r, r.OK, text)
}
