package model

import (
	"slices"
	"testing"
)

func TestCoreOrderFields(t *testing.T) {
	var keys []string
	for _, f := range CoreOrderFields() {
		keys = append(keys, f.Key)
		if f.Required != (f.Key == "order_number") {
			t.Errorf("%s: required %v", f.Key, f.Required)
		}
	}
	if !slices.Equal(keys, []string{"order_number", "due_date", "address", "city", "county", "state"}) ||
		CoreOrderFields()[0].Label != "Order #" {
		t.Errorf("core fields %q", keys)
	}
}
