package api

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// The description of each list has the parameters that the list reads, and no others.
func TestEveryListParameter(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	for path, l := range map[string]listSpec{"/abstracts": abstractListSpec, "/orders": orderListSpec, "/file-vault/files": fileListSpec,
		"/instruments": instrumentListSpec, "/search": searchListSpec, "/trash": trashListSpec, "/events": eventListSpec} {
		item := doc.Paths.Value(path)
		if item == nil {
			t.Errorf("the description has no path %s", path)
			continue
		}
		var described []string
		for _, p := range item.Get.Parameters {
			if p.Value.In == "query" {
				described = append(described, p.Value.Name)
			}
		}
		isRejected := func(name string) bool {
			return slices.Contains(l.unsupported, name) || name == "q" && l.search == searchUnsupported
		}
		reads := slices.DeleteFunc(l.parameters(), isRejected)
		slices.Sort(described)
		slices.Sort(reads)
		if !slices.Equal(described, reads) {
			t.Errorf("the description of %s has the parameters %q, the list reads %q", path, described, reads)
		}
		for _, p := range item.Get.Parameters {
			if p.Value.Name != "sort" {
				continue
			}
			var sorts []string
			for _, s := range l.sorts {
				sorts = append(sorts, s.name, "-"+s.name)
			}
			var values []string
			for _, value := range p.Value.Schema.Value.Enum {
				values = append(values, value.(string))
			}
			slices.Sort(sorts)
			slices.Sort(values)
			if !slices.Equal(values, sorts) {
				t.Errorf("the description of %s can be sorted by %q, the list by %q", path, values, sorts)
			}
		}
	}
}
