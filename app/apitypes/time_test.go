package apitypes_test

import (
	"encoding/json"
	"testing"
	"time"

	"deedkeep/app/apitypes"
)

func TestTimeRejectsOtherFormats(t *testing.T) {
	for _, row := range []struct{ name, in string }{
		{"null", `null`}, {"number", `1780000000`}, {"empty", `""`}, {"no decimals", `"2026-05-29T04:00:00Z"`},
		{"three decimals", `"2026-05-29T04:00:00.000Z"`}, {"nine decimals", `"2026-05-29T04:00:00.000000000Z"`},
		{"comma", `"2026-05-29T04:00:00,000000Z"`}, {"offset", `"2026-05-29T04:00:00.000000+00:00"`},
		{"no such day", `"2026-02-30T04:00:00.000000Z"`}, {"blank", `" 2026-05-29T04:00:00.000000Z"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var at apitypes.Time
			if err := json.Unmarshal([]byte(row.in), &at); err == nil {
				t.Fatalf("unmarshal %s: got %s, want an error", row.in, at)
			}
		})
	}
}

func TestTimeRejectsYearsWithoutFourDigits(t *testing.T) {
	for _, year := range []int{-1, 10000} {
		if b, err := apitypes.Marshal(apitypes.At(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))); err == nil {
			t.Errorf("Marshal of year %d: got %s, want an error", year, b)
		}
	}
}

func TestAtSurvivesRoundTrip(t *testing.T) {
	at := apitypes.At(time.Date(2026, 12, 31, 23, 59, 59, 999999999, time.FixedZone("", 3600)))
	b, err := apitypes.Marshal(at)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	var back apitypes.Time
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("unmarshal %s: %v", b, err)
	}
	if back != at {
		t.Fatalf("got %s after a round trip, want %s", back, at)
	}
}

func FuzzTime(f *testing.F) {
	for _, s := range []string{`"2026-05-29T04:00:00.000000Z"`, `"0000-01-01T00:00:00.000000Z"`, `null`,
		`"2026-05-29T04:00:00,000000Z"`, `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var at apitypes.Time
		if json.Unmarshal(data, &at) != nil {
			return
		}
		b, err := json.Marshal(at)
		if err != nil {
			t.Fatalf("marshal %s: %v", at, err)
		}
		var again apitypes.Time
		if err := json.Unmarshal(b, &again); err != nil || again != at {
			t.Fatalf("%s encoded as %s and decoded = %s, %v; want %s", data, b, again, err, at)
		}
	})
}
