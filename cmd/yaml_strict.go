package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxYAMLSize is the maximum size of a definition file in bytes. Files written by hand are
// much smaller.
const maxYAMLSize = 1 << 20

// strictYAML parses a definition file, which is YAML, or JSON if it starts with a brace.
// Otherwise, a misspelled key would have no effect and cause no error. For this reason, the
// following are reported as problems, with their line numbers: unknown or repeated keys,
// values of the wrong type, a second document, anchors, and aliases. strictYAML remembers
// the line of each value by its path, such as templates.0.custom_fields.2.key, to add line
// numbers to the server's validation errors.
type strictYAML struct {
	name     string
	lines    map[string]int
	problems []string
}

// readStrictYAML reads and parses the definition file at path. "-" means standard input.
func (s *shell) readStrictYAML(path string) (*strictYAML, *yaml.Node, error) {
	name, in := path, s.in
	if path == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close() //nolint:errcheck // only read from
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxYAMLSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	file := &strictYAML{name: name, lines: map[string]int{}}
	root, err := file.parse(text)
	return file, root, err
}

// parse returns the root node of the file, which must contain exactly one document. It
// doesn't check the nodes.
func (s *strictYAML) parse(text []byte) (*yaml.Node, error) {
	if len(text) > maxYAMLSize {
		return nil, fmt.Errorf("%s is longer than 1 MB", s.name)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return s.parseJSON(text)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF) || err == nil && len(document.Content) != 1:
		return nil, fmt.Errorf("%s is empty", s.name)
	case err != nil:
		return nil, s.notYAML(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("%s:%d: a second document begins here; one is read", s.name, second.Line)
	case !errors.Is(err, io.EOF):
		return nil, s.notYAML(err)
	}
	return document.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^line (\d+): (.*)`)

// notYAML converts a YAML parser error such as "yaml: line 3: did not find …" to an error
// that starts with the file name and line number.
func (s *strictYAML) notYAML(err error) error {
	reason, where := strings.TrimPrefix(err.Error(), "yaml: "), s.name
	if match := yamlLine.FindStringSubmatch(reason); match != nil {
		where, reason = s.name+":"+match[1], match[2]
	}
	return fmt.Errorf("%s: not valid YAML: %s", where, reason)
}

// parseJSON converts JSON to YAML nodes. The YAML parser can't parse JSON, because JSON has
// different escape sequences.
func (s *strictYAML) parseJSON(text []byte) (*yaml.Node, error) {
	line := func(offset int64) int { return 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n")) }
	if err := json.Unmarshal(text, new(any)); err != nil {
		at := s.name
		if syntaxErr, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = fmt.Sprintf("%s:%d", s.name, line(syntaxErr.Offset))
		}
		return nil, fmt.Errorf("%s: not valid JSON: %w", at, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	lines := lineCounter{text: text, line: 1}
	return lines.value(decoder)
}

// lineCounter converts byte offsets to line numbers. The offsets must be increasing.
type lineCounter struct {
	text []byte
	at   int64
	line int
}

func (l *lineCounter) value(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	l.line += bytes.Count(l.text[l.at:d.InputOffset()], []byte("\n"))
	l.at = d.InputOffset()
	node := &yaml.Node{Kind: yaml.ScalarNode, Line: l.line}
	switch v := token.(type) {
	case json.Delim:
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
		if v == '[' {
			node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
		}
		for d.More() {
			child, err := l.value(d)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
		_, err = d.Token()
	case string:
		node.Tag, node.Value = "!!str", v
	case json.Number:
		node.Tag, node.Value = "!!float", v.String()
		if _, err := strconv.ParseInt(node.Value, 10, 64); err == nil {
			node.Tag = "!!int"
		}
	case bool:
		node.Tag, node.Value = "!!bool", strconv.FormatBool(v)
	default:
		node.Tag = "!!null"
	}
	return node, err
}

// position returns the file name and line number of the value at path. If the line isn't
// known, it returns that of the innermost enclosing value whose line is known.
func (s *strictYAML) position(path string) string {
	for ; path != ""; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
		if line, known := s.lines[path]; known {
			return fmt.Sprintf("%s:%d", s.name, line)
		}
	}
	return s.name
}

func (s *strictYAML) addProblem(node *yaml.Node, format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf("%s:%d: ", s.name, node.Line)+fmt.Sprintf(format, args...))
}

// err returns an error that lists all problems, one per line, or nil if there are none.
func (s *strictYAML) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(s.problems, "\n"))
}

// checkNode records the line of a value and reports whether the value is usable. Aliases,
// tags, and null are not.
func (s *strictYAML) checkNode(node *yaml.Node, path string) bool {
	s.lines[path] = node.Line
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		s.addProblem(node, "anchors and aliases (& and *) are not read here; write it out")
	case node.Style&yaml.TaggedStyle != 0:
		s.addProblem(node, "tags (!) are not read here")
	case node.Tag == "!!null":
		s.addProblem(node, "%s has no value; leave it out, or write [] for none", lastPathPart(path))
	default:
		return true
	}
	return false
}

func lastPathPart(path string) string {
	if path == "" {
		return "the file"
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// mapping returns the values of a mapping by key. It reports keys that are not in known and
// repeated keys as problems.
func (s *strictYAML) mapping(node *yaml.Node, path string, known ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	if !s.checkNode(node, path) {
		return values
	}
	if node.Kind != yaml.MappingNode {
		s.addProblem(node, "keys are wanted here: %s", strings.Join(known, ", "))
		return values
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			s.addProblem(key, "unknown key %q; there are %s", key.Value, strings.Join(known, ", "))
		case values[key.Value] != nil:
			s.addProblem(key, "the key %s is there twice", key.Value)
		default:
			values[key.Value] = value
		}
	}
	return values
}

func (s *strictYAML) sequence(node *yaml.Node, path string) []*yaml.Node {
	if !s.checkNode(node, path) {
		return nil
	}
	if node.Kind != yaml.SequenceNode {
		s.addProblem(node, "%s must be a list", lastPathPart(path))
		return nil
	}
	return node.Content
}

// str returns a scalar of any type as it is written in the file, because 30 and yes are
// valid names.
func (s *strictYAML) str(node *yaml.Node, path string) string {
	if !s.checkNode(node, path) {
		return ""
	}
	if node.Kind != yaml.ScalarNode {
		s.addProblem(node, "%s must be a text", lastPathPart(path))
		return ""
	}
	return node.Value
}

func (s *strictYAML) strs(node *yaml.Node, path string) []string {
	list := []string{}
	for i, item := range s.sequence(node, path) {
		list = append(list, s.str(item, fmt.Sprintf("%s.%d", path, i)))
	}
	return list
}

func (s *strictYAML) boolean(node *yaml.Node, path string) bool {
	if !s.checkNode(node, path) {
		return false
	}
	if node.Kind != yaml.ScalarNode || node.Tag != "!!bool" {
		s.addProblem(node, "%s must be true or false", lastPathPart(path))
	}
	return strings.EqualFold(node.Value, "true")
}

func (s *strictYAML) id(node *yaml.Node, path string) int64 {
	if !s.checkNode(node, path) {
		return 0
	}
	n, err := strconv.ParseInt(node.Value, 10, 64)
	if node.Kind != yaml.ScalarNode || node.Tag != "!!int" || err != nil || n <= 0 {
		s.addProblem(node, "%s must be a number above 0", lastPathPart(path))
	}
	return n
}
