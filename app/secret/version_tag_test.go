package secret

import (
	"math"
	"testing"
)

func TestVersionTagVectors(t *testing.T) {
	keys := testKeys(t)
	for _, row := range []struct {
		kind        string
		id, version uint64
		want        string
	}{
		{"abstract", 1, 1, "qpYZJ0iQrXiGDM1gxL-dig"},
		{"abstract", 1, 2, "gK_hbY8cTL4bHali0zpYfQ"},
		{"abstract", 2, 1, "i47LkjhGv_oSjGkEHjDutg"},
		{"order", 1, 1, "1C0P6CIoPUp3yO8zDcvFBw"},
		{"order", math.MaxUint64, math.MaxUint64, "_5qHYxA1spYRivCZZkdcHQ"},
	} {
		tags := keys.VersionTags(row.kind)
		if got := tags.Encode(row.id, row.version); got != row.want {
			t.Errorf("%s: Encode(%d, %d) = %s, want %s", row.kind, row.id, row.version, got, row.want)
		}
		if version, ok := tags.Decode(row.id, row.want); !ok || version != row.version {
			t.Errorf("Decode(%s) = %d, %v", row.want, version, ok)
		}
		if _, ok := tags.Decode(row.id+1, row.want); ok {
			t.Errorf("Decode(%s) with another record: got ok", row.want)
		}
	}
}

func FuzzVersionTag(f *testing.F) {
	tags := testKeys(f).VersionTags("order")
	for _, seed := range []string{"", tags.Encode(7, 1), tags.Encode(7, 9) + "\n", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB", "*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if version, ok := tags.Decode(7, text); ok && tags.Encode(7, version) != text {
			t.Fatalf("Decode accepted %q, want only the canonical tag of version %d", text, version)
		}
	})
}
