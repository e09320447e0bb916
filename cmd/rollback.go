package cmd

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/instance"
)

func (s *shell) rollbackCommand() *cobra.Command {
	var discard bool
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Restore the database from before an upgrade",
		Long: `Restore the database from before an upgrade. Before a new version changes the database,
its server keeps a copy in the data directory: vault.db.before-VERSION. The command makes
this copy the database again. Stop the server, install the version from before the
upgrade, and run the command with that version. If the database isn't from a newer
version, nothing is changed.

If there are audit log entries since the upgrade, the command prints their number and
changes nothing. With --discard, these changes are lost. Documents uploaded since then
stay in the folder blobs, but they have no record anymore.

The upgraded database stays in the data directory as vault.db.after-VERSION until the
next upgrade. If the command is interrupted, run it again.

Exit code 1: there are changes since the upgrade, or there is no copy. Exit code 3: the
copy is damaged. Exit code 11: a server or another command uses the data directory.`,
		Example: "  deedkeep rollback\n  deedkeep rollback --discard --data /srv/deedkeep",
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.rollback(cmd.Context(), discard) },
	}
	cmd.Flags().BoolVar(&discard, "discard", false, "lose the changes since the upgrade")
	return cmd
}

func (s *shell) rollback(ctx context.Context, discard bool) error {
	c, err := s.load(ctx, nil)
	if err != nil {
		return err
	}
	if err := s.becomeOwner(c); err != nil {
		return err
	}
	if err := checkNoServer(ctx, c); err != nil {
		return err
	}
	r, err := instance.RollBack(ctx,
		instance.Options{Dir: c.Data, Now: time.Now, Rand: rand.Reader, Log: s.logger(c, slog.LevelWarn)}, discard)
	if err != nil {
		return err
	}
	done := apitypes.Rollback{RolledBack: r.Copy != "", Copy: r.Copy, Kept: r.Kept, LostEntries: int64(r.Lost)}
	if !done.RolledBack {
		return s.print(done, "nothing changed: this version can open the database in %s; start the server\n", c.Data)
	}
	if !s.json && (r.Lost > 0 || r.Unknown) {
		s.messagef("documents uploaded since the upgrade stay in the folder blobs; to let the server delete them, delete the file " +
			"generation in the data directory")
		s.messagef("revoke again any API keys revoked since the upgrade; all users are signed out")
	}
	return s.print(done, "%s is vault.db again; the upgraded database is now %s, and %s\n", r.Copy, r.Kept, lostEntries(r))
}

func lostEntries(r instance.RollbackResult) string {
	switch {
	case r.Unknown:
		return "the changes since the upgrade are lost"
	case r.Lost > 0:
		return fmt.Sprintf("the changes of %s are lost", apitypes.Count(int64(r.Lost), "audit log entry", "audit log entries"))
	}
	return "no changes are lost"
}
