package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/strictyaml"
)

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

// openDefinitions opens the definition file at path. "-" means standard input.
func (s *shell) openDefinitions(path string) (name string, file io.ReadCloser, err error) {
	if path == "-" {
		return "standard input", io.NopCloser(s.in), nil
	}
	file, err = os.Open(path)
	return path, file, err
}

// parseDefinitions decodes the list under key, which must be the only key of the file. The
// returned strictYAML has the lines of the list. The error contains all problems, one per
// line.
func parseDefinitions[T any](name string, r io.Reader, key string) (list []T, s *strictYAML, err error) {
	s = &strictYAML{name: name, lines: map[string]int{}}
	root, err := s.parse(r)
	if err != nil {
		return nil, s, err
	}
	found := false
	s.mapping(root, "", []string{key}, func(_ string, value *yaml.Node) {
		found = true
		s.decode(value, key, reflect.ValueOf(&list).Elem())
	})
	if len(s.problems) == 0 && !found {
		s.addProblem(root, "missing key %s", key)
	}
	if len(s.problems) > 0 {
		return nil, s, errors.New(strings.Join(s.problems, "\n"))
	}
	return list, s, nil
}

// parse returns the root node of the file, which must contain exactly one document. It
// doesn't check the nodes.
func (s *strictYAML) parse(r io.Reader) (*yaml.Node, error) {
	text, err := strictyaml.Read(r)
	if errors.Is(err, strictyaml.ErrTooLong) {
		return nil, fmt.Errorf("%s %w", s.name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		if text, err = s.jsonToYAML(text); err != nil {
			return nil, err
		}
	}
	root, err := strictyaml.Parse(text)
	switch failed, ok := errors.AsType[*strictyaml.Error](err); {
	case ok && failed.Reason == "":
		return nil, fmt.Errorf("%s: the file must contain only one YAML document", failed.Position(s.name))
	case ok:
		return nil, fmt.Errorf("%s: not valid YAML: %s", failed.Position(s.name), failed.Reason)
	case root == nil:
		return nil, fmt.Errorf("%s is empty", s.name)
	}
	return root, nil
}

// jsonText matches a string in JSON and, after a key, the colon.
var jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?`)

// jsonToYAML checks that text is JSON and replaces what YAML reads differently: the escape
// sequences of strings, and a colon on another line than its key.
func (s *strictYAML) jsonToYAML(text []byte) ([]byte, error) {
	if err := json.Unmarshal(text, new(any)); err != nil {
		at := s.name
		if syntaxErr, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = fmt.Sprintf("%s:%d", s.name, 1+bytes.Count(text[:min(int(syntaxErr.Offset), len(text))], []byte("\n")))
		}
		return nil, fmt.Errorf("%s: not valid JSON: %w", at, err)
	}
	return jsonText.ReplaceAllFunc(text, func(token []byte) []byte {
		end := bytes.LastIndexByte(token, '"') + 1
		var value string
		_ = json.Unmarshal(token[:end], &value) // can't fail, because text is valid
		yamlText := strconv.QuoteToASCII(value)
		if space, isKey := bytes.CutSuffix(token[end:], []byte(":")); isKey {
			yamlText += ":" + string(space)
		}
		return []byte(yamlText)
	}), nil
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

// checkNode records the line of a value and reports whether the value is usable. Aliases,
// tags, and null are not.
func (s *strictYAML) checkNode(node *yaml.Node, path string) bool {
	s.lines[path] = node.Line
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		s.addProblem(node, "YAML anchors and aliases (& and *) are not supported; write the value out")
	case node.Style&yaml.TaggedStyle != 0:
		s.addProblem(node, "YAML tags (!) are not supported")
	case node.Tag == "!!null":
		s.addProblem(node, "%s has no value; omit it, or use [] for an empty list", lastPathPart(path))
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

// mapping calls visit for each key of a mapping. It reports keys that are not in known and
// repeated keys as problems.
func (s *strictYAML) mapping(node *yaml.Node, path string, known []string, visit func(key string, value *yaml.Node)) {
	if !s.checkNode(node, path) {
		return
	}
	if node.Kind != yaml.MappingNode {
		s.addProblem(node, "must contain keys (valid keys: %s)", strings.Join(known, ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			s.addProblem(key, "unknown key %q (valid keys: %s)", key.Value, strings.Join(known, ", "))
		case seen[key.Value]:
			s.addProblem(key, "duplicate key %s", key.Value)
		default:
			seen[key.Value] = true
			visit(key.Value, value)
		}
	}
}

// decode stores the value of node in target. The keys of a mapping are the JSON names of the
// struct's fields. A text may be any scalar, because 30 and yes are valid names. A number is
// an ID.
func (s *strictYAML) decode(node *yaml.Node, path string, target reflect.Value) {
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	if target.Kind() == reflect.Struct {
		var known []string
		fields := map[string]reflect.Value{}
		for field, value := range target.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			known, fields[name] = append(known, name), value
		}
		s.mapping(node, path, known, func(key string, value *yaml.Node) { s.decode(value, path+"."+key, fields[key]) })
		return
	}
	if !s.checkNode(node, path) {
		return
	}
	wanted, valid := "text", node.Kind == yaml.ScalarNode
	switch target.Kind() {
	case reflect.Slice:
		wanted, valid = "a list", node.Kind == yaml.SequenceNode
		if valid {
			target.Set(reflect.MakeSlice(target.Type(), len(node.Content), len(node.Content)))
			for i, item := range node.Content {
				s.decode(item, fmt.Sprintf("%s.%d", path, i), target.Index(i))
			}
		}
	case reflect.String:
		target.SetString(node.Value)
	case reflect.Bool:
		wanted, valid = "true or false", valid && node.Tag == "!!bool"
		target.SetBool(strings.EqualFold(node.Value, "true"))
	default:
		n, err := strconv.ParseInt(node.Value, 10, 64)
		wanted, valid = "a number greater than 0", valid && node.Tag == "!!int" && err == nil && n > 0
		target.SetInt(n)
	}
	if !valid {
		s.addProblem(node, "%s must be %s", lastPathPart(path), wanted)
	}
}
