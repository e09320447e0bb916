package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// FileName is the name of the settings file, which is in the data directory or next to the binary.
const FileName = "config.yaml"

// maxFileSize is the maximum size of the settings file. A larger file can't have been written by hand.
const maxFileSize = 1 << 20

// entry is a key with its value and the source of that value.
type entry struct {
	key    string
	source string
	value  rawValue
}

// readFile reads the settings file at path. The error is not nil if the file can't be opened or read; all other
// problems are in Problems.
func readFile(path string, known []string) ([]entry, Problems, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }() // read-only
	text, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxFileSize {
		return nil, Problems{{Source: path, Reason: "is longer than 1 MB and no settings file"}}, nil
	}
	entries, problems := parseFile(path, text, known)
	return entries, problems, nil
}

// parseFile parses the text into YAML nodes. Decoding it into a map would lose line numbers and duplicate keys.
func parseFile(path string, text []byte, known []string) ([]entry, Problems) {
	walk := yamlReader{path: path, known: known}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		walk.notYAML(err)
		return nil, walk.problems
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		walk.report(&second, "", "a second document begins here; a settings file has one")
	case !errors.Is(err, io.EOF):
		walk.notYAML(err)
	}
	if len(document.Content) == 1 {
		walk.section(document.Content[0], "")
	}
	return walk.entries, walk.problems
}

// yamlReader collects the settings and problems in a settings file.
type yamlReader struct {
	path     string
	known    []string
	entries  []entry
	problems Problems
}

func (w *yamlReader) source(line int) string { return fmt.Sprintf("%s:%d", w.path, line) }

func (w *yamlReader) report(node *yaml.Node, key, reason string) {
	w.problems = append(w.problems, Problem{Source: w.source(node.Line), Key: key, Reason: reason})
}

// notYAML reports a syntax error. It takes the line number from the parser's message, such as `yaml: line 3: did not
// find …`.
func (w *yamlReader) notYAML(err error) {
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	where := w.path
	if found := regexp.MustCompile(`^line (\d+): (.*)`).FindStringSubmatch(reason); found != nil {
		where, reason = w.path+":"+found[1], found[2]
	}
	w.problems = append(w.problems, Problem{Source: where, Reason: "is not valid YAML: " + reason})
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

// section reads a mapping. A mapping that contains only comments is null in YAML and sets nothing.
func (w *yamlReader) section(node *yaml.Node, prefix string) {
	if isNull(node) {
		return
	}
	if node.Kind != yaml.MappingNode {
		w.report(node, strings.TrimSuffix(prefix, "."), "must be a section with keys and values of its own")
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := prefix + name.Value
		if first, duplicate := lines[name.Value]; duplicate {
			w.report(name, key, fmt.Sprintf("is set twice, first in line %d", first))
			continue
		}
		lines[name.Value] = name.Line
		w.pair(name, value, key)
	}
}

func (w *yamlReader) pair(name, value *yaml.Node, key string) {
	isPart := func(known string) bool { return strings.HasPrefix(known, key+".") }
	switch {
	case name.Kind != yaml.ScalarNode || strings.Contains(name.Value, ".") || name.Value == "":
		w.report(name, key, "is not a key; write sections and keys as \"deedkeep config example\" does")
	case slices.Contains(w.known, key):
		w.leaf(value, key)
	case slices.ContainsFunc(w.known, isPart):
		w.section(value, key+".")
	default:
		w.report(name, key, unknownSetting(key, w.known))
	}
}

func (w *yamlReader) leaf(node *yaml.Node, key string) {
	value := rawValue{text: node.Value, isList: node.Kind == yaml.SequenceNode}
	switch {
	case isNull(node):
		w.report(node, key, "has no value; write one, or leave the line out for the default")
		return
	case node.Kind == yaml.AliasNode:
		w.report(node, key, "is an alias; write the value itself")
		return
	case node.Kind == yaml.MappingNode:
		w.report(node, key, "must be a value, not a section")
		return
	}
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode || isNull(item) {
			w.report(item, key, "must be a list of plain values")
			return
		}
		value.list = append(value.list, item.Value)
	}
	w.entries = append(w.entries, entry{key: key, source: w.source(node.Line), value: value})
}

func unknownSetting(name string, known []string) string {
	if near := closestName(name, known); near != "" {
		return "is not a setting; did you mean " + near + "?"
	}
	return "is not a setting"
}
