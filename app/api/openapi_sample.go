package api

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/tus"
)

// Sample is one request of the contract as a person types it: made of the examples that
// the description gives, with the key in $KEY and a document called Deed.pdf beside it.
type Sample struct {
	Method, Path, Summary string
	Curl                  string // several lines, without a newline at the end
}

// Samples gives every request of the contract, in the order of the description, for the
// installation at an address without a path.
func Samples(origin string) ([]Sample, error) {
	c, err := readContract()
	if err != nil {
		return nil, err
	}
	list := make([]Sample, 0, len(c.samples))
	for _, s := range c.samples {
		s.Curl = strings.ReplaceAll(s.Curl, anyOrigin, origin)
		list = append(list, s)
	}
	return list, nil
}

// methods are the members of a path that are operations.
var methods = []string{"get", "post", "put", "patch", "delete"}

// sampler writes samples out of a description.
type sampler struct{ root *yaml.Node }

// all adds a sample to each operation, as x-codeSamples, and gives the list of them.
func (s sampler) all() ([]Sample, error) {
	var list []Sample
	for path, item := range members(member(s.root, "paths")) {
		for method, operation := range members(item) {
			if !slices.Contains(methods, method) {
				continue
			}
			curl, err := s.curl(method, path, item, operation)
			if err != nil {
				return nil, fmt.Errorf("sample of %s %s: %w", method, path, err)
			}
			list = append(list, Sample{strings.ToUpper(method), path, scalar(member(operation, "summary")), curl})
			operation.Content = append(operation.Content, textNode("x-codeSamples"), &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{
				Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("lang"), textNode("Shell"), textNode("label"), textNode("curl"), textNode("source"), textNode(curl)},
			}}})
		}
	}
	return list, nil
}

// curl writes one request: what has to be sent, and no more. Optional headers and what
// all lists take besides are left out.
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
	end := quoted(address)
	responses := member(operation, "responses")
	if member(responses, "200", "content", "*/*") != nil {
		end = "-o Deed.pdf " + end
	}
	if member(responses, "302") != nil {
		end = "-L " + end
	}
	lines := slices.Concat([]string{begin}, headers, body, []string{end})
	if one := strings.Join(lines, " "); len(one) <= 110 {
		return one, nil
	}
	return strings.Join(lines, " \\\n  "), nil
}

// address fills a path, and asks for what the operation has of its own.
func (s sampler) address(path string, item, operation *yaml.Node) (string, error) {
	query := ""
	for _, of := range []*yaml.Node{member(item, "parameters"), member(operation, "parameters")} {
		if of == nil {
			continue
		}
		for _, given := range of.Content {
			p := s.resolve(given)
			name, example := scalar(member(p, "name")), member(p, "example")
			switch scalar(member(p, "in")) {
			case "path":
				if example == nil {
					return "", fmt.Errorf("parameter %s has no example", name)
				}
				path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(example.Value))
			case "query":
				if example != nil && (p == given || scalar(member(p, "required")) == "true") {
					query += "&" + name + "=" + url.QueryEscape(example.Value)
				}
			}
		}
	}
	if query != "" {
		path += "?" + query[1:]
	}
	if own := member(item, "servers"); own != nil {
		return anyOrigin + path, nil
	}
	return anyOrigin + "/v1" + path, nil
}

// headers writes those that an operation cannot do without.
func (s sampler) headers(item, operation *yaml.Node) (words []string) {
	for _, of := range []*yaml.Node{member(item, "parameters"), member(operation, "parameters")} {
		if of == nil {
			continue
		}
		for _, given := range of.Content {
			if p := s.resolve(given); scalar(member(p, "in")) == "header" && scalar(member(p, "required")) == "true" {
				words = append(words, "-H "+quoted(scalar(member(p, "name"))+": "+scalar(member(p, "example"))))
			}
		}
	}
	return words
}

// body writes what is sent: the first example of the first media type, and a document
// for each field that takes some.
func (s sampler) body(operation *yaml.Node) (words []string, err error) {
	for media, content := range members(member(operation, "requestBody", "content")) {
		var example *yaml.Node
		for _, first := range members(member(content, "examples")) {
			example = member(first, "value")
			break
		}
		if media == "application/json" {
			var b bytes.Buffer
			if err := writeJSON(&b, example); err != nil {
				return nil, err
			}
			return []string{"-H 'Content-Type: application/json'", "-d " + quoted(b.String())}, nil
		}
		if media == tus.MediaType {
			return []string{"-H " + quoted("Content-Type: "+media), "--data-binary @Deed.pdf"}, nil
		}
		for name, value := range members(example) {
			words = append(words, "-F "+quoted(name+"="+value.Value))
		}
		for name, property := range members(member(s.resolve(member(content, "schema")), "properties")) {
			if scalar(member(property, "items", "format")) == "binary" {
				words = append(words, "-F "+quoted(name+"=@Deed.pdf"))
			}
		}
		return words, nil
	}
	return nil, nil
}

// resolve follows a reference within the description.
func (s sampler) resolve(n *yaml.Node) *yaml.Node {
	reference := scalar(member(n, "$ref"))
	if reference == "" {
		return n
	}
	return member(s.root, strings.Split(strings.TrimPrefix(reference, "#/"), "/")...)
}

// quoted writes a word for a shell (POSIX 2.2.2).
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
