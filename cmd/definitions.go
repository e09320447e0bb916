package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

// The "export" commands write and the "import" commands read definition files in these
// formats:
//
//	templates:                  custom_fields:        statuses:
//	  - id: 1                     - key: rush           - active
//	    name: Residential           label: Rush         - on_hold
//	    default: true               type: dropdown
//	    retired: false              required: false
//	    statuses: [New, Done]       options: [No, Yes]
//	    custom_fields: […]
//
// The names are the same as in the API, so JSON from /v1 is also valid.

// exportCommand returns the command of group that prints the list under key as a definition
// file. what describes the file in its comment.
func exportCommand[T any](s *shell, group, key, short, what string, get func(*control.Client, context.Context) (T, error), list func(T) any) *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: short, Example: strings.ReplaceAll("  deedkeep GROUP export > GROUP.yaml\n  deedkeep GROUP export --json", "GROUP", group),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return query(s, cmd, get, func(result T) error { return s.printDefinitions(group, what, map[string]any{key: list(result)}) })
		},
	}
}

// printDefinitions prints v as JSON if --json is set, and otherwise as YAML with a comment.
func (s *shell) printDefinitions(group, what string, v any) error {
	if s.json {
		return s.printJSON(v)
	}
	var text bytes.Buffer
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(v), enc.Close()); err != nil {
		return err
	}
	return s.printf("# %s. To preview changes: deedkeep %s import FILE --dry-run\n%s", what, group, text.String())
}

// importCommand returns the command of group that imports the list under key of a definition
// file with send. record is how the changes call a definition without an ID.
func importCommand[T any](s *shell, group, key, record, short, long, example string,
	send func(c *control.Client, ctx context.Context, list []T, dryRun bool) (apitypes.DefinitionsChanged, error)) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: short, Long: long, Example: example,
		Annotations: missingArg(fmt.Sprintf("FILE is required; create one with \"deedkeep %s export\"", group)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, in, err := s.openDefinitions(args[0])
			if err != nil {
				return err
			}
			defer in.Close() //nolint:errcheck // only read from
			list, file, err := parseDefinitions[T](name, in, key)
			if err != nil {
				return err
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				result, err := send(c, ctx, list, dryRun)
				if err != nil {
					return file.explain(err)
				}
				return s.printChanged(result, record)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "preview only: show the changes without saving them")
	return cmd
}

// explain adds the file name and line number to validation errors from the server.
func (s *strictYAML) explain(err error) error {
	rejected, ok := errors.AsType[*client.Error](err)
	if !ok || len(rejected.Errors) == 0 {
		return err
	}
	var lines []string
	for _, field := range rejected.Errors {
		for _, sentence := range field.Sentences {
			if rejected.Status == http.StatusUnprocessableEntity {
				sentence = s.position(field.Field) + ": " + sentence
			}
			lines = append(lines, sentence)
		}
	}
	if rejected.Status == http.StatusConflict {
		lines = append(lines, "nothing was changed")
	}
	return errors.New(strings.Join(lines, "\n"))
}

// printChanged prints the changes. If values of records would lose their definition, it
// returns an error that lists them.
func (s *shell) printChanged(result apitypes.DefinitionsChanged, record string) error {
	var text strings.Builder
	for _, d := range result.Changed {
		text.WriteString(diffText(d, record))
	}
	switch {
	case len(result.Changed) == 0:
		text.WriteString("no changes\n")
	case result.DryRun:
		text.WriteString("dry run: nothing was saved\n")
	default:
		text.WriteString("imported\n")
	}
	if err := s.print(result, "%s", text.String()); err != nil || len(result.Losses) == 0 {
		return err
	}
	return errors.New(strings.Join(append(result.Losses, "this import would be rejected"), "\n"))
}

// diffText formats one changed definition like this:
//
//	~ template 1 "Residential Abstract"
//	    name: "Residential" → "Residential Abstract"
//	  + parcel_id "Parcel ID", text
//	  ~ tax_status: label "Tax" → "Tax Status"; + "Unknown"; - "Due"
func diffText(d apitypes.Definition, record string) string {
	var b strings.Builder
	switch {
	case d.Created:
		fmt.Fprintf(&b, "+ %s %q\n", record, d.Name)
	case d.ID != nil:
		fmt.Fprintf(&b, "~ %s %d %q\n", record, *d.ID, d.Name)
	default:
		fmt.Fprintf(&b, "~ %s\n", record)
	}
	for _, c := range d.Changes {
		if line := diffLine(d, c); line != "" {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

func diffLine(d apitypes.Definition, c apitypes.DefinitionChange) string {
	description := model.Change{Field: c.Field, From: c.From, To: c.To}.DescribeDefinition()
	switch {
	case strings.HasPrefix(c.Field, "custom_fields."):
		return description
	case d.Created && c.Field == "name":
		return "" // the heading already shows this change
	case d.Created && c.Field != "custom_fields" && c.Field != "statuses":
		return fmt.Sprintf("  %s: %s", c.Field, c.To)
	}
	return "  " + description
}
