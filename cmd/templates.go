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
	return commandGroup("templates", "Manage abstract templates", `  deedkeep templates list
  deedkeep templates export > templates.yaml
  deedkeep templates import templates.yaml --dry-run`,
		s.templatesList(), s.templatesShow(), s.templatesExport(),
		importCommand(s, "templates", "templates", "template", "Create or update templates from a file",
			`Create or update templates from a file. The file is YAML or JSON, as written by
"deedkeep templates export"; - reads standard input. Templates are matched by ID, or by
name if the file has no ID. A template without a match is created. Templates that are
not in the file, and keys that the file omits (statuses, custom_fields, retired), don't
change. "default: true" makes a template the default. A field key can contain a-z, 0-9,
and _. It can't be the name of a built-in field, such as county or status.

You can't remove a field, an option, or a status, or change a field's type, while
abstracts have such values. Abstracts in the trash count, too. In that case nothing is
saved.`,
			`  deedkeep templates import templates.yaml --dry-run
  deedkeep templates export 2 | sed 's/Zoning/Zoning Code/' | deedkeep templates import -`, (*control.Client).ImportTemplates),
		s.templateCommand("default", "Set the default template", "", "2",
			(*control.Client).SetDefaultTemplate, func(t apitypes.TemplateDefinition) string { return t.Name + " is now the default template\n" }),
		s.templateCommand("retire", "Retire a template",
			`Retire a template. You can no longer use it for new abstracts; existing abstracts don't
change. You can't retire the default template. To restore a retired template, import it
with "retired: false".`, "3",
			(*control.Client).RetireTemplate, func(t apitypes.TemplateDefinition) string { return t.Name + " retired\n" }))
}

func (s *shell) templatesList() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List abstract templates",
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
	cmd.Flags().BoolVar(&all, "all", false, "include retired templates")
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
	return s.templateCommand("show", "Show a template and its fields", "", "1", findTemplate, func(t apitypes.TemplateDefinition) string {
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
		err = fmt.Errorf("template %d not found", id)
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
		Annotations: missingArg(`ID is required; list IDs with "deedkeep templates list"`),
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
		Short: "Export abstract templates",
		Long: `Export abstract templates. The output is YAML, or JSON with --json, for "deedkeep
templates import". Without an argument, all templates that are not retired are exported.
Import matches templates by ID. To import them on another server, use --no-ids; import
then matches them by name.`,
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
	cmd.Flags().BoolVar(&all, "all", false, "include retired templates")
	cmd.Flags().BoolVar(&noIDs, "no-ids", false, "omit the IDs, to import on another server")
	return cmd
}

// selectTemplates returns the templates with the given IDs. If ids is empty, it returns all
// active templates or, if all is set, also the retired ones.
func selectTemplates(list []apitypes.TemplateDefinition, ids []int64, all bool) ([]apitypes.TemplateDefinition, error) {
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(t apitypes.TemplateDefinition) bool { return t.ID == id }) {
			return nil, fmt.Errorf("template %d not found", id)
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
	return s.printDefinitions("templates", "Abstract templates", map[string]any{"templates": list})
}
