package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// modulesFile contains the licenses of all modules compiled into the binary, as compressed JSON:
// {"<module> <version>": "<text>", …}.
const modulesFile = "modules.json.gz"

// platforms lists the operating systems that deedkeep is built for. Each of them may need different
// modules, so every binary contains the licenses for all of them.
var platforms = []string{"linux", "windows", "darwin"}

// licenseName matches the file names of licenses.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// place is the module, the module's directory, and the directory of a package.
type place struct{ module, root, dir string }

// writeModules writes the licenses of all packages that are compiled into target, and Go's own
// license, to folder.
func writeModules(ctx context.Context, target, folder string) error {
	places, err := compiled(ctx, target)
	if err != nil {
		return err
	}
	texts, err := moduleLicenses(places)
	if err != nil {
		return err
	}
	content, err := json.Marshal(texts) // sorted by key
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := write(&out, content, true); err != nil {
		return fmt.Errorf("pack %s: %w", modulesFile, err)
	}
	return os.WriteFile(filepath.Join(folder, modulesFile), out.Bytes(), 0o644) // #nosec G306 -- everyone on the build machine may read it
}

// compiled returns the third-party packages that are compiled into target, plus Go itself.
func compiled(ctx context.Context, target string) ([]place, error) {
	found := map[place]bool{}
	for _, platform := range platforms {
		// #nosec G204 -- the target is ours
		list := exec.CommandContext(ctx, "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", target)
		list.Env = append(os.Environ(), "GOOS="+platform, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		lines, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages of %s for %s: %w", target, platform, err)
		}
		for line := range strings.Lines(string(lines)) {
			if cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t"); len(cells) == 3 {
				found[place{cells[0], cells[1], cells[2]}] = true
			}
		}
	}
	places := slices.SortedFunc(maps.Keys(found), func(a, b place) int {
		return strings.Compare(a.module+"\t"+a.dir, b.module+"\t"+b.dir)
	})
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("find go command: %w", err)
	}
	lines := strings.Split(strings.ReplaceAll(string(root), "\r", ""), "\n")
	return append(places, place{"go " + lines[1], lines[0], lines[0]}), nil
}

// moduleLicenses reads the license files in each package's directory and its parent directories, up
// to the module's directory. It returns an error if a module has no license, because such a module
// may not be redistributed.
func moduleLicenses(places []place) (map[string]string, error) {
	files := map[string][]string{}
	for _, p := range places {
		for dir := p.dir; ; dir = filepath.Dir(dir) {
			found, err := licensesIn(dir)
			if err != nil {
				return nil, err
			}
			files[p.module] = append(files[p.module], found...)
			if dir == p.root || len(dir) <= len(p.root) {
				break
			}
		}
	}
	texts := map[string]string{}
	for module, paths := range files {
		text, err := joined(paths)
		if err != nil {
			return nil, err
		}
		if text == "" {
			return nil, fmt.Errorf("%s has no license", module)
		}
		texts[module] = text
	}
	return texts, nil
}

func licensesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		// A Go source file can also have such a name.
		if entry.Type().IsRegular() && licenseName.MatchString(entry.Name()) && filepath.Ext(entry.Name()) != ".go" {
			found = append(found, filepath.Join(dir, entry.Name()))
		}
	}
	return found, nil
}

// joined returns the texts of the files, without duplicates and separated by blank lines.
func joined(paths []string) (string, error) {
	slices.Sort(paths)
	var texts []string
	for _, path := range slices.Compact(paths) {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}
