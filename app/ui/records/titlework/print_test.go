package titlework

import (
	"testing"

	"deedkeep/app/model"
)

// Fields for the firm only are recognized by their key or their label.
func TestIsInternal(t *testing.T) {
	for _, row := range []struct {
		key, label string
		want       bool
	}{
		{"internal_notes", "For us", true}, {"field_7", "Remarks of the examiner", true}, {"field_8", "Private memo", true},
		{"file_number", "File number", false}, {"search_from", "Search from", false},
	} {
		if got := isInternal(model.Field{Key: row.key, Label: row.label}); got != row.want {
			t.Errorf("isInternal(%q, %q) = %v, want %v", row.key, row.label, got, row.want)
		}
	}
}
