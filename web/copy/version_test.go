package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository creates a git repository with two commits and returns its directory. If tag is not "",
// it tags the first commit.
func repository(t *testing.T, tag string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git",
			append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	run("commit", "-q", "--allow-empty", "-m", "one")
	if tag != "" {
		run("tag", tag)
	}
	run("commit", "-q", "--allow-empty", "-m", "two")
	return dir
}

func TestDescribe(t *testing.T) {
	for _, row := range []struct{ name, tag, want string }{
		{"after a version", "v1.4.0", "v1.4.0-1-g"},
		{"no tag", "", "v0.0.0-2-g"},
		{"a tag that is not a version", "before-the-move", "v0.0.0-2-g"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := describe(t.Context(), repository(t, row.tag))
			if err != nil {
				t.Fatalf("describe: %v", err)
			}
			short, ok := strings.CutPrefix(s.Version, row.want)
			if !ok || len(s.Commit) != 40 || !strings.HasPrefix(s.Commit, short) || len(s.Date) < len("2026-11-22T06:34:12Z") {
				t.Errorf("got %+v, want version %s…", s, row.want)
			}
		})
	}
}

// If the source isn't in a git repository, it has no version, and the version file from an earlier
// run is removed.
func TestNoVersionWithoutARepository(t *testing.T) {
	source, folder := t.TempDir(), t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(source))
	path := filepath.Join(folder, versionFile)
	if err := os.WriteFile(path, []byte(`{"version":"v0.9.0"}`), 0o600); err != nil {
		t.Fatalf("write a version file: %v", err)
	}
	if err := writeVersion(t.Context(), source, folder); err != nil {
		t.Fatalf("writeVersion: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("stat %s: %v, want that the file was removed", path, err)
	}
}
