package pdf

import "testing"

func TestEvenly(t *testing.T) {
	for _, c := range []struct{ pages, n int }{{1, 1}, {2, 2}, {20, 20}, {21, 20}, {301, 20}, {1 << 30, 20}} {
		list := evenly(c.pages, maxSampled)
		if len(list) != c.n || list[0] != 1 || list[len(list)-1] != c.pages {
			t.Errorf("evenly(%d) = %v, want %d numbers from 1 to %d", c.pages, list, c.n, c.pages)
		}
	}
}
