package cmd

import (
	"bytes"
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/api"
	"deedkeep/app/config"
)

// topicFiles are the guides for people who run the server. Each guide is a Markdown file
// whose first line is its heading. A test runs the shell blocks.
//
//go:embed help/*.md
var topicFiles embed.FS

// topicCompletions returns the guides in the form "name\theading".
func topicCompletions() (list []string) {
	files, _ := topicFiles.ReadDir("help") // can't fail, because the directory is embedded
	for _, file := range files {
		text, _ := topicFiles.ReadFile("help/" + file.Name())
		heading, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("# ")), []byte("\n"))
		list = append(list, strings.TrimSuffix(file.Name(), ".md")+"\t"+string(heading))
	}
	return list
}

func helpTopic(name string) (string, error) {
	text, err := topicFiles.ReadFile("help/" + name + ".md")
	if err != nil || name != "integrating" {
		return string(text), err
	}
	requests, err := curlExamples()
	return string(text) + requests, err
}

// curlExamples returns the last section of the integration guide: a curl example for each
// request, generated from the OpenAPI description.
func curlExamples() (string, error) {
	samples, err := api.Samples("http://" + config.Default().Listen)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("\n## Every request\n\nThe key is in $KEY, a document of yours is Deed.pdf; put your own ids in the places of these.\n")
	for _, s := range samples {
		fmt.Fprintf(&b, "\n%s %s: %s\n\n```\n%s\n```\n", s.Method, s.Path, s.Summary, s.Curl)
	}
	return b.String(), nil
}

func (s *shell) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [TOPIC or COMMAND]...",
		Short: "Show a guide, or what a command does",
		Long:  "Show a guide, or what a command does. The guides:\n\n" + topicTable(),
		Example: `  deedkeep help installing
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
				return &usageError{fmt.Errorf("there is no guide and no command %q; the guides are %s", strings.Join(args, " "), strings.Join(topicNames(), ", "))}
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
