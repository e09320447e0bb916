package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup/archive"
	"deedkeep/app/client"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

// The exit codes are a contract with scripts.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDamage      = 3   // damage was found, in the vault or in a backup
	exitRejected    = 4   // an import finished, and some files were rejected
	exitNoVault     = 10  // there is no vault in the data directory
	exitLocked      = 11  // another process has it and does not answer, or works on the same backups
	exitInterrupted = 130 // a command by Ctrl-C or SIGTERM; serve, which ends no other way, ends with 0
)

// exitCodes is the contract as the help has it.
const exitCodes = `Exit codes: 0 done, 1 failed, 2 wrong arguments or settings, 3 damage found, 4 import
finished with some files rejected, 10 no vault here, 11 locked by another process,
130 interrupted.`

// keyHint says how a command gets what opens encrypted backups.
const keyHint = "give the passphrase with --passphrase-file FILE or DEEDKEEP_BACKUP_PASSPHRASE, or an age identity with --identity FILE"

// exitCode says what went wrong, in one line where it can, and gives the code.
func (s *shell) exitCode(ctx context.Context, err error) int {
	var usage *usageError
	if err != nil {
		defer s.explainPermissionError(err)
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errDamage):
		return exitDamage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		s.messagef("interrupted")
		return exitInterrupted
	case errors.As(err, &usage):
		s.messagef("%v", err)
		return exitUsage
	case errors.Is(err, errRejected):
		s.messagef("%v", err)
		return exitRejected
	case errors.Is(err, instance.ErrNoVault):
		s.messagef("%v", message(err))
		s.messagef(`"deedkeep serve" creates one there; --data DIR (or DEEDKEEP_DATA) names another place. If there was one, check that its disk is mounted`)
		return exitNoVault
	case errors.Is(err, archive.ErrDecrypt):
		s.messagef("%s", message(err))
		s.messagef("%s", keyHint)
		return exitFailed
	case errors.Is(err, archive.ErrLocked), isLockedByServer(err):
		s.messagef("%s", message(err))
		return exitLocked
	case errors.Is(err, archive.ErrDamaged):
		s.messagef("%v", message(err))
		return exitDamage
	case errs.KindOf(err) == errs.Locked:
		s.messagef("%v", message(err))
		if !errors.Is(err, control.ErrInUse) {
			s.messagef("it may be starting, stopping or restoring: try again in a moment")
		}
		return exitLocked
	}
	s.messagef("%s", message(err))
	return exitFailed
}

// isLockedByServer is a server's refusal: what it would work on is in use.
func isLockedByServer(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Status == http.StatusLocked
}

// jsonFailure is what --json prints where a command came to nothing it could print.
func jsonFailure(ctx context.Context, err error) apitypes.CommandFailure {
	failure := apitypes.Failure{Message: message(err)}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		failure.Message = "interrupted"
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		failure.Errors = refused.Errors
	}
	return apitypes.CommandFailure{Error: failure}
}

// outputTracker knows whether anything was written, or tried to be.
type outputTracker struct {
	io.Writer
	wrote bool
}

func (c *outputTracker) Write(p []byte) (int, error) {
	c.wrote = c.wrote || len(p) > 0
	return c.Writer.Write(p)
}

// asUsageError makes a usage error of a refusal of what the command line has put to the door.
func asUsageError(err error) error {
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusUnprocessableEntity {
		return &usageError{err}
	}
	return err
}

// message is the sentence for people, where an error has one of its own.
func message(err error) string {
	var named *errs.Error
	if errors.As(err, &named) {
		return named.Message
	}
	var refused *client.Error
	if errors.As(err, &refused) {
		if refused.Status == http.StatusInternalServerError && refused.RequestID != "" {
			return fmt.Sprintf("%s (request %s in the server's log)", refused.Message, refused.RequestID)
		}
		return refused.Message
	}
	return err.Error()
}

// promptf is say with an end of line of the caller's choice.
func (s *shell) promptf(end, format string, args ...any) {
	fmt.Fprintf(s.messages, "deedkeep: "+format+end, args...) //nolint:errcheck // there is nobody else to tell
}

// messagef writes a line for people: to standard error, with one prefix.
func (s *shell) messagef(format string, args ...any) {
	fmt.Fprintf(s.messages, "deedkeep: "+format+"\n", args...) //nolint:errcheck // there is nobody else to tell
}
