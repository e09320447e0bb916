package apitypes

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 documents", 1: "1 document", 2: "2 documents", 1_000_000: "1000000 documents"} {
		if got := Count(n, "document", "documents"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
