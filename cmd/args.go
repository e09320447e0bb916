package cmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// argumentError reports invalid arguments or flags. Its message refers to the help of the
// command.
type argumentError struct{ usageError }

func (a *argumentError) Unwrap() error { return &a.usageError }

func argumentErrorf(cmd *cobra.Command, format string, args ...any) error {
	return &argumentError{usageError{fmt.Errorf(format+"; \"%s --help\" shows how", append(args, cmd.CommandPath())...)}}
}

// noArgs accepts no arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return argumentErrorf(cmd, "%q is one word too many", args[0])
	}
	return nil
}

// oneArg accepts exactly one argument. If it is missing, the error is "MISSING is missing;
// HINT".
func oneArg(missing, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return argumentErrorf(cmd, "%s is missing; %s", missing, hint)
		case 1:
			return nil
		}
		return argumentErrorf(cmd, "%q is one word too many", args[1])
	}
}

// explainArgCounts replaces cobra's errors about the number of arguments, for cmd and all
// its subcommands, with errors that name the missing or unexpected argument.
func explainArgCounts(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		explainArgCounts(sub)
	}
	if validate := cmd.Args; validate != nil && !cmd.HasSubCommands() {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := validate(cmd, args)
			if _, explained := errors.AsType[*argumentError](err); err == nil || explained {
				return err
			}
			return argCountError(cmd, args, err)
		}
	}
}

// argCountError replaces err with an error that names the missing or unexpected argument.
// It compares args with the command's usage line, such as "create NAME", "retry [ID]", or
// "export [ID...]".
func argCountError(cmd *cobra.Command, args []string, err error) error {
	use, _, _ := strings.Cut(cmd.Use, " --") // remove the required flags
	params := strings.Fields(use)[1:]
	for i, word := range params {
		if i >= len(args) && !strings.HasPrefix(word, "[") {
			return argumentErrorf(cmd, "%s is missing", word)
		}
	}
	if len(args) > len(params) && !strings.Contains(use, "...") {
		return argumentErrorf(cmd, "%q is one word too many", args[len(params)])
	}
	return argumentErrorf(cmd, "%w", err)
}

// parseID parses the numeric ID of a record. If it is not valid, the error refers to
// listCommand, which lists the valid IDs.
func parseID(text, recordType, listCommand string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, &usageError{fmt.Errorf("%q is no %s's ID; %q shows them", text, recordType, listCommand)}
	}
	return id, nil
}
