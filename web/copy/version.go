package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const versionFile = "version.json"

// version has the same fields as web.Source.
type version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
}

// writeVersion writes the version of the source to folder. It is used by builds without version
// control information ("go run" and -buildvcs=false). If the source isn't in a git repository,
// writeVersion removes the file.
func writeVersion(ctx context.Context, source, folder string) error {
	path := filepath.Join(folder, versionFile)
	s, err := describe(ctx, source)
	if err != nil {
		fmt.Fprintf(os.Stderr, "can't determine the source version: %v\n", err)
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644) // #nosec G306 -- everyone on the build machine may read it
}

// describe returns the version according to git. Before the first tag, the version contains the
// number of commits since v0.0.0, in the same format that git uses after a tag. This way later
// builds have higher version numbers.
func describe(ctx context.Context, source string) (s version, err error) {
	head, err := git(ctx, source, "log", "-1", "--format=%H %cI")
	if err != nil {
		return s, err
	}
	s.Commit, s.Date, _ = strings.Cut(head, " ")
	if s.Version, err = git(ctx, source, "describe", "--tags", "--match", "v[0-9]*", "--dirty"); err == nil {
		return s, nil
	}
	count, err := git(ctx, source, "rev-list", "--count", "HEAD")
	if err != nil {
		return s, err
	}
	short, err := git(ctx, source, "describe", "--always", "--exclude", "*", "--dirty")
	s.Version = "v0.0.0-" + count + "-g" + short
	return s, err
}

func git(ctx context.Context, source string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...) // #nosec G204 -- the arguments are ours
	cmd.Dir = source
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
