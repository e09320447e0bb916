package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) templatesCommand() *cobra.Command {
	return commandGroup("templates", "See and change the abstract templates", `  deedkeep templates list
  deedkeep templates export > templates.yaml
  deedkeep templates import templates.yaml --dry-run`,
		s.templatesList(), s.templatesShow(), s.templatesExport(),
		importCommand(s, "templates", "templates", "template", "Change and add templates by a file",
			`Change and add templates by a YAML or JSON file, as export writes it; - is standard
input. A template is known by its id, else by its name; one that is not known is
made. Templates that the file does not name stay, and so does what a template in
it leaves out: statuses, custom_fields, retired. "default: true" moves the default.
The key of a field is a-z, 0-9 and _; what every abstract has anyway (county, status
and the like) cannot be the key of a custom field.

Refused is what would leave values of abstracts without a definition: a field, an
option or a status that goes, or a type that changes, while abstracts have such
values, in the trash too. Nothing is written then.`,
			`  deedkeep templates import templates.yaml --dry-run
  deedkeep templates export 2 | sed 's/Zoning/Zoning Code/' | deedkeep templates import -`, (*control.Client).ImportTemplates),
		s.templateCommand("default", "Make a template the one that is used when none is named", "", "2",
			(*control.Client).SetDefaultTemplate, func(t apitypes.TemplateDefinition) string { return t.Name + " is the default now\n" }),
		s.templateCommand("retire", "Take a template out of use for new abstracts; its abstracts stay",
			`Take a template out of use for new abstracts; its abstracts stay as they are. The
default template cannot be retired. To bring one back, import it with
"retired: false".`, "3",
			(*control.Client).RetireTemplate, func(t apitypes.TemplateDefinition) string { return t.Name + " is retired\n" }))
}

func (s *shell) templatesList() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the templates that new abstracts may use",
		Example: "  deedkeep templates list\n  deedkeep templates list --all --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return query(s, cmd, (*control.Client).Templates, func(list []apitypes.TemplateDefinition) error {
				list = slices.DeleteFunc(list, func(t apitypes.TemplateDefinition) bool { return t.Retired && !all })
				return printList(s, list, "", "ID\tNAME\tFIELDS\tSTATUSES\t", func(t apitypes.TemplateDefinition) []any {
					return []any{t.ID, t.Name, len(t.CustomFields), model.FormatStatuses(t.Statuses), templateState(t)}
				})
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "retired ones too")
	return cmd
}

func templateState(t apitypes.TemplateDefinition) string {
	switch {
	case t.Retired:
		return "retired"
	case t.Default:
		return "default"
	}
	return ""
}

func (s *shell) templatesShow() *cobra.Command {
	return s.templateCommand("show", "Show one template with its fields", "", "1", findTemplate, func(t apitypes.TemplateDefinition) string {
		state := templateState(t)
		if state != "" {
			state = " (" + state + ")"
		}
		return fmt.Sprintf("%d %s%s\nstatuses: %s\n\n%s", t.ID, t.Name, state, model.FormatStatuses(t.Statuses), fieldTable(t.CustomFields))
	})
}

func findTemplate(c *control.Client, ctx context.Context, id int64) (apitypes.TemplateDefinition, error) { //nolint:revive // the parameters match those of a method expression
	list, err := c.Templates(ctx)
	i := slices.IndexFunc(list, func(t apitypes.TemplateDefinition) bool { return t.ID == id })
	if err == nil && i < 0 {
		err = fmt.Errorf("there is no template %d", id)
	}
	if err != nil {
		return apitypes.TemplateDefinition{}, err
	}
	return list[i], nil
}

// templateCommand returns a command for one template. It calls do and prints the result in
// the format of text. exampleID is the ID in the example.
func (s *shell) templateCommand(name, short, long, exampleID string,
	do func(*control.Client, context.Context, int64) (apitypes.TemplateDefinition, error), text func(apitypes.TemplateDefinition) string) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Long: long, Example: "  deedkeep templates " + name + " " + exampleID,
		Annotations: missingArg(`a template's ID is missing; "deedkeep templates list" shows them`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return queryID(s, cmd, args[0], "template", "deedkeep templates list --all", do, func(t apitypes.TemplateDefinition) error {
				return s.print(t, "%s", text(t))
			})
		},
	}
}

func (s *shell) templatesExport() *cobra.Command {
	var all, noIDs bool
	cmd := &cobra.Command{
		Use:   "export [ID...]",
		Short: "Print templates as a file that import reads",
		Long: `Print templates as YAML (with --json, as JSON) that import reads: all that are in
use, or those named. A template is known again by its id; --no-ids leaves the ids
out, for another vault, where the name counts.`,
		Example: `  deedkeep templates export > templates.yaml
  deedkeep templates export 2 --no-ids > commercial.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var ids []int64
			for _, arg := range args {
				id, err := parseID(arg, "template", "deedkeep templates list --all")
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return query(s, cmd, (*control.Client).Templates, func(list []apitypes.TemplateDefinition) error {
				list, err := selectTemplates(list, ids, all)
				if err != nil {
					return err
				}
				return s.printTemplates(list, noIDs)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "retired ones too")
	cmd.Flags().BoolVar(&noIDs, "no-ids", false, "leave the ids out, for another vault")
	return cmd
}

// selectTemplates returns the templates with the given IDs. If ids is empty, it returns all
// active templates or, if all is set, also the retired ones.
func selectTemplates(list []apitypes.TemplateDefinition, ids []int64, all bool) ([]apitypes.TemplateDefinition, error) {
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(t apitypes.TemplateDefinition) bool { return t.ID == id }) {
			return nil, fmt.Errorf("there is no template %d", id)
		}
	}
	return slices.DeleteFunc(list, func(t apitypes.TemplateDefinition) bool {
		if len(ids) > 0 {
			return !slices.Contains(ids, t.ID)
		}
		return t.Retired && !all
	}), nil
}

func (s *shell) printTemplates(list []apitypes.TemplateDefinition, noIDs bool) error {
	if noIDs {
		for i := range list {
			list[i].ID = 0
		}
	}
	if s.json {
		drafts := []apitypes.TemplateDraft{}
		for _, t := range list {
			drafts = append(drafts, apitypes.TemplateDraft{ID: t.ID, Name: t.Name, Default: t.Default, Retired: new(t.Retired),
				Statuses: new(t.Statuses), CustomFields: new(t.CustomFields)})
		}
		return s.printJSON(map[string]any{"templates": drafts})
	}
	return s.printDefinitions("templates", "abstract templates", map[string]any{"templates": list})
}
