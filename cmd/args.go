package cmd

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/client"
)

// argumentError is a wrong number of arguments, with the command that says how.
type argumentError struct{ usageError }

func (a *argumentError) Unwrap() error { return &a.usageError }

func wrong(cmd *cobra.Command, format string, args ...any) error {
	return &argumentError{usageError{fmt.Errorf(format+"; \"%s --help\" shows how", append(args, cmd.CommandPath())...)}}
}

// nothing is for commands without arguments.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return wrong(cmd, "%q is one word too many", args[0])
	}
	return nil
}

// one wants exactly one argument; the sentence names what is missing, and where it is
// to be had.
func one(what, where string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return wrong(cmd, "%s is missing; %s", what, where)
		case 1:
			return nil
		}
		return wrong(cmd, "%q is one word too many", args[1])
	}
}

// atMostOne is one that may be left out.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return wrong(cmd, "%q is one word too many", args[1])
	}
	return nil
}

// idOf reads the number of a record.
func idOf(text, noun, list string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, &usageError{fmt.Errorf("%q is no %s's ID; %q shows them", text, noun, list)}
	}
	return id, nil
}

// completionTime is how long a shell waits for words.
const completionTime = 2 * time.Second

// complete offers words that the vault knows; none when it cannot be asked.
func (s *shell) complete(cmd *cobra.Command, words func(context.Context, *client.Client) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	s.flags = cmd.Flags()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), completionTime)
	defer cancel()
	var list []string
	err := s.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		list, err = words(ctx, c)
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
