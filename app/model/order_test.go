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
			t.Errorf("%s: Required = %v, want it for order_number alone", f.Key, f.Required)
		}
	}
	want := []string{"order_number", "due_date", "address", "city", "county", "state"}
	if label := CoreOrderFields()[0].Label; !slices.Equal(keys, want) || label != "Order #" {
		t.Errorf("core fields = %q, the first with the label %q; want %q and Order #", keys, label, want)
	}
}
