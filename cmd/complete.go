package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/client"
	"deedkeep/app/model"
)

// completionTime is how long a shell waits for words.
const completionTime = 2 * time.Second

// words offers words, each with what it is after a tab.
type words func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// fixed offers the same words always.
func fixed(list ...string) words {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// only offers files of these endings.
func only(endings ...string) words {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// asked offers what the vault knows; nothing when it cannot be asked in time.
func (s *shell) asked(ask func(context.Context, *client.Client) ([]string, error)) words {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s.flags = cmd.Flags()
		above := cmd.Context()
		if above == nil {
			above = context.Background() // a completion has none of its own
		}
		ctx, cancel := context.WithTimeout(above, completionTime)
		defer cancel()
		var list []string
		err := s.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
			list, err = ask(ctx, c)
			return err
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// teach tells the shell which words fit where: by the path of a command for its
// argument, with a flag's name for that flag.
func (s *shell) teach(root *cobra.Command) {
	arguments := map[string]words{
		"keys revoke": s.asked(liveKeys), "keys rotate": s.asked(liveKeys), "process retry": s.asked(failedFiles),
		"users role": s.asked(users), "users disable": s.asked(users), "users enable": s.asked(users), "users reset": s.asked(users),
		"templates show": s.asked(templates), "templates export": s.asked(templates), "templates default": s.asked(templates), "templates retire": s.asked(templates),
		"templates import": only("yaml", "yml", "json"), "fields import": only("yaml", "yml", "json"), "statuses import": only("yaml", "yml", "json"),
		"import": folders, "help": fixed(topicNames()...),
	}
	flags := map[string]words{
		"data": folders, "config": only("yaml", "yml"), "log-format": fixed("text", "json"), "log-level": fixed("debug", "info", "warn", "error"),
		"ability": fixed(model.Abilities()...), "role": fixed("viewer", "staff", "admin"), "to": folders, "from": folders,
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if offer, known := arguments[pathOf(cmd)]; known {
			cmd.ValidArgsFunction = offer
		} else if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
			cmd.ValidArgsFunction = fixed()
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

// pathOf is the way to a command without the program's name.
func pathOf(cmd *cobra.Command) string {
	path := ""
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		if path != "" {
			path = " " + path
		}
		path = cmd.Name() + path
	}
	return path
}

func templates(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.TemplateDefinitions(ctx)
	for _, t := range all {
		list = append(list, fmt.Sprintf("%d\t%s", t.ID, t.Name))
	}
	return list, err
}

func users(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.Users(ctx)
	for _, u := range all {
		list = append(list, fmt.Sprintf("%s\t%s", u.Name, u.Role))
	}
	return list, err
}

func liveKeys(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.Keys(ctx)
	for _, k := range all {
		if k.RevokedAt == nil {
			list = append(list, fmt.Sprintf("%d\t%s", k.ID, k.Name))
		}
	}
	return list, err
}

func failedFiles(ctx context.Context, c *client.Client) (list []string, err error) {
	all, err := c.ProcessFailures(ctx)
	for _, f := range all {
		list = append(list, fmt.Sprintf("%d\t%s", f.ID, printable(f.Filename)))
	}
	return list, err
}
