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
	"deedkeep/app/model"
)

// The files of definitions, as export writes and import reads them:
//
//	templates:                  custom_fields:        statuses:
//	  - id: 1                     - key: rush           - active
//	    name: Residential           label: Rush         - on_hold
//	    default: true               type: dropdown
//	    retired: false              required: false
//	    statuses: [New, Done]       options: [No, Yes]
//	    custom_fields: […]
//
// Names are those of the wire, so JSON that /v1 gave is such a file too.

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
	texts := []fieldYAML{}
	for _, f := range list {
		texts = append(texts, fieldYAML{f.Key, f.Label, f.Type, f.Required, f.Options})
	}
	return texts
}

// printYAML writes one document for people, with a first line that says what it is.
func (s *shell) printYAML(comment string, v any) error {
	var text bytes.Buffer
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(v), enc.Close()); err != nil {
		return err
	}
	return s.printf("# %s\n%s", comment, text.String())
}

// parseTemplates reads a file of templates.
func parseTemplates(s *strictYAML, root *yaml.Node) []apitypes.TemplateDraft {
	top := s.mapping(root, "", "templates")
	list, there := top["templates"]
	if !there {
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

// missingKey refuses a file that lacks its one key, unless it is wrong already.
func (s *strictYAML) missingKey(root *yaml.Node, key string) {
	if len(s.problems) == 0 {
		s.addProblem(root, "the key %s is missing", key)
	}
}

// importFunc sends what was read of a file.
type importFunc func(context.Context, *client.Client) (apitypes.DefinitionsChanged, error)

// importDefinitions sends what a file holds and says what it changed.
func (s *shell) importDefinitions(ctx context.Context, path, noun string, prepare func(*strictYAML, *yaml.Node) importFunc) error {
	sheet, root, err := s.readStrictYAML(path)
	if err != nil {
		return err
	}
	send := prepare(sheet, root)
	if sheet.sortProblems(); len(sheet.problems) > 0 {
		return sheet.err()
	}
	return s.withClient(ctx, func(ctx context.Context, c *client.Client) error {
		done, err := send(ctx, c)
		if err != nil {
			return sheet.explain(err)
		}
		return s.printChanged(done, noun)
	})
}

// sortProblems puts the problems in the order of their lines: a mapping was read in any.
func (s *strictYAML) sortProblems() {
	line := func(problem string) (n int) {
		_, _ = fmt.Sscanf(strings.TrimPrefix(problem, s.name+":"), "%d", &n) // it was written so
		return n
	}
	slices.SortStableFunc(s.problems, func(a, b string) int { return line(a) - line(b) })
}

// explain adds to what the vault refused where that stands in the file.
func (s *strictYAML) explain(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || len(refused.Errors) == 0 {
		return err
	}
	var lines []string
	for _, field := range refused.Errors {
		for _, sentence := range field.Sentences {
			if refused.Status == http.StatusUnprocessableEntity {
				sentence = s.position(field.Field) + ": " + sentence
			}
			lines = append(lines, sentence)
		}
	}
	if refused.Status == http.StatusConflict {
		lines = append(lines, "nothing was changed")
	}
	return errors.New(strings.Join(lines, "\n"))
}

// printChanged says what changed, or would; what stands against it is an error.
func (s *shell) printChanged(done apitypes.DefinitionsChanged, noun string) error {
	if s.json {
		if err := s.printJSON(done); err != nil {
			return err
		}
	} else if err := s.printDiff(done, noun); err != nil {
		return err
	}
	if len(done.Losses) > 0 {
		return errors.New(strings.Join(append(done.Losses, "it would be refused"), "\n"))
	}
	return nil
}

func (s *shell) printDiff(done apitypes.DefinitionsChanged, noun string) error {
	for _, d := range done.Changed {
		if err := s.printf("%s", diffText(d, noun)); err != nil {
			return err
		}
	}
	switch {
	case len(done.Changed) == 0:
		return s.printf("nothing to change\n")
	case done.DryRun:
		return s.printf("nothing was written (--dry-run)\n")
	}
	return s.printf("imported\n")
}

// diffText is one change of definitions for people:
//
//	~ template 1 "Residential Abstract"
//	    name: "Residential" → "Residential Abstract"
//	  + parcel_id "Parcel ID", text
//	  ~ tax_status: label "Tax" → "Tax Status"; + "Unknown"; - "Due"
func diffText(d apitypes.Definition, noun string) string {
	var b strings.Builder
	switch {
	case d.Created:
		fmt.Fprintf(&b, "+ %s %q\n", noun, d.Name)
	case d.ID != nil:
		fmt.Fprintf(&b, "~ %s %d %q\n", noun, *d.ID, d.Name)
	default:
		fmt.Fprintf(&b, "~ %s\n", noun)
	}
	for _, c := range d.Changes {
		if line := diffLine(d, c); line != "" {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

func diffLine(d apitypes.Definition, c apitypes.DefinitionChange) string {
	words := model.Change{Field: c.Field, From: c.From, To: c.To}.DescribeDefinition()
	switch {
	case strings.HasPrefix(c.Field, "custom_fields."):
		return words
	case d.Created && c.Field == "name":
		return "" // it is in the line above
	case d.Created && c.Field != "custom_fields" && c.Field != "statuses":
		return fmt.Sprintf("  %s: %s", c.Field, c.To)
	}
	return "  " + words
}
