package cmd

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"deedkeep/app/api"
	"deedkeep/web"
)

// release is set by the linker in a release; a build of one's own has none.
var release = "dev"

func build() api.Build {
	b := api.Build{Version: release, Commit: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	changed := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				changed = "+changes"
			}
		}
	}
	b.Commit += changed
	return b
}

func (s *shell) versionCommand() *cobra.Command {
	var licenses bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Say what this program is made of",
		Example: "  deedkeep version --licenses",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if licenses {
				return s.printLicenses()
			}
			b := build()
			engines := "missing"
			if s.assets() == nil {
				engines = "PDFium"
			}
			out := map[string]string{"version": b.Version, "commit": b.Commit, "go": runtime.Version(),
				"platform": runtime.GOOS + "/" + runtime.GOARCH, "engines": engines}
			if s.json {
				return s.printJSON(out)
			}
			return s.print("deedkeep %s (%s), %s, %s, engines: %s\n", out["version"], out["commit"], out["go"], out["platform"], engines)
		},
	}
	cmd.Flags().BoolVar(&licenses, "licenses", false, "print the licences of everything inside")
	return cmd
}

func (s *shell) printLicenses() error {
	texts, err := web.Licenses()
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(texts)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := s.print("%s\n\n%s\n\n", fmt.Sprintf("== %s ==", name), texts[name]); err != nil {
			return err
		}
	}
	return nil
}
