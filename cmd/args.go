package cmd

import (
	"cmp"
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
	return &argumentError{usageError{fmt.Errorf(format+" (see \"%s --help\")", append(args, cmd.CommandPath())...)}}
}

// missingArg returns the annotation of a command with the error for a missing argument.
func missingArg(text string) map[string]string { return map[string]string{"missing": text} }

// checkArgCounts sets the check of the number of arguments for cmd and all its subcommands,
// unless a command has its own. Their usage lines, such as "create NAME", "retry [ID]", or
// "export [ID...]", contain how many arguments they take.
func checkArgCounts(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		checkArgCounts(sub)
	}
	if use, _, _ := strings.Cut(cmd.Use, " --"); cmd.Args == nil && !cmd.HasSubCommands() {
		cmd.Args = argCount(strings.Fields(use)[1:]...)
	}
}

// argCount accepts an argument for each parameter. Parameters in brackets are optional, and
// three dots mean any number. The error names the missing or unexpected argument.
func argCount(params ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for _, param := range params[min(len(args), len(params)):] {
			if !strings.HasPrefix(param, "[") {
				return argumentErrorf(cmd, "%s", cmp.Or(cmd.Annotations["missing"], param+" is required"))
			}
		}
		if len(args) > len(params) && !strings.Contains(strings.Join(params, ""), "...") {
			return argumentErrorf(cmd, "unexpected argument %q", args[len(params)])
		}
		return nil
	}
}

// parseID parses the numeric ID of a record. If it is not valid, the error refers to
// listCommand, which lists the valid IDs.
func parseID(text, recordType, listCommand string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, &usageError{fmt.Errorf("%q is not a valid %s ID; list IDs with %q", text, recordType, listCommand)}
	}
	return id, nil
}
