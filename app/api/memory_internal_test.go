package api

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"deedkeep/app/decode"
	"deedkeep/app/httpx"
)

// DecodedCost returns an upper bound of the memory that is allocated to decode a body.
func TestDecodedCost(t *testing.T) {
	const members, slack = 20_000, 32 << 10 // slack is needed because large allocations are rounded up
	repeat := func(text string) string { return strings.Repeat(text, members-1) }
	keys := func(value string) string {
		var b strings.Builder
		for i := range members {
			fmt.Fprintf(&b, `,"%05d":%s`, i, value)
		}
		return b.String()[1:]
	}
	for _, row := range []struct{ name, body string }{
		{"an order", `{"order_number":"T-1","city":"Salem"}`},
		{"members", "{" + keys("1") + "}"},
		{"long members", "{" + keys(`"`+strings.Repeat("v", 100)+`"`) + "}"},
		{"custom fields", `{"custom_fields":{` + keys("1") + "}}"},
		{"an array", "{\"custom_fields\":[" + repeat("0,") + "0]}"},
		{"rows of an instrument", `{"relations":[` + strings.Repeat(`{"a":0},`, members/2) + "{}]}"},
		{"names of an instrument", `{"grantors":[` + repeat("0,") + "0]}"},
		{"deep arrays", "{\"custom_fields\":[" + strings.Repeat(strings.Repeat("[", 20)+strings.Repeat("]", 20)+",", members/20) + "[]]}"},
		{"a string", `{"order_number":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"an escaped string", `{"order_number":"\n` + strings.Repeat("x", 1<<20) + `"}`},
		{"pairs", strings.Repeat("a=b+&", members)},
	} {
		t.Run(row.name, func(t *testing.T) {
			raw := []byte(row.body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if raw[0] == '{' {
				sent, err := decode.Object(raw)
				if err != nil {
					t.Fatalf("decode.Object: %v", err)
				}
				inputs(sent, "order_number", "relations", "grantors")
				custom(sent["custom_fields"])
			} else if _, err := decode.ParseForm(raw); err != nil {
				t.Fatalf("decode.ParseForm: %v", err)
			}
			runtime.ReadMemStats(&after)
			if took, cost := int64(after.TotalAlloc-before.TotalAlloc), httpx.DecodedCost(raw); took > cost+slack {
				t.Errorf("allocated = %d bytes, want at most DecodedCost() = %d", took, cost)
			}
		})
	}
}
