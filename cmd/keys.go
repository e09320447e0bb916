package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) keysCommand() *cobra.Command {
	return commandGroup("keys", "Make, list and end the keys of programs", "  deedkeep keys create \"Closing software\"\n  deedkeep keys list",
		s.keysCreate(),
		listCommand(s, "list", "List all keys, ended ones too", "  deedkeep keys list --json", (*control.Client).Keys, s.printKeys),
		s.keysRevoke(), s.keysRotate())
}

func (s *shell) keysCreate() *cobra.Command {
	var (
		draft   apitypes.KeyCreate
		expires string
		quiet   bool
	)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a key; it is shown once",
		Example: `  deedkeep keys create "Closing software"
  deedkeep keys create reports --ability api:v1:read --expires 90d
  KEY=$(deedkeep keys create script --quiet)`,
		RunE: func(cmd *cobra.Command, args []string) error {
			draft.Name = args[0]
			if expires != "" {
				lifetime, err := config.ParseDuration(expires)
				if err != nil {
					return &usageError{fmt.Errorf("--expires: %w", err)}
				}
				draft.ExpiresAt = new(apitypes.At(time.Now().Add(lifetime)))
			}
			return query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.KeyCreated, error) {
				created, err := c.CreateKey(ctx, draft)
				return created, explainChoices(err, "abilities", model.Abilities())
			}, func(created apitypes.KeyCreated) error { return s.printKey(created, quiet) })
		},
	}
	cmd.Flags().StringArrayVar(&draft.Abilities, "ability", nil, "what it may do: api:v1 (the default), api:v1:read, events, metrics")
	cmd.Flags().StringVar(&expires, "expires", "", "after how long it ends by itself, like 90d or 12h")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print nothing but the key")
	return cmd
}

func (s *shell) printKey(created apitypes.KeyCreated, quiet bool) error {
	if quiet {
		return s.printf("%s\n", created.Key)
	}
	if !s.json {
		s.messagef("keep it now: it is shown once and stored nowhere")
	}
	return s.print(created, "%s\n", created.Key)
}

func (s *shell) printKeys(keys []apitypes.Key) error {
	if len(keys) == 0 && !s.json {
		s.messagef(`there is no key yet; "deedkeep keys create NAME" makes one`)
		return nil
	}
	return printList(s, keys, "", "ID\tNAME\tKEY\tABILITIES\tLAST USED\tUSES\tSTATE", func(k apitypes.Key) []any {
		return []any{k.ID, k.Name, k.Prefix + "…", strings.Join(k.Abilities, " "), s.formatTime(k.LastUsedAt), k.UseCount, s.keyState(k, time.Now())}
	})
}

func (s *shell) keyState(k apitypes.Key, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked " + s.formatTime(k.RevokedAt)
	case k.ExpiresAt != nil && !now.Before(k.ExpiresAt.Time):
		return "expired " + s.formatTime(k.ExpiresAt)
	case k.ExpiresAt != nil:
		return "until " + s.formatTime(k.ExpiresAt)
	}
	return "live"
}

func (s *shell) keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "End a key now, for ever",
		Example: "  deedkeep keys revoke 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return queryID(s, cmd, args[0], "key", "deedkeep keys list", (*control.Client).RevokeKey, func(key apitypes.Key) error {
				return s.print(key, "revoked %s (%s…)\n", key.Name, key.Prefix)
			})
		},
	}
}

func (s *shell) keysRotate() *cobra.Command {
	var (
		overlap string
		quiet   bool
	)
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Make a new key in the place of an old one, which ends after the overlap",
		Example: `  deedkeep keys rotate 3 --overlap 24h
  deedkeep keys rotate 3 --overlap 0s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			overlapDuration, err := config.ParseDuration(overlap)
			if err == nil && overlapDuration%time.Second != 0 {
				err = errors.New("whole seconds are wanted")
			}
			if err == nil && overlapDuration < 0 {
				err = errors.New("is below zero")
			}
			if err != nil {
				return &usageError{fmt.Errorf("--overlap: %w", err)}
			}
			rotate := func(c *control.Client, ctx context.Context, id int64) (apitypes.KeyCreated, error) {
				return c.RotateKey(ctx, id, overlapDuration)
			}
			return queryID(s, cmd, args[0], "key", "deedkeep keys list", rotate, func(created apitypes.KeyCreated) error {
				return s.printKey(created, quiet)
			})
		},
	}
	cmd.Flags().StringVar(&overlap, "overlap", "24h", "how long the old key goes on; 0s ends it at once")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print nothing but the key")
	return cmd
}
