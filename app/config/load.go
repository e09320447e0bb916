package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

// Source is the input of Load. With the zero value, Load returns Default.
type Source struct {
	DataDir   string         // value of --data; Flags["data"] takes precedence
	File      string         // value of --config; if set, this file must exist, and no other file is read
	BinaryDir string         // directory of the binary, searched after the data directory; "" skips it
	Env       []string       // in the format of os.Environ
	Flags     map[string]any // command-line flags by dotted key
}

// Load reads settings from flags, the environment, and one settings file, in this order of precedence. Settings that
// are missing have the values in Default. The file is src.File or, if that is empty, config.yaml in the data directory
// or next to the binary. The error is of type Problems and lists all problems.
func Load(src Source) (Config, error) {
	known := allKeys()
	fromFlags, flagProblems := readFlags(src.flags(), known)
	fromEnv, envProblems := readEnv(src.Env, known)
	dataDir := findDataDir(fromFlags, fromEnv)
	path, fromFile, problems := findFile(src, dataDir, known)
	problems = slices.Concat(problems, envProblems, flagProblems)

	config, unreadable := merge(fromFile, fromEnv, fromFlags)
	problems = append(problems, unreadable...)
	problems = append(problems, config.invalidValues()...)
	if len(problems) == 0 { // If a value was invalid and replaced, checking combinations would mislead.
		problems = append(config.conflicts(), config.checkDataKey(path, dataDir)...)
	}
	for i, problem := range problems {
		if problem.Source == "" {
			problems[i].Source = config.origins[problem.Key]
		}
	}
	return config, problems.err()
}

// Files returns the absolute paths of the settings files that Load looks for, in order. Load reads only the first one
// that exists. read is its path, or "" if none exists.
func (src Source) Files() (read string, candidates []string, err error) {
	fromFlags, _ := readFlags(src.flags(), allKeys()) // Load reports problems with flags
	fromEnv, _ := readEnv(src.Env, allKeys())
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

// flags returns Flags with DataDir added.
func (src Source) flags() map[string]any {
	flags := maps.Clone(src.Flags)
	if _, given := flags["data"]; !given && src.DataDir != "" {
		if flags == nil {
			flags = map[string]any{}
		}
		flags["data"] = src.DataDir
	}
	return flags
}

func (src Source) candidates(dataDir string) []string {
	if src.File != "" {
		return []string{src.File}
	}
	list := []string{filepath.Join(dataDir, FileName)}
	if src.BinaryDir != "" {
		list = append(list, filepath.Join(src.BinaryDir, FileName))
	}
	return list
}

// allKeys returns all keys in the order of Config.
func allKeys() []string {
	var all []string
	for _, f := range fields(new(Config)) {
		all = append(all, f.key)
	}
	return all
}

// findDataDir returns the data directory that the flags or the environment set, or the default. The settings file can't
// be found without it.
func findDataDir(layers ...[]entry) string {
	for _, layer := range layers {
		for _, e := range layer {
			if e.key == "data" {
				return e.value.text
			}
		}
	}
	return Default().Data
}

func findFile(src Source, dataDir string, known []string) (path string, entries []entry, problems Problems) {
	for _, path := range src.candidates(dataDir) {
		entries, problems, err := readFile(path, known)
		switch {
		case err == nil:
			return path, entries, problems
		case !errors.Is(err, fs.ErrNotExist):
			return path, nil, Problems{{Source: path, Reason: "cannot be read: " + withoutPath(err)}}
		case src.File != "":
			return path, nil, Problems{{Source: path, Reason: "is not there"}}
		}
	}
	return "", nil, nil
}

// withoutPath returns the message of err without the path. The caller prints the path itself.
func withoutPath(err error) string {
	var detailed *fs.PathError
	if errors.As(err, &detailed) {
		return detailed.Err.Error()
	}
	return err.Error()
}

// merge applies the layers to the defaults. If a value is invalid, merge reports a problem and the setting keeps its
// default.
func merge(file, env, flags []entry) (Config, Problems) {
	v := viper.New()
	config := Default()
	kinds := map[string]reflect.Type{}
	for _, f := range fields(&config) {
		v.SetDefault(f.key, f.value.Interface())
		kinds[f.key] = f.value.Type()
	}
	var problems Problems
	origins := map[string]string{}
	for i, layer := range [][]entry{file, env, flags} {
		for _, e := range layer {
			value, err := decode(kinds[e.key], e.value)
			if err == nil && i < 2 {
				err = v.MergeConfigMap(nest(e.key, value))
			} else if err == nil {
				v.Set(e.key, value)
			}
			if err != nil {
				problems = append(problems, Problem{Source: e.source, Key: e.key, Reason: err.Error()})
				continue
			}
			origins[e.key] = e.source
		}
	}
	var merged Config
	if err := v.UnmarshalExact(&merged); err != nil {
		return config, append(problems, Problem{Reason: err.Error()})
	}
	merged.origins = origins
	return merged, problems
}

// nest converts `limits.file_size` to {limits: {file_size: value}}.
func nest(key string, value any) map[string]any {
	section, rest, nested := strings.Cut(key, ".")
	if !nested {
		return map[string]any{key: value}
	}
	return map[string]any{section: nest(rest, value)}
}

func flagValue(value any) rawValue {
	if list, ok := value.([]string); ok {
		return rawValue{list: list, isList: true}
	}
	return rawValue{text: fmt.Sprint(value)}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// checkDataKey reports a problem if a settings file in one data directory sets a different data directory. Load would
// then look for the file in that other directory and not find it.
func (c Config) checkDataKey(file, dataDir string) Problems {
	inside := filepath.Clean(file) == filepath.Join(dataDir, FileName)
	if !inside || filepath.Clean(c.Data) == filepath.Clean(dataDir) {
		return nil
	}
	return Problems{{Key: "data", Reason: fmt.Sprintf(
		"this file lies in the data directory %s and cannot name another one; remove the line", dataDir)}}
}

// SourceOf returns the source of a key's value in the format of Problem.Source, such as `data/config.yaml:12`,
// `DEEDKEEP_LISTEN`, or `--listen`. If the value is the default, it returns "".
func (c Config) SourceOf(key string) string { return c.origins[key] }
