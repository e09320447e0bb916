// Package description reads app/api/openapi.yaml for tests, closed. Responses may gain
// fields in later versions, so the description leaves its objects open. A test that
// checks responses against it would miss a field without a description.
package description

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// LoadStrict reads a description. Named objects of responses take no other fields than the
// ones they describe. An object without a name describes a part of what there is.
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
