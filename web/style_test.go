package web

import (
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func styles(t *testing.T) string {
	t.Helper()
	names, err := fs.Glob(files, "static/style/*.css")
	if err != nil || len(names) == 0 {
		t.Fatalf("list the styles: got %v, %v", names, err)
	}
	var all strings.Builder
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatalf("read %s: %v", name, err)
		}
		all.Write(content)
	}
	return all.String()
}

// tokens returns the color variables in the first CSS block that starts with head.
func tokens(t *testing.T, css, head string) map[string]string {
	t.Helper()
	_, rest, found := strings.Cut(css, head)
	block, _, closed := strings.Cut(rest, "}")
	if !found || !closed {
		t.Fatalf("no block after %q", head)
	}
	colors := map[string]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(block, -1) {
		colors[m[1]] = m[2]
	}
	return colors
}

// luminance returns the relative luminance (WCAG 2.2) of a color, which consists of six hexadecimal
// digits.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(color, 16, 32)
	if err != nil || len(color) != 6 {
		t.Fatalf("color %q", color)
	}
	part := func(shift int) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// In both themes, every text color has a contrast of at least 4.5:1 on every background it is used
// on. Control borders and focus rings have at least 3:1 (WCAG 2.2 level AA, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	t.Parallel()
	css := styles(t)
	light := tokens(t, css, ":root {")
	dark := tokens(t, css, "@media (prefers-color-scheme: dark) {\n  :root {")
	for theme, colors := range map[string]map[string]string{"light": light, "dark": dark} {
		check := func(minRatio float64, front string, grounds ...string) {
			for _, ground := range grounds {
				a, b := luminance(t, colors[front]), luminance(t, colors[ground])
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < minRatio {
					t.Errorf("%s: %s on %s is %.2f to 1, less than %.1f", theme, front, ground, ratio, minRatio)
				}
			}
		}
		for _, text := range []string{"ink", "soft", "link", "good", "warn", "bad"} {
			check(4.5, text, "ground", "sheet", "sunk", "hover", "chosen")
		}
		for _, said := range []string{"good", "warn", "bad"} {
			check(4.5, said, said+"-tint")
		}
		check(4.5, "on-accent", "accent", "accent-over", "bad-fill", "bad-over")
		check(3, "line-strong", "ground", "sheet")
		check(3, "link", "ground", "sheet", "hover", "chosen")
	}
}

// Style sheets must not contain anything that the Content-Security-Policy of pages blocks, and must
// not load anything from other hosts.
func TestStylesStandAlone(t *testing.T) {
	t.Parallel()
	css := styles(t)
	for _, word := range []string{"url(", "@import", "http:", "https:", "@font-face", "expression("} {
		if strings.Contains(css, word) {
			t.Errorf("the styles have %q", word)
		}
	}
}
