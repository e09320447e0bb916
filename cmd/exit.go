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

// Exit codes. Scripts depend on these values.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDamage      = 3   // damage was found in the vault or in a backup
	exitRejected    = 4   // an import finished but rejected some files
	exitNoVault     = 10  // the data directory does not contain a vault
	exitLocked      = 11  // another process uses the vault and doesn't respond, or uses the same backups
	exitInterrupted = 130 // interrupted by Ctrl-C or SIGTERM; "serve" exits with 0 instead
)

// exitCodes is the list of exit codes in the help.
const exitCodes = `Exit codes: 0 success, 1 failure, 2 invalid arguments or settings, 3 damage found,
4 import finished with some files rejected, 10 no data in the data directory,
11 locked by another process, 130 interrupted.`

// keyHint explains how to provide the key of encrypted backups.
const keyHint = "provide the passphrase with --passphrase-file FILE or DEEDKEEP_BACKUP_PASSPHRASE, or an age identity with --identity FILE"

// exitCode prints err, on one line if possible, and returns the exit code for it.
func (s *shell) exitCode(ctx context.Context, err error) int {
	_, isUsage := errors.AsType[*usageError](err)
	rejected, _ := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errDamage):
		return exitDamage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		s.messagef("interrupted")
		return exitInterrupted
	}
	text, hint, code := message(err), "", exitFailed
	switch {
	case isUsage:
		text, code = err.Error(), exitUsage
	case errors.Is(err, errRejected):
		text, code = err.Error(), exitRejected
	case errors.Is(err, instance.ErrNoVault):
		hint = `to create one there, run "deedkeep serve"; to use another directory, set --data DIR or DEEDKEEP_DATA; if your data should be there, check that its disk is mounted`
		code = exitNoVault
	case errors.Is(err, archive.ErrDecrypt):
		hint = keyHint
	case errors.Is(err, archive.ErrLocked), rejected != nil && rejected.Status == http.StatusLocked: // the vault or the backups are in use
		code = exitLocked
	case errors.Is(err, archive.ErrDamaged):
		code = exitDamage
	case errs.KindOf(err) == errs.Locked:
		code = exitLocked
		if !errors.Is(err, control.ErrInUse) {
			hint = "it may be starting, stopping, or restoring; try again in a moment"
		}
	}
	s.messagef("%s", text)
	if hint != "" {
		s.messagef("%s", hint)
	}
	s.explainPermissionError(err)
	return code
}

// jsonFailure returns the JSON document that a command prints if it fails with --json.
func jsonFailure(ctx context.Context, err error) apitypes.CommandFailure {
	failure := apitypes.Failure{Message: message(err)}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		failure.Message = "interrupted"
	}
	if rejected, ok := errors.AsType[*client.Error](err); ok {
		failure.Errors = rejected.Errors
	}
	return apitypes.CommandFailure{Error: failure}
}

// outputTracker is a writer that records whether anything was written.
type outputTracker struct {
	io.Writer
	wrote bool
}

func (o *outputTracker) Write(p []byte) (int, error) {
	o.wrote = o.wrote || len(p) > 0
	return o.Writer.Write(p)
}

// asUsageError converts a validation error from the server to a usage error. It returns
// other errors unchanged.
func asUsageError(err error) error {
	if rejected, ok := errors.AsType[*client.Error](err); ok && rejected.Status == http.StatusUnprocessableEntity {
		return &usageError{err}
	}
	return err
}

// message returns the text to print for err. If err wraps an *errs.Error or *client.Error,
// it returns only the message of that error.
func message(err error) string {
	if known, ok := errors.AsType[*errs.Error](err); ok {
		return known.Message
	}
	if rejected, ok := errors.AsType[*client.Error](err); ok {
		if rejected.Status == http.StatusInternalServerError && rejected.RequestID != "" {
			return fmt.Sprintf("%s (request ID %s in the server log)", rejected.Message, rejected.RequestID)
		}
		return rejected.Message
	}
	return err.Error()
}

// promptf prints a message followed by end instead of a newline.
func (s *shell) promptf(end, format string, args ...any) {
	fmt.Fprintf(s.messages, "deedkeep: "+format+end, args...) //nolint:errcheck // a failed write to standard error can't be reported
}

// messagef prints a line with the prefix "deedkeep: " to standard error.
func (s *shell) messagef(format string, args ...any) {
	fmt.Fprintf(s.messages, "deedkeep: "+format+"\n", args...) //nolint:errcheck // a failed write to standard error can't be reported
}
