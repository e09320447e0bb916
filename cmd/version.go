package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"deedkeep/app/control"
	"deedkeep/web"
)

// release is the version if it is set by the linker. Use it to build from source code that
// isn't in a Git repository:
//
//	go build -ldflags "-X deedkeep/cmd.release=v1.4.0"
var release string

var build = sync.OnceValue(func() control.Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return resolveBuild(release, info, web.Generated())
})

// resolveBuild returns the version, commit, and date of this binary. They come from the
// linker flag, the version control information recorded by "go build", and the file written
// by "go generate", in this order of precedence. Only "go generate" records the version
// from "git describe", but it may have run at an earlier commit.
func resolveBuild(release string, info *debug.BuildInfo, generated web.Source) control.Build {
	stamped := map[string]string{}
	for _, s := range info.Settings {
		stamped[s.Key] = s.Value
	}
	b := control.Build{Version: generated.Version, Commit: generated.Commit, Date: generated.Date}
	if commit := stamped["vcs.revision"]; commit != "" && commit != generated.Commit {
		b = control.Build{Commit: commit, Date: stamped["vcs.time"]}
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if release != "" {
		b.Version = release
	}
	if b.Commit != "" && stamped["vcs.modified"] == "true" {
		b.Commit += "+changes"
	}
	b.Version, b.Commit = cmp.Or(b.Version, "dev"), cmp.Or(b.Commit, "unknown")
	return b
}

func (s *shell) versionCommand() *cobra.Command {
	var licenses bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show version and license information",
		Long:    "Show version and license information: commit and date, Go version, platform, and the\nengine that opens PDF files.",
		Example: "  deedkeep version\n  deedkeep version --licenses",
		RunE: func(*cobra.Command, []string) error {
			if licenses {
				return s.printLicenses()
			}
			b := build()
			engines := "missing"
			if s.checkAssets() == nil {
				engines = "PDFium"
			}
			out := map[string]string{"version": b.Version, "commit": b.Commit, "date": b.Date, "go": runtime.Version(),
				"platform": runtime.GOOS + "/" + runtime.GOARCH, "engines": engines}
			commit := b.Commit
			if day, _, ok := strings.Cut(b.Date, "T"); ok {
				commit += ", " + day
			}
			return s.print(out, "deedkeep %s (%s), %s, %s, engines: %s\n", b.Version, commit, out["go"], out["platform"], engines)
		},
	}
	cmd.Flags().BoolVar(&licenses, "licenses", false, "print the licenses of all third-party components")
	return cmd
}

func (s *shell) printLicenses() error {
	texts, err := web.Licenses()
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&all, "== %s ==\n\n%s\n\n", name, texts[name])
	}
	return s.print(texts, "%s", all.String())
}
