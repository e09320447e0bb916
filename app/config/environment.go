package config

import (
	"maps"
	"slices"
	"strings"
)

const envPrefix = "DEEDKEEP_"

// envName returns the name of a key's environment variable. For example, `limits.file_size` is set by
// DEEDKEEP_LIMITS_FILE_SIZE.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// readEnv returns the settings in env, which has the format of os.Environ. An empty value is treated as not set,
// because Compose files and systemd units set missing variables to empty strings. Names are case-insensitive, as on
// Windows. Names that start with DEEDKEEP_TEST_, DEEDKEEP_FUZZ_, or DEEDKEEP_SAMPLES are for tests and are ignored.
func readEnv(env []string) (entries []entry, problems Problems) {
	keys, seen, names := map[string]string{}, map[string]bool{}, []string{}
	for _, key := range allKeys() {
		names = append(names, envName(key))
		keys[envName(key)] = key
	}
	for _, line := range slices.Sorted(slices.Values(env)) {
		name, value, _ := strings.Cut(line, "=")
		upper := strings.ToUpper(name)
		if !strings.HasPrefix(upper, envPrefix) || strings.HasPrefix(upper, "DEEDKEEP_TEST_") ||
			strings.HasPrefix(upper, "DEEDKEEP_FUZZ_") || strings.HasPrefix(upper, "DEEDKEEP_SAMPLES") {
			continue
		}
		key, ok := keys[upper]
		switch {
		case !ok:
			problems = append(problems, Problem{Source: name, Reason: unknownSetting(upper, names)})
		case value == "":
		case seen[key]:
			problems = append(problems, Problem{Source: name, Key: key, Reason: "is set twice in the environment"})
		default:
			seen[key] = true
			entries = append(entries, entry{key, name, value})
		}
	}
	return entries, problems
}

// readFlags returns the settings in flags, a map by key. In problems, the flag for the key `log.format` is called
// --log-format.
func readFlags(flags map[string]string) (entries []entry, problems Problems) {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		where := "--" + strings.NewReplacer(".", "-", "_", "-").Replace(key)
		if !slices.Contains(allKeys(), key) {
			problems = append(problems, Problem{Source: where, Key: key, Reason: unknownSetting(key, allKeys())})
			continue
		}
		entries = append(entries, entry{key, where, flags[key]})
	}
	return entries, problems
}
