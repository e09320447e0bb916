package cmd

import (
	"runtime/debug"
	"testing"

	"deedkeep/app/control"
	"deedkeep/web"
)

// Whatever a build carries of its source, the version says it.
func TestBuildOf(t *testing.T) {
	const commit, older = "12dcac5b6a2d", "b10d51676372"
	made := web.Source{Version: "v1.4.0-3-g12dcac5", Commit: commit, Date: "2026-11-22T06:34:12Z"}
	info := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	moment := debug.BuildSetting{Key: "vcs.time", Value: "2026-11-22T06:34:12Z"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	stale := web.Source{Version: "v1.3.0", Commit: older, Date: "2026-10-01T00:00:00Z"}
	for _, row := range []struct {
		name    string
		release string
		info    *debug.BuildInfo
		made    web.Source
		want    control.Build
	}{
		{"go generate, and go run or -buildvcs=false", "", info("(devel)"), made, control.Build{Version: "v1.4.0-3-g12dcac5", Commit: commit, Date: made.Date}},
		{"go generate and go build", "", info("v1.4.1-0.20261122063412-12dcac5b6a2d", revision, moment), made, control.Build{Version: "v1.4.0-3-g12dcac5", Commit: commit, Date: made.Date}},
		{"with changes", "", info("v1.4.1-0.20261122063412-12dcac5b6a2d+dirty", revision, moment, changed), made, control.Build{Version: "v1.4.0-3-g12dcac5", Commit: commit + "+changes", Date: made.Date}},
		{"go build alone", "", info("v1.4.1-0.20261122063412-12dcac5b6a2d", revision, moment), web.Source{}, control.Build{Version: "v1.4.1-0.20261122063412-12dcac5b6a2d", Commit: commit, Date: made.Date}},
		{"an old go generate and go build", "", info("v1.4.0", revision, moment), stale, control.Build{Version: "v1.4.0", Commit: commit, Date: made.Date}},
		{"the linker", "v2.0.0", info("(devel)"), web.Source{}, control.Build{Version: "v2.0.0", Commit: "unknown"}},
		{"the linker, with a note", "v2.0.0", info("(devel)"), made, control.Build{Version: "v2.0.0", Commit: commit, Date: made.Date}},
		{"nothing", "", info("(devel)"), web.Source{}, control.Build{Version: "dev", Commit: "unknown"}},
		{"no information", "", info(""), web.Source{}, control.Build{Version: "dev", Commit: "unknown"}},
	} {
		if got := resolveBuild(row.release, row.info, row.made); got != row.want {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
}
