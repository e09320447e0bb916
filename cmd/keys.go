package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) keysCommand() *cobra.Command {
	return commandGroup("keys", "Make, list and end the keys of programs", "  deedkeep keys create \"Closing software\"\n  deedkeep keys list",
		s.keysCreate(), s.keysList(), s.keysRevoke(), s.keysRotate())
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
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			draft.Name = args[0]
			if expires != "" {
				lifetime, err := config.ParseDuration(expires)
				if err != nil {
					return &usageError{fmt.Errorf("--expires: %w", err)}
				}
				draft.ExpiresAt = new(apitypes.At(time.Now().Add(lifetime)))
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				created, err := c.CreateKey(ctx, draft)
				if err != nil {
					return explainAbilities(err)
				}
				return s.printKey(created, quiet)
			})
		},
	}
	cmd.Flags().StringArrayVar((*[]string)(&draft.Abilities), "ability", nil, "what it may do: api:v1 (the default), api:v1:read, events, metrics")
	cmd.Flags().StringVar(&expires, "expires", "", "after how long it ends by itself, like 90d or 12h")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print nothing but the key")
	return cmd
}

// explainAbilities adds the list of valid abilities to an error about an unknown ability.
func explainAbilities(err error) error {
	rejected, ok := errors.AsType[*client.Error](err)
	if !ok || len(rejected.Errors.Of("abilities")) == 0 {
		return err
	}
	return fmt.Errorf("%s; there are %s", strings.TrimSuffix(rejected.Errors.Of("abilities")[0], "."), strings.Join(model.Abilities(), ", "))
}

func (s *shell) printKey(created apitypes.KeyCreated, quiet bool) error {
	switch {
	case quiet:
		return s.printf("%s\n", created.Key)
	case s.json:
		return s.printJSON(created)
	}
	s.messagef("keep it now: it is shown once and stored nowhere")
	return s.printf("%s\n", created.Key)
}

func (s *shell) keysList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List all keys, ended ones too",
		Example: "  deedkeep keys list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				keys, err := c.Keys(ctx)
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(apitypes.List[apitypes.Key](keys))
				}
				return s.printKeys(keys)
			})
		},
	}
}

func (s *shell) printKeys(keys []apitypes.Key) error {
	if len(keys) == 0 {
		s.messagef(`there is no key yet; "deedkeep keys create NAME" makes one`)
		return nil
	}
	rows := [][]string{{"ID", "NAME", "KEY", "ABILITIES", "LAST USED", "USES", "STATE"}}
	for _, k := range keys {
		rows = append(rows, []string{strconv.FormatInt(k.ID, 10), k.Name, k.Prefix + "…", strings.Join(k.Abilities, " "),
			s.formatTime(k.LastUsedAt), strconv.FormatInt(k.UseCount, 10), s.keyState(k, time.Now())})
	}
	return s.printTable(rows)
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
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID(args[0], "key", "deedkeep keys list")
			if err != nil {
				return err
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				key, err := c.RevokeKey(ctx, id)
				if err != nil {
					return explainNotFound(err, "key", args[0])
				}
				if s.json {
					return s.printJSON(key)
				}
				return s.printf("revoked %s (%s…)\n", key.Name, key.Prefix)
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
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID(args[0], "key", "deedkeep keys list")
			if err != nil {
				return err
			}
			overlapDuration, err := config.ParseDuration(overlap)
			if err == nil && overlapDuration%time.Second != 0 {
				err = errors.New("whole seconds are wanted")
			}
			if err != nil {
				return &usageError{fmt.Errorf("--overlap: %w", err)}
			}
			if overlapDuration < 0 {
				return &usageError{errors.New("--overlap: is below zero")}
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				created, err := c.RotateKey(ctx, id, overlapDuration)
				if err != nil {
					return explainNotFound(err, "key", args[0])
				}
				return s.printKey(created, quiet)
			})
		},
	}
	cmd.Flags().StringVar(&overlap, "overlap", "24h", "how long the old key goes on; 0s ends it at once")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print nothing but the key")
	return cmd
}
