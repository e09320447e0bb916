package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
				if err == nil && lifetime < time.Second {
					err = errors.New("must be at least 1s, such as 90d or 12h")
				}
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
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only the key")
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
	replacedBy := map[int64]int64{}
	for _, k := range keys {
		replacedBy[k.Replaces] = k.ID
	}
	return printList(s, keys, "", "ID\tNAME\tKEY\tPERMISSIONS\tLAST USED\tUSES\tSTATE", func(k apitypes.Key) []any {
		return []any{k.ID, k.Name, k.Prefix + "…", strings.Join(k.Abilities, " "), s.formatTime(k.LastUsedAt), k.UseCount,
			s.keyState(k, time.Now()) + lineage(k, replacedBy[k.ID])}
	})
}

// lineage says which key replaced k, or which one k replaces, because they have the same name.
func lineage(k apitypes.Key, replacedBy int64) string {
	switch {
	case replacedBy > 0:
		return fmt.Sprintf(", replaced by %d", replacedBy)
	case k.Replaces > 0:
		return fmt.Sprintf(", replaces %d", k.Replaces)
	}
	return ""
}

// queryKey is like query for the active key with the given name. If there is none, it parses
// nameOrID as an ID. With newest, a rotated key doesn't count while its replacement is active.
func queryKey[T any](s *shell, cmd *cobra.Command, nameOrID string, newest bool,
	get func(*control.Client, context.Context, int64) (T, error), show func(T) error) error {
	return query(s, cmd, func(c *control.Client, ctx context.Context) (none T, err error) {
		keys, err := c.Keys(ctx)
		if err != nil {
			return none, err
		}
		id, err := findKey(keys, nameOrID, newest, time.Now())
		if err != nil {
			return none, err
		}
		result, err := get(c, ctx, id)
		return result, explainNotFound(err, "key", nameOrID)
	}, show)
}

// findKey returns the ID of a key (see queryKey).
func findKey(keys []apitypes.Key, nameOrID string, newest bool, now time.Time) (int64, error) {
	var found []apitypes.Key
	for _, k := range keys {
		if model.Fold(k.Name) == model.Fold(nameOrID) && k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(k.ExpiresAt.Time)) {
			found = append(found, k)
		}
	}
	if newest {
		active := slices.Clone(found)
		found = slices.DeleteFunc(found, func(k apitypes.Key) bool {
			return slices.ContainsFunc(active, func(next apitypes.Key) bool { return next.Replaces == k.ID })
		})
	}
	switch len(found) {
	case 0:
		return parseID(nameOrID, "key", "deedkeep keys list")
	case 1:
		return found[0].ID, nil
	}
	var ids []string
	for _, k := range found {
		ids = append(ids, fmt.Sprintf("%d (created %s%s)", k.ID, k.CreatedAt.Format(time.DateOnly), lineage(k, 0)))
	}
	return 0, &usageError{fmt.Errorf("%d active keys have the name %q: %s; use the ID", len(found), nameOrID, strings.Join(ids, ", "))}
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
		Use:   "revoke NAME|ID",
		Short: "Revoke an API key permanently",
		Long: `Revoke an API key permanently. It is rejected immediately. Use the name of the key, or
the ID from "deedkeep keys list" if several active keys have the same name.`,
		Example: "  deedkeep keys revoke \"Closing software\"\n  deedkeep keys revoke 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return queryKey(s, cmd, args[0], false, (*control.Client).RevokeKey, func(key apitypes.Key) error {
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
		Use:   "rotate NAME|ID",
		Short: "Rotate an API key, keeping the old one valid for a while",
		Example: `  deedkeep keys rotate "Closing software" --overlap 24h
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
			return queryKey(s, cmd, args[0], true, rotate, func(created apitypes.KeyCreated) error {
				return s.printKey(created, quiet)
			})
		},
	}
	cmd.Flags().StringVar(&overlap, "overlap", "24h", "time until the old key expires; 0s revokes it immediately")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only the key")
	return cmd
}
