package config

import (
	"fmt"
	"os"
	"strings"
)

// Exposure is a file with a secret that other users of this machine can read.
type Exposure struct {
	Key     string // the setting that holds the secret or names the file; "" for a file that no setting names
	Path    string
	Readers string // who can read it: "other users" or "its group"
}

func (e Exposure) String() string {
	subject := e.Path
	if e.Key != "" {
		subject += ", the file of " + e.Key + ","
	}
	return fmt.Sprintf("%s can be read by %s of this machine; let only the service's user read it: chmod go= %s", subject, e.Readers, e.Path)
}

// Exposures are the files of secret settings that other users can read: the settings file
// where it holds one itself, and those that backup.passphrase_file and tls.key name. A
// group may read the key of a certificate. On Windows there are none: access lists aren't
// looked at.
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
		// A place in a file ends in its line; the environment and a flag have none.
		if path, inFile := cutLineNumber(c.origins[f.key]); inFile {
			add(f.key, path, false)
		}
	}
	add("backup.passphrase_file", c.Backup.PassphraseFile, false)
	add("tls.key", c.TLS.Key, true)
	return list
}

// ExposureOf looks at one file. One that isn't there or can't be looked at is none: what
// reads it says so.
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

func cutLineNumber(where string) (path string, found bool) {
	at := strings.LastIndexByte(where, ':')
	if at < 0 {
		return "", false
	}
	return where[:at], true
}
