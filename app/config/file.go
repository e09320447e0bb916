package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/strictyaml"
)

// fileName is the name of the settings file, which is in the data directory or next to the binary.
const fileName = "config.yaml"

// entry is a key with its value, which is a string or a []string, and the source of that value.
type entry struct {
	key    string
	source string
	value  any
}

// readFile reads the settings file at path. The error is not nil if the file can't be opened or read; all other
// problems are in Problems.
func readFile(path string) ([]entry, Problems, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }() // read-only
	text, err := strictyaml.Read(file)
	if errors.Is(err, strictyaml.ErrTooLong) {
		return nil, Problems{{Source: path, Reason: err.Error() + " and no settings file"}}, nil
	}
	entries, problems := parseFile(path, text)
	return entries, problems, err
}

func parseFile(path string, text []byte) ([]entry, Problems) {
	r := fileReader{path: path}
	root, err := strictyaml.Parse(text)
	if failed, ok := errors.AsType[*strictyaml.Error](err); ok {
		reason := "must contain only one YAML document"
		if failed.Reason != "" {
			reason = "is not valid YAML: " + failed.Reason
		}
		r.problems = Problems{{Source: failed.Position(path), Reason: reason}}
	}
	if root != nil {
		r.section(root, "")
	}
	return r.entries, r.problems
}

// fileReader collects the settings and problems in a settings file.
type fileReader struct {
	path     string
	entries  []entry
	problems Problems
}

func (r *fileReader) source(line int) string { return fmt.Sprintf("%s:%d", r.path, line) }

func (r *fileReader) report(node *yaml.Node, key, reason string) {
	r.problems = append(r.problems, Problem{Source: r.source(node.Line), Key: key, Reason: reason})
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

// section reads a mapping. A mapping that contains only comments is null in YAML and sets nothing.
func (r *fileReader) section(node *yaml.Node, prefix string) {
	if isNull(node) {
		return
	}
	if node.Kind != yaml.MappingNode {
		r.report(node, strings.TrimSuffix(prefix, "."), "must be a section with keys and values")
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := prefix + name.Value
		if first, duplicate := lines[name.Value]; duplicate {
			r.report(name, key, fmt.Sprintf("is set twice; first in line %d", first))
			continue
		}
		lines[name.Value] = name.Line
		r.pair(name, value, key)
	}
}

func (r *fileReader) pair(name, value *yaml.Node, key string) {
	isPart := func(known string) bool { return strings.HasPrefix(known, key+".") }
	switch {
	case name.Kind != yaml.ScalarNode || strings.Contains(name.Value, ".") || name.Value == "":
		r.report(name, key, "is not a valid key; for the format, see \"deedkeep config example\"")
	case slices.Contains(allKeys(), key):
		r.leaf(value, key)
	case slices.ContainsFunc(allKeys(), isPart):
		r.section(value, key+".")
	default:
		r.report(name, key, unknownSetting(key, allKeys()))
	}
}

func (r *fileReader) leaf(node *yaml.Node, key string) {
	add := func(value any) { r.entries = append(r.entries, entry{key, r.source(node.Line), value}) }
	list := []string{}
	switch {
	case isNull(node):
		r.report(node, key, "has no value; set one, or remove the line to use the default")
	case node.Kind == yaml.AliasNode:
		r.report(node, key, "is a YAML alias; write the value itself")
	case node.Kind == yaml.MappingNode:
		r.report(node, key, "must be a value, not a section")
	case node.Kind == yaml.ScalarNode:
		add(node.Value)
	default:
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode || isNull(item) {
				r.report(item, key, "must be a list of simple values")
				return
			}
			list = append(list, item.Value)
		}
		add(list)
	}
}

func unknownSetting(name string, known []string) string {
	if near := similarNames(name, known); len(near) > 0 {
		return "is not a setting; did you mean " + strings.Join(near, " or ") + "?"
	}
	return "is not a setting"
}
