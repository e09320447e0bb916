package api

import (
	"bytes"
	"errors"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"deedkeep/app/apitypes"
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
