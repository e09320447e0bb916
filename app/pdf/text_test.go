package pdf

import "testing"

func TestPlainText(t *testing.T) {
	for _, c := range []struct {
		name     string
		units    []uint16
		maxBytes int64
		want     string
	}{
		{"lines", []uint16{'a', '\r', '\n', 'b', '\t', 'c'}, 0, "a\nb\tc"},
		{"hyphens at line ends", []uint16{'a', 2, '\r', '\n', 'b', 0xFFFE, 'c'}, 0, "a-\nb-c"},
		{"controls and noncharacters", []uint16{0, 'a', 7, 0x85, 0xFFFF, 'b', 0x7F}, 0, "ab"},
		{"a pair of surrogates", []uint16{0xD842, 0xDF9F}, 0, "𠮟"},
		{"surrogates alone", []uint16{0xD842, 'x', 0xDF9F}, 0, "\uFFFDx\uFFFD"},
		{"limit", []uint16{'a', 0xE9, 'b'}, 3, "aé"},
		{"limit within a character", []uint16{'a', 0xE9, 'b'}, 2, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := plainText(c.units, c.maxBytes); got != c.want {
				t.Errorf("plainText = %q, want %q", got, c.want)
			}
		})
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height float64
		want          int
		w, h          int
	}{
		{"letter", 612, 792, 850, 850, 1100},
		{"no width", 612, 792, 0, 1, 1},
		{"a strip", 1, 14400, 1000, 34, 491520},
		{"a line", 14400, 0.001, 1000, 1000, 1},
		{"an endless line", 1e-9, 14400, 100, 1, MaxPixels},
		{"a giant", 612, 792, 1 << 30, 3600, 4659},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, h := fit(c.width, c.height, c.want)
			if w*h > MaxPixels || w < 1 || h < 1 || abs(w-c.w) > 1 || abs(h-c.h) > c.h/100 {
				t.Errorf("fit = %d x %d, want %d x %d", w, h, c.w, c.h)
			}
		})
	}
}

func abs(n int) int { return max(n, -n) }
