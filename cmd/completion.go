package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

// completionTimeout is how long shell completion waits for the vault.
const completionTimeout = 2 * time.Second

func fixedWords(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

func filesWithExtensions(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// wordsFromVault returns a completion for the first argument. list reads records from the
// vault, and word returns the candidate for a record in the form "word\tdescription", or ""
// if there is none. If the vault doesn't respond in time, there are no candidates.
func wordsFromVault[T any](s *shell, list func(*control.Client, context.Context) ([]T, error), word func(T) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s.flags = cmd.Flags()
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		err := s.withClient(ctx, func(ctx context.Context, c *control.Client) error {
			records, err := list(c, ctx)
			for _, record := range records {
				if text := word(record); text != "" {
					words = append(words, text)
				}
			}
			return err
		})
		if err != nil {
			words = nil
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// registerCompletions registers the completions of all commands: for arguments by command
// path, and for flags by flag name.
func (s *shell) registerCompletions(root *cobra.Command) {
	keys := wordsFromVault(s, (*control.Client).Keys, func(k apitypes.Key) string {
		if k.RevokedAt != nil {
			return ""
		}
		return fmt.Sprintf("%d\t%s", k.ID, k.Name)
	})
	failures := wordsFromVault(s, (*control.Client).ProcessFailures, func(f apitypes.ProcessFailure) string {
		return fmt.Sprintf("%d\t%s", f.ID, quoteUnprintable(f.Filename))
	})
	users := wordsFromVault(s, (*control.Client).Users, func(u apitypes.User) string { return u.Name + "\t" + u.Role })
	templates := wordsFromVault(s, (*control.Client).Templates, func(t apitypes.TemplateDefinition) string {
		return fmt.Sprintf("%d\t%s", t.ID, t.Name)
	})
	directories := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	definitions := filesWithExtensions("yaml", "yml", "json")
	arguments := map[string]cobra.CompletionFunc{
		"keys revoke": keys, "keys rotate": keys, "process retry": failures,
		"users role": users, "users disable": users, "users enable": users, "users reset": users,
		"templates show": templates, "templates export": templates, "templates default": templates, "templates retire": templates,
		"templates import": definitions, "fields import": definitions, "statuses import": definitions,
		"import": directories, "help": fixedWords(topicCompletions()...),
	}
	flags := map[string]cobra.CompletionFunc{
		"data": directories, "config": filesWithExtensions("yaml", "yml"), "log-format": fixedWords("text", "json"), "log-level": fixedWords("debug", "info", "warn", "error"),
		"ability": fixedWords(model.Abilities()...), "role": fixedWords(roleNames()...), "to": directories, "from": directories,
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
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path
}
