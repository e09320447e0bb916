package config

import (
	"fmt"
	"os"
	"strings"
)

// Exposure describes a file that contains a secret and that other users of this machine can read.
type Exposure struct {
	Key     string // key of the setting that contains the secret or its path; "" if there is no such setting
	Path    string
	Readers string // "other users" or "the file's group"
}

// String returns a sentence with the path, the users who can read the file, and the command that fixes the permissions.
func (e Exposure) String() string {
	subject := e.Path
	if e.Key != "" {
		subject += ", the file of setting " + e.Key + ","
	}
	return fmt.Sprintf("%s can be read by %s on this machine; give only the service account access: chmod go= %s", subject, e.Readers, e.Path)
}

// Exposures lists files that contain secrets and that other users can read. It checks the settings file if it contains
// a secret, backup.passphrase_file, and tls.key. The group of a TLS key may have read access. On Windows, the list is
// empty because access control lists aren't checked.
func (c Config) Exposures() (list []Exposure) {
	add := func(key, path string, groups bool) {
		if e, exposed := ExposureOf(key, path); exposed && !(groups && e.Readers == groupReaders) {
			list = append(list, e)
		}
	}
	for _, f := range fields(&c) {
		if !f.isSecret() || formatValue(f.value) == "" {
			continue
		}
		// Only the origin of a value from a file ends with a line number.
		if path, inFile := cutLineNumber(c.origins[f.key]); inFile {
			add(f.key, path, false)
		}
	}
	add("backup.passphrase_file", c.Backup.PassphraseFile, false)
	add("tls.key", c.TLS.Key, true)
	return list
}

// ExposureOf checks one file. It returns false if the file is missing or can't be checked. The code that later reads
// the file reports that error.
func ExposureOf(key, path string) (e Exposure, exposed bool) {
	info, err := os.Stat(path)
	if path == "" || err != nil {
		return e, false
	}
	who := readersOf(info)
	return Exposure{key, path, who}, who != ""
}

const (
	otherReaders = "other users"
	groupReaders = "the file's group"
)

// cutLineNumber removes ":line" from the end of where. found is false if where doesn't contain a line number.
func cutLineNumber(where string) (path string, found bool) {
	at := strings.LastIndexByte(where, ':')
	if at < 0 {
		return "", false
	}
	return where[:at], true
}
