package cmd

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

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
	var man string
	cmd := &cobra.Command{
		Use:   "help [TOPIC or COMMAND]...",
		Short: "Show a guide or help for a command",
		Long: "Show a guide or help for a command. With --man, the command writes man pages instead.\n\nGuides:\n\n" +
			topicTable(),
		Example: `  deedkeep help install
  deedkeep help keys create
  deedkeep help --man /usr/local/share/man/man1`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: fixedWords(topicCompletions()...),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case man != "" && len(args) > 0:
				return &usageError{errors.New("--man writes the pages of all commands; leave out the arguments")}
			case man != "":
				return writeManPages(root, man)
			case len(args) == 0:
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
	cmd.Flags().StringVar(&man, "man", "", "write man pages to this directory")
	return cmd
}

// writeManPages writes a man page for each command. It creates the directory if it doesn't exist.
func writeManPages(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // every user may read the man pages
		return err
	}
	root.DisableAutoGenTag = true // the pages of a version are always the same
	return doc.GenManTree(root, &doc.GenManHeader{Title: "DEEDKEEP", Section: "1", Source: "deedkeep", Manual: "deedkeep", Date: &time.Time{}}, dir)
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
		fmt.Fprintf(&b, "  %-16s %s\n", word, heading)
	}
	return strings.TrimRight(b.String(), "\n")
}
