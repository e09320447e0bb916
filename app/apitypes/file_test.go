package apitypes_test

import (
	"math"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
)

func TestHumanSize(t *testing.T) {
	for _, row := range []struct {
		n    int64
		want string
	}{
		{-1, "0 B"}, {0, "0 B"}, {1, "1 B"}, {512, "512 B"}, {1023, "1023 B"},
		{1024, "1 KB"}, {1024 + 51, "1 KB"}, {1024 + 52, "1.1 KB"}, {1536, "1.5 KB"},
		{100 << 10, "100 KB"}, {248115, "242.3 KB"},
		{1<<20 - 52, "1023.9 KB"}, {1<<20 - 51, "1 MB"}, {1048575, "1 MB"}, {1 << 20, "1 MB"},
		{100 << 20, "100 MB"}, {100<<20 + 1, "100 MB"}, {5<<20 + 1<<19, "5.5 MB"},
		{1<<30 - 1, "1 GB"}, {1<<40 - 1, "1 TB"}, {1<<50 - 1, "1 PB"}, {1<<60 - 1, "1 EB"}, {math.MaxInt64, "8 EB"},
	} {
		if got := apitypes.HumanSize(row.n); got != row.want {
			t.Errorf("HumanSize(%d) = %q, want %q", row.n, got, row.want)
		}
	}
}

func TestHumanSizeNeverShows1024(t *testing.T) {
	for shift := 10; shift <= 60; shift += 10 {
		for d := int64(-200); d <= 200; d++ {
			got := apitypes.HumanSize(int64(1)<<shift + d)
			if strings.HasPrefix(got, "1024") || strings.Contains(got, ".0") {
				t.Fatalf("HumanSize(1<<%d%+d) = %q, want no 1024 and no .0", shift, d, got)
			}
		}
	}
}
