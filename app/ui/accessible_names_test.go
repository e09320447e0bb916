package ui_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// Template actions inside attributes may contain quotes.
	classText  = regexp.MustCompile(`class="((?:[^"{]|\{[^{]|\{\{[^}]*\}\})*)"`)
	action     = regexp.MustCompile(`\{\{[^}]*\}\}`)
	quoted     = regexp.MustCompile("\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`")
	word       = regexp.MustCompile(`[a-z][a-z0-9-]*`)
	cssClass   = regexp.MustCompile(`\.([a-z][a-z-]*)`)
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	blockNamed = regexp.MustCompile(`\{\{-? *(define|template|block) "([^"]+)"`)
	dataNamed  = regexp.MustCompile(`\b(data-[a-z-]+)[=\s>"{\]]`)
)

// readFiles returns the contents of the files that match the pattern, by name. It fails the test if
// no file matches.
func readFiles(t *testing.T, pattern string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("filepath.Glob(%q) = %q, %v, want some files", pattern, names, err)
	}
	found := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("os.ReadFile: %v", err)
		}
		found[name] = string(content)
	}
	return found
}

// Every icon, class, block, and data attribute must be used.
func TestEveryIconClassAndBlockIsUsed(t *testing.T) {
	t.Parallel()
	pages, scripts, styles, code := readFiles(t, "../../web/pages/*.html"), readFiles(t, "../../web/static/script/*.js"),
		readFiles(t, "../../web/static/style/*.css"), readFiles(t, "*/*.go")
	// These classes are set by the libraries.
	words := map[string]bool{"htmx-request": true, "sortable-chosen": true, "sortable-ghost": true}
	icons := map[string]bool{}
	defined, shown := map[string]string{}, map[string]bool{"layout.html": true, "main": true, "head": true}
	for name, text := range pages {
		for _, m := range classText.FindAllStringSubmatch(text, -1) {
			addWords(words, m[1])
		}
		for _, m := range action.FindAllString(text, -1) {
			for _, q := range quoted.FindAllString(m, -1) {
				addWords(words, q)
				icons[strings.Trim(q, `"`)] = true
			}
		}
		for _, m := range blockNamed.FindAllStringSubmatch(text, -1) {
			if m[1] == "define" {
				defined[m[2]] = name
			} else {
				shown[m[2]] = true
			}
		}
	}
	for _, texts := range []map[string]string{scripts, code} {
		for _, text := range texts {
			for _, q := range quoted.FindAllString(text, -1) {
				addWords(words, q)
				shown[strings.Trim(q, `"`)], icons[strings.Trim(q, `"'`)] = true, true
			}
		}
	}
	swaggerUIWords := map[string]bool{}
	addWords(swaggerUIWords, swaggerUIText(t))
	for name, text := range styles {
		for _, m := range cssClass.FindAllStringSubmatch(cssComment.ReplaceAllString(text, ""), -1) {
			if !words[m[1]] && (filepath.Base(name) != "docs.css" || !swaggerUIWords[m[1]]) {
				t.Errorf("%s: class %s is not used", name, m[1])
			}
		}
	}
	for block, name := range defined {
		if !shown[block] {
			t.Errorf("%s: block %q is not used", name, block)
		}
	}
	for name := range readFiles(t, "../../web/static/icons/*.svg") {
		if icon := strings.TrimSuffix(filepath.Base(name), ".svg"); !icons[icon] {
			t.Errorf("icon %s is not used", icon)
		}
	}
	used := strings.Join([]string{joinFiles(scripts), joinFiles(styles), joinFiles(code)}, "\n")
	for name, text := range pages {
		for _, m := range dataNamed.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(used, m[1]) && !strings.Contains(used, "dataset."+datasetKey(m[1])) &&
				!strings.Contains(used, "'"+datasetKey(m[1])+"'") {
				t.Errorf("%s: data attribute %s is not used", name, m[1])
			}
		}
	}
}

// swaggerUIText returns the scripts and style sheet of Swagger UI. Our styles override some of its
// classes.
func swaggerUIText(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, packed := range readFiles(t, "../../web/vendor/swagger-ui.*.gz") {
		r, err := gzip.NewReader(strings.NewReader(packed))
		if err != nil {
			t.Fatalf("gzip.NewReader: %v", err)
		}
		if _, err := io.Copy(&all, r); err != nil { // #nosec G110 -- the file comes from npm
			t.Fatalf("io.Copy: %v", err)
		}
	}
	return all.String()
}

func addWords(words map[string]bool, text string) {
	for _, w := range word.FindAllString(text, -1) {
		words[w] = true
	}
}

func joinFiles(texts map[string]string) string {
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(text)
	}
	return all.String()
}

// datasetKey returns the name that scripts use for a data attribute.
func datasetKey(attribute string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(attribute, "data-"), "-")
	for part := range strings.SplitSeq(rest, "-") {
		if part != "" {
			first += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return first
}
