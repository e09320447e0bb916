package cmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
)

func (s *shell) templatesCommand() *cobra.Command {
	return commandGroup("templates", "See and change the abstract templates", `  deedkeep templates list
  deedkeep templates export > templates.yaml
  deedkeep templates import templates.yaml --dry-run`,
		s.templatesList(), s.templatesShow(), s.templatesExport(), s.templatesImport(), s.templatesDefault(), s.templatesRetire())
}

func (s *shell) templatesList() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the templates that new abstracts may use",
		Example: "  deedkeep templates list\n  deedkeep templates list --all --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				list, err := c.Templates(ctx)
				if err != nil {
					return err
				}
				if !all {
					list = slices.DeleteFunc(list, func(t apitypes.TemplateDefinition) bool { return t.Retired })
				}
				if s.json {
					return s.printJSON(apitypes.List[apitypes.TemplateDefinition](list))
				}
				rows := [][]string{{"ID", "NAME", "FIELDS", "STATUSES", ""}}
				for _, t := range list {
					rows = append(rows, []string{strconv.FormatInt(t.ID, 10), t.Name, strconv.Itoa(len(t.CustomFields)), model.FormatStatuses(t.Statuses), templateState(t)})
				}
				return s.printTable(rows)
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
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one template with its fields",
		Example: "  deedkeep templates show 1",
		Args:    oneArg("a template's ID", `"deedkeep templates list" shows them`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withTemplate(cmd.Context(), args[0], findTemplate, func(t apitypes.TemplateDefinition) error {
				state := templateState(t)
				if state != "" {
					state = " (" + state + ")"
				}
				if err := s.printf("%d %s%s\nstatuses: %s\n\n", t.ID, t.Name, state, model.FormatStatuses(t.Statuses)); err != nil {
					return err
				}
				return s.printFields(t.CustomFields)
			})
		},
	}
}

func findTemplate(c *control.Client, ctx context.Context, id int64) (apitypes.TemplateDefinition, error) { //nolint:revive // the parameters match those of a method expression
	list, err := c.Templates(ctx)
	if err != nil {
		return apitypes.TemplateDefinition{}, err
	}
	i := slices.IndexFunc(list, func(t apitypes.TemplateDefinition) bool { return t.ID == id })
	if i < 0 {
		return apitypes.TemplateDefinition{}, fmt.Errorf("there is no template %d", id)
	}
	return list[i], nil
}

// withTemplate calls do with the template ID in arg. It prints the result with show, or as
// JSON if --json is set.
func (s *shell) withTemplate(ctx context.Context, arg string, do func(*control.Client, context.Context, int64) (apitypes.TemplateDefinition, error),
	show func(apitypes.TemplateDefinition) error) error {
	id, err := parseID(arg, "template", "deedkeep templates list --all")
	if err != nil {
		return err
	}
	return s.withClient(ctx, func(ctx context.Context, c *control.Client) error {
		t, err := do(c, ctx, id)
		switch {
		case err != nil:
			return explainNotFound(err, "template", arg)
		case s.json:
			return s.printJSON(t)
		}
		return show(t)
	})
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
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var ids []int64
			for _, arg := range args {
				id, err := parseID(arg, "template", "deedkeep templates list --all")
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return s.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				list, err := c.Templates(ctx)
				if err == nil {
					list, err = selectTemplates(list, ids, all)
				}
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
				Statuses: new([]string(t.Statuses)), CustomFields: new([]apitypes.Field(t.CustomFields))})
		}
		return s.printJSON(map[string]any{"templates": drafts})
	}
	file := struct {
		Templates []templateYAML `yaml:"templates"`
	}{[]templateYAML{}}
	for _, t := range list {
		file.Templates = append(file.Templates, templateYAML{t.ID, t.Name, t.Default, t.Retired, t.Statuses, fieldsToYAML(t.CustomFields)})
	}
	return s.printYAML(`abstract templates; "deedkeep templates import FILE --dry-run" shows what a change would do`, file)
}

func (s *shell) templatesImport() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Change and add templates by a file",
		Long: `Change and add templates by a YAML or JSON file, as export writes it; - is standard
input. A template is known by its id, else by its name; one that is not known is
made. Templates that the file does not name stay, and so does what a template in
it leaves out: statuses, custom_fields, retired. "default: true" moves the default.
The key of a field is a-z, 0-9 and _; what every abstract has anyway (county, status
and the like) cannot be the key of a custom field.

Refused is what would leave values of abstracts without a definition: a field, an
option or a status that goes, or a type that changes, while abstracts have such
values, in the trash too. Nothing is written then.`,
		Example: `  deedkeep templates import templates.yaml --dry-run
  deedkeep templates export 2 | sed 's/Zoning/Zoning Code/' | deedkeep templates import -`,
		Args: oneArg("the file", `"deedkeep templates export" writes one`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.importDefinitions(cmd.Context(), args[0], "template", func(file *strictYAML, root *yaml.Node) importFunc {
				drafts := parseTemplates(file, root)
				return func(ctx context.Context, c *control.Client) (apitypes.DefinitionsChanged, error) {
					return c.ImportTemplates(ctx, drafts, dryRun)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would change, and write nothing")
	return cmd
}

func (s *shell) templatesDefault() *cobra.Command {
	return &cobra.Command{
		Use:     "default ID",
		Short:   "Make a template the one that is used when none is named",
		Example: "  deedkeep templates default 2",
		Args:    oneArg("a template's ID", `"deedkeep templates list" shows them`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withTemplate(cmd.Context(), args[0], (*control.Client).SetDefaultTemplate, func(t apitypes.TemplateDefinition) error {
				return s.printf("%s is the default now\n", t.Name)
			})
		},
	}
}

func (s *shell) templatesRetire() *cobra.Command {
	return &cobra.Command{
		Use:   "retire ID",
		Short: "Take a template out of use for new abstracts; its abstracts stay",
		Long: `Take a template out of use for new abstracts; its abstracts stay as they are. The
default template cannot be retired. To bring one back, import it with
"retired: false".`,
		Example: "  deedkeep templates retire 3",
		Args:    oneArg("a template's ID", `"deedkeep templates list" shows them`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withTemplate(cmd.Context(), args[0], (*control.Client).RetireTemplate, func(t apitypes.TemplateDefinition) error {
				return s.printf("%s is retired\n", t.Name)
			})
		},
	}
}
