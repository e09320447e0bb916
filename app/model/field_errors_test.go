package model

import (
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
)

// fieldErrors returns the errors as "field: message" lines, in order.
func fieldErrors(f errs.Fields) []string {
	var lines []string
	for _, field := range f {
		for _, sentence := range field.Sentences() {
			lines = append(lines, field.Field+": "+sentence)
		}
	}
	return lines
}

func checkFieldErrors(t *testing.T, f errs.Fields, want ...string) {
	t.Helper()
	if got := fieldErrors(f); !slices.Equal(got, want) {
		t.Errorf("field errors\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
