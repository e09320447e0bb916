package cmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// argumentError is a wrong number of words, or a flag that is wrong, with the command
// that says how.
type argumentError struct{ usageError }

func (a *argumentError) Unwrap() error { return &a.usageError }

func argumentErrorf(cmd *cobra.Command, format string, args ...any) error {
	return &argumentError{usageError{fmt.Errorf(format+"; \"%s --help\" shows how", append(args, cmd.CommandPath())...)}}
}

// noArgs is for commands without arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return argumentErrorf(cmd, "%q is one word too many", args[0])
	}
	return nil
}

// oneArg wants exactly one argument; the sentence names what is missing, and where it is
// to be had.
func oneArg(what, where string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return argumentErrorf(cmd, "%s is missing; %s", what, where)
		case 1:
			return nil
		}
		return argumentErrorf(cmd, "%q is one word too many", args[1])
	}
}

// explainArgCounts makes every command below say which word is missing, or too many, by
// its own usage line, where cobra would only count.
func explainArgCounts(cmd *cobra.Command) {
	for _, part := range cmd.Commands() {
		explainArgCounts(part)
	}
	if counts := cmd.Args; counts != nil && !cmd.HasSubCommands() {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := counts(cmd, args)
			if _, told := errors.AsType[*argumentError](err); err == nil || told {
				return err
			}
			return argCountError(cmd, args, err)
		}
	}
}

// argCountError reads a usage line such as "create NAME", "retry [ID]" or "export [ID...]".
func argCountError(cmd *cobra.Command, args []string, err error) error {
	use, _, _ := strings.Cut(cmd.Use, " --") // a flag that is wanted is another matter
	words := strings.Fields(use)[1:]
	for n, word := range words {
		if n >= len(args) && !strings.HasPrefix(word, "[") {
			return argumentErrorf(cmd, "%s is missing", word)
		}
	}
	if len(args) > len(words) && !strings.Contains(use, "...") {
		return argumentErrorf(cmd, "%q is one word too many", args[len(words)])
	}
	return argumentErrorf(cmd, "%w", err)
}

// parseID reads the number of a record.
func parseID(text, noun, list string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, &usageError{fmt.Errorf("%q is no %s's ID; %q shows them", text, noun, list)}
	}
	return id, nil
}
