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
		"version": {
			fstest.MapFS{sourceFile: {Data: []byte(`{"version":"v1.4.0","commit":"12dcac5","date":"2026-11-22T06:34:12Z"}`)}},
			Source{"v1.4.0", "12dcac5", "2026-11-22T06:34:12Z"},
		},
		"no file":        {fstest.MapFS{}, Source{}},
		"truncated file": {fstest.MapFS{sourceFile: {Data: []byte(`{"version":"v1.4`)}}, Source{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := generated(row.files); got != row.want {
				t.Errorf("generated() = %+v, want %+v", got, row.want)
			}
		})
	}
}
