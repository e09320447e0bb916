package api

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
	"deedkeep/app/tus"
)

// Sample is a curl command for one API operation. The command uses the example values from
// the OpenAPI description, the API key in $KEY, and a file named Deed.pdf.
type Sample struct {
	Method, Path, Summary string
	Curl                  string // one or more lines, without a trailing newline
}

// Samples returns a sample of each operation, in the same order as in the description.
// origin is the base URL of the server, without a path.
func Samples(origin string) ([]Sample, error) {
	c, err := loadDescription()
	if err != nil {
		return nil, err
	}
	list := make([]Sample, 0, len(c.samples))
	for _, s := range c.samples {
		s.Curl = strings.ReplaceAll(s.Curl, originPlaceholder, origin)
		list = append(list, s)
	}
	return list, nil
}

// operationMethods are the fields of an OpenAPI path item that contain operations.
var operationMethods = []string{"get", "post", "put", "patch", "delete"}

// sampler generates samples from an OpenAPI description.
type sampler struct{ root *yaml.Node }

// all adds a sample to each operation as x-codeSamples. It returns all samples.
func (s sampler) all() ([]Sample, error) {
	var list []Sample
	for path, item := range members(member(s.root, "paths")) {
		for method, operation := range members(item) {
			if !slices.Contains(operationMethods, method) {
				continue
			}
			curl, err := s.curl(method, path, item, operation)
			if err != nil {
				return nil, fmt.Errorf("build sample of %s %s: %w", method, path, err)
			}
			list = append(list, Sample{strings.ToUpper(method), path, scalar(member(operation, "summary")), curl})
			operation.Content = append(operation.Content, textNode("x-codeSamples"), &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{
				Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("lang"), textNode("Shell"), textNode("label"), textNode("curl"),
					textNode("source"), textNode(curl)},
			}}})
		}
	}
	return list, nil
}

// curl returns the curl command for an operation. It omits optional headers and the
// optional parameters that all lists have in common.
func (s sampler) curl(method, path string, item, operation *yaml.Node) (string, error) {
	body, err := s.body(operation)
	if err != nil {
		return "", err
	}
	address, err := s.address(path, item, operation)
	if err != nil {
		return "", err
	}
	headers := s.headers(item, operation)
	begin := "curl"
	if security := member(operation, "security"); security == nil || len(security.Content) > 0 {
		begin += ` -H "Authorization: Bearer $KEY"`
	}
	if method != "get" && (method != "post" || len(body) == 0) {
		begin += " -X " + strings.ToUpper(method)
	}
	end := shellQuote(address)
	responses := member(operation, "responses")
	if member(responses, "200", "content", "*/*") != nil {
		end = "-o Deed.pdf " + end
	}
	if member(responses, "302") != nil {
		end = "-L " + end
	}
	lines := slices.Concat([]string{begin}, headers, body, []string{end})
	if line := strings.Join(lines, " "); len(line) <= 110 {
		return line, nil
	}
	return strings.Join(lines, " \\\n  "), nil
}

// ofOneList matches a reference to a parameter that only one list and its files have.
var ofOneList = regexp.MustCompile(`[a-z]List[A-Z]\w*$`)

// address returns the URL of an operation with example values for its path parameters, its
// required query parameters, and the query parameters that only it or only one list has.
func (s sampler) address(path string, item, operation *yaml.Node) (string, error) {
	query := ""
	for _, list := range []*yaml.Node{member(item, "parameters"), member(operation, "parameters")} {
		if list == nil {
			continue
		}
		for _, node := range list.Content {
			p := s.resolve(node)
			name, example := scalar(member(p, "name")), member(p, "example")
			switch scalar(member(p, "in")) {
			case "path":
				if example == nil {
					return "", fmt.Errorf("parameter %s has no example", name)
				}
				path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(example.Value))
			case "query":
				own := p == node || ofOneList.MatchString(scalar(member(node, "$ref")))
				if example != nil && (own || scalar(member(p, "required")) == "true") {
					query += "&" + name + "=" + url.QueryEscape(example.Value)
				}
			}
		}
	}
	if query != "" {
		path += "?" + query[1:]
	}
	if servers := member(item, "servers"); servers != nil {
		return originPlaceholder + path, nil
	}
	return originPlaceholder + "/v1" + path, nil
}

// headers returns the curl arguments for the required headers of an operation.
func (s sampler) headers(item, operation *yaml.Node) (words []string) {
	for _, list := range []*yaml.Node{member(item, "parameters"), member(operation, "parameters")} {
		if list == nil {
			continue
		}
		for _, node := range list.Content {
			if p := s.resolve(node); scalar(member(p, "in")) == "header" && scalar(member(p, "required")) == "true" {
				words = append(words, "-H "+shellQuote(scalar(member(p, "name"))+": "+scalar(member(p, "example"))))
			}
		}
	}
	return words
}

// body returns the curl arguments for the request body. They use the first example of the
// first media type and send Deed.pdf for each list of files, and Runsheet.xlsx for a single file.
func (s sampler) body(operation *yaml.Node) (words []string, err error) {
	for media, content := range members(member(operation, "requestBody", "content")) {
		var example *yaml.Node
		for _, first := range members(member(content, "examples")) {
			example = member(first, "value")
			break
		}
		if media == "application/json" && example == nil {
			return []string{"-H 'Content-Type: application/json'", "-d '{}'"}, nil
		}
		if media == "application/json" {
			raw, err := toJSON(example)
			return []string{"-H 'Content-Type: application/json'", "-d " + shellQuote(string(raw))}, err
		}
		if media == tus.MediaType {
			return []string{"-H " + shellQuote("Content-Type: "+media), "--data-binary @Deed.pdf"}, nil
		}
		for name, value := range members(example) {
			words = append(words, "-F "+shellQuote(name+"="+value.Value))
		}
		for name, property := range members(member(s.resolve(member(content, "schema")), "properties")) {
			if scalar(member(property, "items", "format")) == "binary" {
				words = append(words, "-F "+shellQuote(name+"=@Deed.pdf"))
			}
			if scalar(member(property, "format")) == "binary" {
				words = append(words, "-F "+shellQuote(name+"=@Runsheet.xlsx"))
			}
		}
		return words, nil
	}
	return nil, nil
}

// resolve returns the node that n refers to. If n is not a reference, it returns n.
func (s sampler) resolve(n *yaml.Node) *yaml.Node {
	reference := scalar(member(n, "$ref"))
	if reference == "" {
		return n
	}
	return member(s.root, strings.Split(strings.TrimPrefix(reference, "#/"), "/")...)
}

// shellQuote puts word in single quotes for a POSIX shell (Shell Command Language, section
// 2.2.2).
func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// textNode returns a YAML string node.
func textNode(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// scalar returns the value of n, or "" if n is nil.
func scalar(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

// member follows keys through nested objects and returns the value. It returns nil if a key
// is missing.
func member(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var found *yaml.Node
		for name, value := range members(n) {
			if name == key {
				found = value
				break
			}
		}
		n = found
	}
	return n
}

// members iterates over the members of an object in order. If n is not an object, there are
// none.
func members(n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

// toJSON converts a YAML node to JSON. Members keep their order.
func toJSON(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	err := writeJSON(jsontext.NewEncoder(&b), n)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func writeJSON(to *jsontext.Encoder, n *yaml.Node) error {
	begin, end := jsontext.BeginArray, jsontext.EndArray
	switch n.Kind {
	case yaml.MappingNode:
		begin, end = jsontext.BeginObject, jsontext.EndObject
	case yaml.SequenceNode:
	default:
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		raw, err := apitypes.Marshal(value)
		if err != nil {
			return err
		}
		return to.WriteValue(raw)
	}
	err := to.WriteToken(begin)
	for i, item := range n.Content {
		switch {
		case err != nil:
			return err
		case n.Kind == yaml.MappingNode && i%2 == 0:
			err = to.WriteToken(jsontext.String(item.Value))
		default:
			err = writeJSON(to, item)
		}
	}
	return errors.Join(err, to.WriteToken(end))
}
