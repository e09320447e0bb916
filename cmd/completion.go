package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/client"
	"deedkeep/app/model"
)

// completionTimeout is how long a shell waits for words.
const completionTimeout = 2 * time.Second

// completion offers words, each with what it is after a tab.
type completion func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// fixedWords offers the same words always.
func fixedWords(list ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// filesWithExtensions offers files of these endings.
func filesWithExtensions(endings ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

func directoriesOnly(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// wordsFromVault offers what the vault knows; nothing when it cannot be asked in time.
func (s *shell) wordsFromVault(ask func(context.Context, *client.Client) ([]string, error)) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s.flags = cmd.Flags()
		above := cmd.Context()
		if above == nil {
			above = context.Background() // a completion has none of its own
		}
		ctx, cancel := context.WithTimeout(above, completionTimeout)
		defer cancel()
		var list []string
		err := s.withClient(ctx, func(ctx context.Context, c *client.Client) (err error) {
			list, err = ask(ctx, c)
			return err
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// registerCompletions tells the shell which words fit where: by the path of a command for its
// argument, with a flag's name for that flag.
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
		if offer, known := arguments[commandPath(cmd)]; known {
			cmd.ValidArgsFunction = offer
		} else if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
			cmd.ValidArgsFunction = fixedWords()
		}
		for name, offer := range flags {
			if cmd.LocalNonPersistentFlags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				// It fails where the flag's own command has taught it already.
				_ = cmd.RegisterFlagCompletionFunc(name, offer)
			}
		}
		for _, part := range cmd.Commands() {
			walk(part)
		}
	}
	walk(root)
}

// commandPath is the way to a command without the program's name.
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

func completeTemplates(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.TemplateDefinitions(ctx)
	for _, t := range all {
		list = append(list, fmt.Sprintf("%d\t%s", t.ID, t.Name))
	}
	return list, err
}

func completeUsers(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.Users(ctx)
	for _, u := range all {
		list = append(list, fmt.Sprintf("%s\t%s", u.Name, u.Role))
	}
	return list, err
}

func completeLiveKeys(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.Keys(ctx)
	for _, k := range all {
		if k.RevokedAt == nil {
			list = append(list, fmt.Sprintf("%d\t%s", k.ID, k.Name))
		}
	}
	return list, err
}

func completeFailedFiles(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.ProcessFailures(ctx)
	for _, f := range all {
		list = append(list, fmt.Sprintf("%d\t%s", f.ID, quoteUnprintable(f.Filename)))
	}
	return list, err
}
