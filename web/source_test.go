package web

import (
	"testing"
	"testing/fstest"
)

func TestGenerated(t *testing.T) {
	for name, row := range map[string]struct {
		files fstest.MapFS
		want  Source
	}{
		"noted":    {fstest.MapFS{sourceFile: {Data: []byte(`{"version":"v1.4.0","commit":"12dcac5","date":"2026-11-22T06:34:12Z"}`)}}, Source{"v1.4.0", "12dcac5", "2026-11-22T06:34:12Z"}},
		"no note":  {fstest.MapFS{}, Source{}},
		"cut note": {fstest.MapFS{sourceFile: {Data: []byte(`{"version":"v1.4`)}}, Source{}},
	} {
		if got := generated(row.files); got != row.want {
			t.Errorf("%s: got %+v, want %+v", name, got, row.want)
		}
	}
}
