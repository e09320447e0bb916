package api

import (
	"bytes"
	"encoding/json"
	"iter"

	"go.yaml.in/yaml/v3"
)

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

// writeJSON writes a YAML node as JSON. Members keep their order.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return writeList(b, '{', '}', n.Content, 2)
	case yaml.SequenceNode:
		return writeList(b, '[', ']', n.Content, 1)
	default:
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		return writeValue(b, value)
	}
}

// writeList writes a JSON array or object to b, enclosed in begin and end. With step 1,
// list contains the elements of an array. With step 2, it contains the keys and values of
// an object.
func writeList(b *bytes.Buffer, begin, end byte, list []*yaml.Node, step int) error {
	b.WriteByte(begin)
	for i := 0; i < len(list); i += step {
		if i > 0 {
			b.WriteByte(',')
		}
		if step == 2 {
			if err := writeValue(b, list[i].Value); err != nil {
				return err
			}
			b.WriteByte(':')
		}
		if err := writeJSON(b, list[i+step-1]); err != nil {
			return err
		}
	}
	b.WriteByte(end)
	return nil
}

// writeValue writes value as JSON without HTML escaping.
func writeValue(b *bytes.Buffer, value any) error {
	to := json.NewEncoder(b)
	to.SetEscapeHTML(false)
	if err := to.Encode(value); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // remove the newline that Encode adds
	return nil
}
