package strictyaml_test

import (
	"errors"
	"strings"
	"testing"

	"deedkeep/app/strictyaml"
)

func TestRead(t *testing.T) {
	if text, err := strictyaml.Read(strings.NewReader(strings.Repeat("x", strictyaml.MaxSize))); err != nil || len(text) != strictyaml.MaxSize {
		t.Errorf("Read of the maximum size = %d bytes, %v, want %d", len(text), err, strictyaml.MaxSize)
	}
	if _, err := strictyaml.Read(strings.NewReader(strings.Repeat("x", strictyaml.MaxSize+1))); !errors.Is(err, strictyaml.ErrTooLong) {
		t.Errorf("Read of one byte more = %v, want %v", err, strictyaml.ErrTooLong)
	}
}

func TestParse(t *testing.T) {
	for _, row := range []struct {
		name, text string
		root       bool
		want       string // position and reason of the error
	}{
		{"one document", "a: 1\n", true, ""},
		{"empty", "# nothing\n", false, ""},
		{"syntax error", "a: [\n", false, "f:1: did not find expected node content"},
		{"syntax error in the first line", "a: b: c\nd: 1\n", false, "f:1: mapping values are not allowed in this context"},
		{"tab in the first line", "\ta: 1\n", false, "f:1: found character that cannot start any token"},
		{"tab in front of a key", "a:\n  b: 1\n\n\tc: 2\n", false, "f:4: found a tab character that violates indentation"},
		{"control character", "a: 1\nb: \x01\nc: 2\n", false, "f:2: control characters are not allowed"},
		{"not UTF-8", "a: 1\nb: 1\nc: \xff", false, "f:3: invalid leading UTF-8 octet"},
		{"unknown anchor", "a: 1\nb: *x\nc: 1\n", false, "f:2: unknown anchor 'x' referenced"},
		{"second document", "a: 1\n---\nb: 2\n", true, "f:2: "},
		{"syntax error in the second document", "a: 1\n---\nb: [\n", true, "f:3: did not find expected node content"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root, err := strictyaml.Parse([]byte(row.text))
			got := ""
			if failed, ok := errors.AsType[*strictyaml.Error](err); ok {
				got = failed.Position("f") + ": " + failed.Reason
			}
			if got != row.want || (root != nil) != row.root {
				t.Errorf("Parse = %v, %q, want a root: %v, %q", root, got, row.root, row.want)
			}
		})
	}
}
