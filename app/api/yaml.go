package api

import (
	"bytes"
	"encoding/json"
	"iter"

	"go.yaml.in/yaml/v3"
)

// textNode is a YAML node of a text.
func textNode(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// scalar is a node's value; "" for none.
func scalar(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

// member walks into objects, key by key; nil where there is none.
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

// members are those of an object, in their order; none of anything else.
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

// writeJSON writes a YAML node as JSON, its members in their order.
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

func writeValue(b *bytes.Buffer, value any) error {
	to := json.NewEncoder(b)
	to.SetEscapeHTML(false)
	if err := to.Encode(value); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // its newline
	return nil
}
