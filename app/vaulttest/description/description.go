// Package description loads app/api/openapi.yaml for tests. The description allows additional properties, because later
// versions may add fields to responses. With them, a test would miss fields that the description lacks.
package description

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// LoadStrict loads a description and disallows additional properties in the named objects of responses. It leaves
// unnamed objects open, because they describe only some of their properties.
func LoadStrict(file string) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile(file)
	if err != nil {
		return nil, err
	}
	seen := map[*openapi3.Schema]bool{}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				for _, media := range response.Value.Content {
					closeAll(seen, media.Schema)
				}
			}
		}
	}
	return doc, nil
}

func closeAll(seen map[*openapi3.Schema]bool, refs ...*openapi3.SchemaRef) {
	for _, ref := range refs {
		if ref == nil || ref.Value == nil || seen[ref.Value] {
			continue
		}
		s := ref.Value
		seen[s] = true
		if more := &s.AdditionalProperties; ref.Ref != "" && len(s.Properties) > 0 && more.Has == nil && more.Schema == nil {
			more.Has = new(false)
		}
		for _, property := range s.Properties {
			closeAll(seen, property)
		}
		closeAll(seen, s.Items, s.AdditionalProperties.Schema)
		closeAll(seen, s.AnyOf...)
		closeAll(seen, s.OneOf...)
		closeAll(seen, s.AllOf...)
	}
}
