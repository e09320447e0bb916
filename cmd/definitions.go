package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

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

type fieldYAML struct {
	Key      string   `yaml:"key"`
	Label    string   `yaml:"label"`
	Type     string   `yaml:"type"`
	Required bool     `yaml:"required,omitempty"`
	Options  []string `yaml:"options,omitempty"`
}

type templateYAML struct {
	ID           int64       `yaml:"id,omitempty"`
	Name         string      `yaml:"name"`
	Default      bool        `yaml:"default"`
	Retired      bool        `yaml:"retired"`
	Statuses     []string    `yaml:"statuses"`
	CustomFields []fieldYAML `yaml:"custom_fields"`
}

func fieldsToYAML(list []apitypes.Field) []fieldYAML {
	out := []fieldYAML{}
	for _, f := range list {
		out = append(out, fieldYAML{f.Key, f.Label, f.Type, f.Required, f.Options})
	}
	return out
}

// printYAML prints comment and then v as a YAML document.
func (s *shell) printYAML(comment string, v any) error {
	var text bytes.Buffer
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(v), enc.Close()); err != nil {
		return err
	}
	return s.printf("# %s\n%s", comment, text.String())
}

// parseTemplates returns the templates in a definition file.
func parseTemplates(s *strictYAML, root *yaml.Node) []apitypes.TemplateDraft {
	top := s.mapping(root, "", "templates")
	list, ok := top["templates"]
	if !ok {
		s.missingKey(root, "templates")
		return nil
	}
	drafts := []apitypes.TemplateDraft{}
	for i, item := range s.sequence(list, "templates") {
		path := fmt.Sprintf("templates.%d", i)
		values := s.mapping(item, path, "id", "name", "default", "retired", "statuses", "custom_fields")
		var draft apitypes.TemplateDraft
		for name, value := range values {
			at := path + "." + name
			switch name {
			case "id":
				draft.ID = s.id(value, at)
			case "name":
				draft.Name = s.str(value, at)
			case "default":
				draft.Default = s.boolean(value, at)
			case "retired":
				draft.Retired = new(s.boolean(value, at))
			case "statuses":
				draft.Statuses = new(s.strs(value, at))
			case "custom_fields":
				draft.CustomFields = new(parseFields(s, value, at))
			}
		}
		drafts = append(drafts, draft)
	}
	return drafts
}

func parseFields(s *strictYAML, node *yaml.Node, path string) []apitypes.Field {
	fields := []apitypes.Field{}
	for i, item := range s.sequence(node, path) {
		path := fmt.Sprintf("%s.%d", path, i)
		var field apitypes.Field
		for name, value := range s.mapping(item, path, "key", "label", "type", "required", "options") {
			at := path + "." + name
			switch name {
			case "key":
				field.Key = s.str(value, at)
			case "label":
				field.Label = s.str(value, at)
			case "type":
				field.Type = s.str(value, at)
			case "required":
				field.Required = s.boolean(value, at)
			case "options":
				field.Options = s.strs(value, at)
			}
		}
		fields = append(fields, field)
	}
	return fields
}

// missingKey reports that the file lacks its only top-level key, unless other problems have
// already been reported.
func (s *strictYAML) missingKey(root *yaml.Node, key string) {
	if len(s.problems) == 0 {
		s.addProblem(root, "the key %s is missing", key)
	}
}

// importFunc sends parsed definitions to the server.
type importFunc func(context.Context, *control.Client) (apitypes.DefinitionsChanged, error)

// importDefinitions parses the definition file at path with prepare, sends the definitions
// to the server, and prints the changes.
func (s *shell) importDefinitions(ctx context.Context, path, recordType string, prepare func(*strictYAML, *yaml.Node) importFunc) error {
	file, root, err := s.readStrictYAML(path)
	if err != nil {
		return err
	}
	doImport := prepare(file, root)
	if file.sortProblems(); len(file.problems) > 0 {
		return file.err()
	}
	return s.withClient(ctx, func(ctx context.Context, c *control.Client) error {
		result, err := doImport(ctx, c)
		if err != nil {
			return file.explain(err)
		}
		return s.printChanged(result, recordType)
	})
}

// sortProblems sorts the problems by line. The parser finds them in random order because it
// iterates over maps.
func (s *strictYAML) sortProblems() {
	line := func(problem string) (n int) {
		_, _ = fmt.Sscanf(strings.TrimPrefix(problem, s.name+":"), "%d", &n) // addProblem wrote the line number
		return n
	}
	slices.SortStableFunc(s.problems, func(a, b string) int { return line(a) - line(b) })
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
func (s *shell) printChanged(result apitypes.DefinitionsChanged, recordType string) error {
	if s.json {
		if err := s.printJSON(result); err != nil {
			return err
		}
	} else if err := s.printDiff(result, recordType); err != nil {
		return err
	}
	if len(result.Losses) > 0 {
		return errors.New(strings.Join(append(result.Losses, "it would be refused"), "\n"))
	}
	return nil
}

func (s *shell) printDiff(result apitypes.DefinitionsChanged, recordType string) error {
	for _, d := range result.Changed {
		if err := s.printf("%s", diffText(d, recordType)); err != nil {
			return err
		}
	}
	switch {
	case len(result.Changed) == 0:
		return s.printf("nothing to change\n")
	case result.DryRun:
		return s.printf("nothing was written (--dry-run)\n")
	}
	return s.printf("imported\n")
}

// diffText formats one changed definition like this:
//
//	~ template 1 "Residential Abstract"
//	    name: "Residential" → "Residential Abstract"
//	  + parcel_id "Parcel ID", text
//	  ~ tax_status: label "Tax" → "Tax Status"; + "Unknown"; - "Due"
func diffText(d apitypes.Definition, recordType string) string {
	var b strings.Builder
	switch {
	case d.Created:
		fmt.Fprintf(&b, "+ %s %q\n", recordType, d.Name)
	case d.ID != nil:
		fmt.Fprintf(&b, "~ %s %d %q\n", recordType, *d.ID, d.Name)
	default:
		fmt.Fprintf(&b, "~ %s\n", recordType)
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
