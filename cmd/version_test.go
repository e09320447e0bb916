package cmd

import (
	"runtime/debug"
	"testing"

	"deedkeep/app/control"
	"deedkeep/web"
)

// resolveBuild gets the version, commit, and date from the linker flag, from go generate, or from
// Go's build information.
func TestResolveBuild(t *testing.T) {
	const commit, older = "12dcac5b6a2d", "b10d51676372"
	generated := web.Source{Version: "v1.4.0-3-g12dcac5", Commit: commit, Date: "2026-11-22T06:34:12Z"}
	info := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	commitTime := debug.BuildSetting{Key: "vcs.time", Value: "2026-11-22T06:34:12Z"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	stale := web.Source{Version: "v1.3.0", Commit: older, Date: "2026-10-01T00:00:00Z"}
	for _, row := range []struct {
		name      string
		release   string
		info      *debug.BuildInfo
		generated web.Source
		want      control.Build
	}{
		{"go generate and go run or -buildvcs=false", "", info("(devel)"), generated,
			control.Build{Version: "v1.4.0-3-g12dcac5", Commit: commit, Date: generated.Date}},
		{"go generate and go build", "", info("v1.4.1-0.20261122063412-12dcac5b6a2d", revision, commitTime), generated,
			control.Build{Version: "v1.4.0-3-g12dcac5", Commit: commit, Date: generated.Date}},
		{"go generate and go build with changes", "", info("v1.4.1-0.20261122063412-12dcac5b6a2d+dirty", revision, commitTime, changed),
			generated, control.Build{Version: "v1.4.0-3-g12dcac5", Commit: commit + "+changes", Date: generated.Date}},
		{"go build alone", "", info("v1.4.1-0.20261122063412-12dcac5b6a2d", revision, commitTime), web.Source{},
			control.Build{Version: "v1.4.1-0.20261122063412-12dcac5b6a2d", Commit: commit, Date: generated.Date}},
		{"outdated go generate and go build", "", info("v1.4.0", revision, commitTime), stale,
			control.Build{Version: "v1.4.0", Commit: commit, Date: generated.Date}},
		{"linker flag", "v2.0.0", info("(devel)"), web.Source{}, control.Build{Version: "v2.0.0", Commit: "unknown"}},
		{"linker flag and go generate", "v2.0.0", info("(devel)"), generated,
			control.Build{Version: "v2.0.0", Commit: commit, Date: generated.Date}},
		{"no source", "", info("(devel)"), web.Source{}, control.Build{Version: "dev", Commit: "unknown"}},
		{"no build information", "", info(""), web.Source{}, control.Build{Version: "dev", Commit: "unknown"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := resolveBuild(row.release, row.info, row.generated); got != row.want {
				t.Errorf("resolveBuild(%q, %+v, %+v) = %+v, want %+v", row.release, row.info, row.generated, got, row.want)
			}
		})
	}
}
