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
	var file, key string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show version and license information",
		Long: "Show version and license information: commit and date, Go version, platform, and the\n" +
			"engine that opens PDF files.\n\n" +
			"With --check, check a downloaded file of a release instead. SHA256SUMS and\n" +
			"SHA256SUMS.minisig of that release must be in the same folder. Nothing is sent. Exit\n" +
			"codes: 0 the signature and the sum are right, 1 otherwise.",
		Example: "  deedkeep version\n  deedkeep version --licenses\n  deedkeep version --check deedkeep_v1.4.0_amd64.msi",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case key != "" && file == "":
				return argumentErrorf(cmd, "--key requires --check")
			case licenses && file != "":
				return argumentErrorf(cmd, "use either --check or --licenses")
			case file != "":
				checked, err := checkRelease(file, key)
				if err != nil {
					return err
				}
				return s.print(checked, "%s: the signature (%s) and the sum are right\n", checked.File, checked.Signed)
			case licenses:
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
	cmd.Flags().StringVar(&file, "check", "", "check the signature and the sum of this downloaded `FILE` of a release")
	cmd.Flags().StringVar(&key, "key", "", "public `KEY` for --check, as a file or text (default: the key in this program)")
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
