package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/api"
	"deedkeep/app/config"
	"deedkeep/app/guides"
)

// topicCompletions returns the guides in the form "topic\ttitle".
func topicCompletions() (list []string) {
	for _, g := range guides.List() {
		list = append(list, g.Topic+"\t"+g.Title)
	}
	return list
}

// helpTopic returns the guide with the given topic as text for a terminal.
func helpTopic(name string) (string, error) {
	g, found := guides.Find(name)
	if !found {
		return "", fmt.Errorf("unknown guide %q", name)
	}
	if g.Topic != "api" {
		return g.Terminal(), nil
	}
	requests, err := curlExamples()
	return g.Terminal() + requests, err
}

// curlExamples returns the last section of the API guide: a curl example for each
// request, generated from the OpenAPI description.
func curlExamples() (string, error) {
	samples, err := api.Samples("http://" + config.Default().Listen)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("\n## All requests\n\nThese examples use the key in $KEY and the document Deed.pdf. Use your own IDs.\n")
	for _, s := range samples {
		fmt.Fprintf(&b, "\n%s %s: %s\n\n```\n%s\n```\n", s.Method, s.Path, s.Summary, s.Curl)
	}
	return b.String(), nil
}

func (s *shell) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [TOPIC or COMMAND]...",
		Short: "Show a guide or help for a command",
		Long:  "Show a guide or help for a command. Guides:\n\n" + topicTable(),
		Example: `  deedkeep help install
  deedkeep help keys create`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: fixedWords(topicCompletions()...),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			if text, err := helpTopic(args[0]); err == nil && len(args) == 1 {
				return s.print(map[string]string{"topic": args[0], "text": text}, "%s", text)
			}
			found, rest, err := root.Find(args)
			if err != nil || found == root || len(rest) > 0 {
				return &usageError{fmt.Errorf("unknown guide or command %q (guides: %s)", strings.Join(args, " "), strings.Join(topicNames(), ", "))}
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

func topicNames() (list []string) {
	for _, name := range topicCompletions() {
		word, _, _ := strings.Cut(name, "\t")
		list = append(list, word)
	}
	return list
}

func topicTable() string {
	var b strings.Builder
	for _, name := range topicCompletions() {
		word, heading, _ := strings.Cut(name, "\t")
		fmt.Fprintf(&b, "  %-12s %s\n", word, heading)
	}
	return strings.TrimRight(b.String(), "\n")
}
