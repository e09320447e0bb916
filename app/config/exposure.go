package config

import (
	"fmt"
	"os"
	"strings"
)

// Exposure is a file with a secret that other users of this machine can read.
type Exposure struct {
	Key     string // the setting that holds the secret or the path; "" if no setting does
	Path    string
	Readers string // "other users" or "its group"
}

// String returns a sentence with the path, the readers, and the command that fixes the permissions.
func (e Exposure) String() string {
	subject := e.Path
	if e.Key != "" {
		subject += ", the file of " + e.Key + ","
	}
	return fmt.Sprintf("%s can be read by %s of this machine; let only the service's user read it: chmod go= %s", subject, e.Readers, e.Path)
}

// Exposures lists the files with secrets that other users can read: the settings file if it holds a secret, and the
// files that backup.passphrase_file and tls.key name. The key of a certificate may be readable by its group. On Windows
// the list is empty, because access control lists aren't checked.
func (c Config) Exposures() (list []Exposure) {
	add := func(key, path string, groups bool) {
		if e, exposed := ExposureOf(key, path); exposed && !(groups && e.Readers == groupReaders) {
			list = append(list, e)
		}
	}
	for _, f := range fields(&c) {
		if !f.secret || formatValue(f.value) == "" {
			continue
		}
		// The source of a value in a file ends in a line number; an environment variable or flag has none.
		if path, inFile := cutLineNumber(c.origins[f.key]); inFile {
			add(f.key, path, false)
		}
	}
	add("backup.passphrase_file", c.Backup.PassphraseFile, false)
	add("tls.key", c.TLS.Key, true)
	return list
}

// ExposureOf checks one file. It ignores a file that is missing or can't be checked; the code that reads the file
// reports that error.
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
	groupReaders = "its group"
)

// cutLineNumber cuts ":line" off a source; found is false if there is none.
func cutLineNumber(where string) (path string, found bool) {
	at := strings.LastIndexByte(where, ':')
	if at < 0 {
		return "", false
	}
	return where[:at], true
}
