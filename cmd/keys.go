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
	return commandGroup("keys", "Manage API keys", "  deedkeep keys create \"Closing software\"\n  deedkeep keys list",
		s.keysCreate(),
		listCommand(s, "list", "List API keys, including expired and revoked", "  deedkeep keys list --json", (*control.Client).Keys, s.printKeys),
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
		Short: "Create an API key (shown once)",
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
	cmd.Flags().StringArrayVar(&draft.Abilities, "ability", nil, "permission: api:v1 (default), api:v1:read, events, or metrics; can be repeated")
	cmd.Flags().StringVar(&expires, "expires", "", "lifetime, such as 90d or 12h (default: never expires)")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print only the key")
	return cmd
}

func (s *shell) printKey(created apitypes.KeyCreated, quiet bool) error {
	if quiet {
		return s.printf("%s\n", created.Key)
	}
	if !s.json {
		s.messagef("copy this key now; it is not stored and can't be shown again")
	}
	return s.print(created, "%s\n", created.Key)
}

func (s *shell) printKeys(keys []apitypes.Key) error {
	if len(keys) == 0 && !s.json {
		s.messagef(`no API keys yet; create one with "deedkeep keys create NAME"`)
		return nil
	}
	return printList(s, keys, "", "ID\tNAME\tKEY\tPERMISSIONS\tLAST USED\tUSES\tSTATE", func(k apitypes.Key) []any {
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
		return "expires " + s.formatTime(k.ExpiresAt)
	}
	return "active"
}

func (s *shell) keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke an API key permanently",
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
		Short: "Rotate an API key, keeping the old one valid for a while",
		Example: `  deedkeep keys rotate 3 --overlap 24h
  deedkeep keys rotate 3 --overlap 0s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			overlapDuration, err := config.ParseDuration(overlap)
			if err == nil && overlapDuration%time.Second != 0 {
				err = errors.New("must be a whole number of seconds")
			}
			if err == nil && overlapDuration < 0 {
				err = errors.New("must not be negative")
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
	cmd.Flags().StringVar(&overlap, "overlap", "24h", "time until the old key expires; 0s revokes it immediately")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print only the key")
	return cmd
}
