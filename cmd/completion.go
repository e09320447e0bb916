package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/control"
	"deedkeep/app/model"
)

// completionTimeout is how long shell completion waits for the vault.
const completionTimeout = 2 * time.Second

// completion returns candidates for shell completion in the form "word\tdescription", like
// cobra.CompletionFunc.
type completion func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// fixedWords returns a completion with a fixed list of words.
func fixedWords(list ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// filesWithExtensions returns a completion for names of files with the given extensions.
func filesWithExtensions(extensions ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func directoriesOnly(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// wordsFromVault returns a completion for the first argument. query reads the words from
// the vault. If the vault doesn't respond in time, there are no candidates.
func (s *shell) wordsFromVault(query func(context.Context, *control.Client) ([]string, error)) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s.flags = cmd.Flags()
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background() // cobra doesn't set a context for completions
		}
		ctx, cancel := context.WithTimeout(parent, completionTimeout)
		defer cancel()
		var list []string
		err := s.withClient(ctx, func(ctx context.Context, c *control.Client) (err error) {
			list, err = query(ctx, c)
			return err
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// registerCompletions registers the completions of all commands: for arguments by command
// path, and for flags by flag name.
func (s *shell) registerCompletions(root *cobra.Command) {
	arguments := map[string]completion{
		"keys revoke": s.wordsFromVault(completeLiveKeys), "keys rotate": s.wordsFromVault(completeLiveKeys), "process retry": s.wordsFromVault(completeFailedFiles),
		"users role": s.wordsFromVault(completeUsers), "users disable": s.wordsFromVault(completeUsers), "users enable": s.wordsFromVault(completeUsers), "users reset": s.wordsFromVault(completeUsers),
		"templates show": s.wordsFromVault(completeTemplates), "templates export": s.wordsFromVault(completeTemplates), "templates default": s.wordsFromVault(completeTemplates), "templates retire": s.wordsFromVault(completeTemplates),
		"templates import": filesWithExtensions("yaml", "yml", "json"), "fields import": filesWithExtensions("yaml", "yml", "json"), "statuses import": filesWithExtensions("yaml", "yml", "json"),
		"import": directoriesOnly, "help": fixedWords(topicCompletions()...),
	}
	flags := map[string]completion{
		"data": directoriesOnly, "config": filesWithExtensions("yaml", "yml"), "log-format": fixedWords("text", "json"), "log-level": fixedWords("debug", "info", "warn", "error"),
		"ability": fixedWords(model.Abilities()...), "role": fixedWords("viewer", "staff", "admin"), "to": directoriesOnly, "from": directoriesOnly,
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if complete, ok := arguments[commandPath(cmd)]; ok {
			cmd.ValidArgsFunction = complete
		} else if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
			cmd.ValidArgsFunction = fixedWords()
		}
		for name, complete := range flags {
			if cmd.LocalNonPersistentFlags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				// This fails if the command has already registered a completion for the
				// flag.
				_ = cmd.RegisterFlagCompletionFunc(name, complete)
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// commandPath returns the path of cmd without the name of the binary, such as "keys
// create".
func commandPath(cmd *cobra.Command) string {
	path := ""
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		if path != "" {
			path = " " + path
		}
		path = cmd.Name() + path
	}
	return path
}

func completeTemplates(ctx context.Context, c *control.Client) (list []string, err error) {
	all, err := c.Templates(ctx)
	for _, t := range all {
		list = append(list, fmt.Sprintf("%d\t%s", t.ID, t.Name))
	}
	return list, err
}

func completeUsers(ctx context.Context, c *control.Client) (list []string, err error) {
	all, err := c.Users(ctx)
	for _, u := range all {
		list = append(list, fmt.Sprintf("%s\t%s", u.Name, u.Role))
	}
	return list, err
}

func completeLiveKeys(ctx context.Context, c *control.Client) (list []string, err error) {
	all, err := c.Keys(ctx)
	for _, k := range all {
		if k.RevokedAt == nil {
			list = append(list, fmt.Sprintf("%d\t%s", k.ID, k.Name))
		}
	}
	return list, err
}

func completeFailedFiles(ctx context.Context, c *control.Client) (list []string, err error) {
	all, err := c.ProcessFailures(ctx)
	for _, f := range all {
		list = append(list, fmt.Sprintf("%d\t%s", f.ID, quoteUnprintable(f.Filename)))
	}
	return list, err
}
