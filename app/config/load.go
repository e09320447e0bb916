package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/spf13/viper"
)

// Source is the input of Load. With the zero value, Load returns Default.
type Source struct {
	File      string            // value of --config; if set, this file must exist, and no other file is read
	BinaryDir string            // directory of the binary, searched after the data directory; "" skips it
	Installed Installed         // searched last; the zero value skips it
	Env       []string          // in the format of os.Environ
	Flags     map[string]string // command-line flags by dotted key
	// Stored returns what administrators stored on the Settings page of a data directory; nil means nothing.
	Stored func(dataDir string) (map[string]string, error)
	// Check returns problems of values that can't work on this machine. Load uses it for stored values only. It may be nil.
	Check func(Config) Problems
}

// Installed is where a package for this operating system puts the settings file and, by default, the data directory.
type Installed struct{ File, Data string }

// Load reads settings from flags, the environment, one settings file, and what is stored in the data directory, in this
// order of precedence. Settings that are missing have the values in Default. The file is src.File or, if that is empty,
// the first one that exists of: config.yaml in the data directory, config.yaml next to the binary, and
// src.Installed.File. The last one also decides where the data is: if nothing sets data, it is src.Installed.Data. The
// error is of type Problems and lists all problems, except those of stored values, which Ignored returns.
func Load(src Source) (Config, error) {
	fromFlags, flagProblems := readFlags(src.Flags)
	fromEnv, envProblems := readEnv(src.Env)
	dataDir := findDataDir(fromFlags, fromEnv)
	path, fromFile, problems := findFile(src, dataDir)
	if path != "" && path == src.Installed.File {
		fromFile, problems = src.Installed.complete(fromFile, problems)
	}
	problems = slices.Concat(problems, envProblems, flagProblems)
	entries := slices.Concat(fromFile, fromEnv, fromFlags)
	stored, ignored := src.readStored(entries)
	config, found, rejected := src.combine(stored, entries)
	config.file = path
	config.ignored = slices.Concat(ignored, rejected)
	problems = append(problems, found...)
	if len(problems) == 0 {
		problems = config.checkDataKey(path, dataDir)
	}
	config.nameSources(problems)
	return config, problems.err()
}

// nameSources sets the sources of problems that have none.
func (c Config) nameSources(problems Problems) {
	for i, problem := range problems {
		if problem.Source == "" {
			problems[i].Source = c.origins[problem.Key]
		}
	}
}

// validated merges the entries and checks the values. Every value is decoded, so that an invalid value is reported even
// if another source overrides it.
func validated(entries []entry) (config Config, problems Problems) {
	config, problems = merge(entries)
	problems = append(problems, config.invalidValues()...)
	if len(problems) == 0 { // If a value was invalid and replaced, checking combinations would mislead.
		problems = config.conflicts()
	}
	return config, problems
}

// Files returns the absolute paths of the settings files that Load looks for, in order. Load reads only the first one
// that exists. read is its path, or "" if none exists.
func (src Source) Files() (read string, candidates []string, err error) {
	fromFlags, _ := readFlags(src.Flags) // Load reports problems with flags
	fromEnv, _ := readEnv(src.Env)
	for _, path := range src.candidates(findDataDir(fromFlags, fromEnv)) {
		if path, err = filepath.Abs(path); err != nil {
			return "", nil, err
		}
		candidates = append(candidates, path)
		if _, missing := os.Stat(path); read == "" && !errors.Is(missing, fs.ErrNotExist) {
			read = path
		}
	}
	return read, candidates, nil
}

func (src Source) candidates(dataDir string) []string {
	if src.File != "" {
		return []string{src.File}
	}
	list := []string{filepath.Join(dataDir, fileName)}
	if src.BinaryDir != "" {
		list = append(list, filepath.Join(src.BinaryDir, fileName))
	}
	if src.Installed.File != "" {
		list = append(list, src.Installed.File)
	}
	return list
}

// complete checks what was read from the file of an installation, and adds the data directory if it is missing. Every
// command of this machine reads this file, in any directory and as root.
func (i Installed) complete(entries []entry, problems Problems) ([]entry, Problems) {
	if reason := writersOf(i.File); reason != "" {
		return nil, append(problems, Problem{Source: i.File, Reason: reason})
	}
	at := slices.IndexFunc(entries, func(e entry) bool { return e.key == "data" })
	if at < 0 {
		return append(entries, entry{"data", i.File, i.Data}), problems
	}
	if dir, isText := entries[at].value.(string); isText && dir != "" && !filepath.IsAbs(dir) {
		problems = append(problems, Problem{Source: entries[at].source, Key: "data",
			Reason: fmt.Sprintf("must be an absolute path in this file, not %q", dir)})
	}
	return entries, problems
}

// findDataDir returns the data directory that the flags or the environment set, or the default. The settings file can't
// be found without it.
func findDataDir(flags, env []entry) string {
	for _, e := range slices.Concat(flags, env) {
		if dir, ok := e.value.(string); ok && e.key == "data" {
			return dir
		}
	}
	return Default().Data
}

func findFile(src Source, dataDir string) (path string, entries []entry, problems Problems) {
	for _, path := range src.candidates(dataDir) {
		entries, problems, err := readFile(path)
		pathErr, _ := errors.AsType[*fs.PathError](err)
		switch {
		case err == nil:
			return path, entries, problems
		case !errors.Is(err, fs.ErrNotExist):
			if pathErr != nil {
				err = pathErr.Err // without the path, which is the source of the problem
			}
			if path == src.Installed.File && errors.Is(err, fs.ErrPermission) {
				err = fmt.Errorf("%w; run the command as root (on Windows, as an administrator)", err)
			}
			return path, nil, Problems{{Source: path, Reason: "can't read the file: " + err.Error()}}
		case src.File != "":
			return path, nil, Problems{{Source: path, Reason: "file not found"}}
		}
	}
	return "", nil, nil
}

// merge applies the entries to the defaults, in order. If a value is invalid, merge reports a problem and the entry has
// no effect.
func merge(entries []entry) (config Config, problems Problems) {
	config = Default()
	kinds := map[string]reflect.Type{}
	for _, f := range fields(&config) {
		kinds[f.key] = f.value.Type()
	}
	v, origins := viper.New(), map[string]string{}
	for _, e := range entries {
		value, err := decode(kinds[e.key], e.value)
		if err != nil {
			problems = append(problems, Problem{Source: e.source, Key: e.key, Reason: err.Error()})
			continue
		}
		v.Set(e.key, value)
		origins[e.key] = e.source
	}
	if err := v.UnmarshalExact(&config); err != nil {
		problems = append(problems, Problem{Reason: err.Error()})
	}
	config.origins = origins
	return config, problems
}

// checkDataKey reports a problem if a settings file in one data directory sets a different data directory. Load would
// then look for the file in that other directory and not find it.
func (c Config) checkDataKey(file, dataDir string) Problems {
	inside := filepath.Clean(file) == filepath.Join(dataDir, fileName)
	if !inside || filepath.Clean(c.Data) == filepath.Clean(dataDir) {
		return nil
	}
	return Problems{{Key: "data", Reason: fmt.Sprintf(
		"this file is in the data directory %s and can't set another one; remove the line", dataDir)}}
}

// File returns the path of the settings file that Load read, or "" if there is none.
func (c Config) File() string { return c.file }

// IgnoredFile returns the path of config.yaml in the data directory if Load read another file instead of it.
func (c Config) IgnoredFile() string {
	path := filepath.Join(c.Data, fileName)
	ignored, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if read, err := os.Stat(c.file); err == nil && os.SameFile(read, ignored) {
		return ""
	}
	return path
}

// SourceOf returns the source of a key's value in the format of Problem.Source, such as `data/config.yaml:12`,
// `DEEDKEEP_LISTEN`, or `--listen`. If the value is the default, it returns "".
func (c Config) SourceOf(key string) string { return c.origins[key] }
