package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Files returns the path of the file that Load reads.
func TestSourceFiles(t *testing.T) {
	dir := t.TempDir()
	data, bin, own := filepath.Join(dir, "data"), filepath.Join(dir, "bin"), filepath.Join(dir, "own.yaml")
	inData, inBinaryDir := filepath.Join(data, fileName), filepath.Join(bin, fileName)
	flags := map[string]string{"data": data}
	for _, row := range []struct {
		name       string
		exist      []string
		src        Source
		read       string
		candidates []string
	}{
		{"none", nil, Source{Flags: flags, BinaryDir: bin}, "", []string{inData, inBinaryDir}},
		{"beside the program", []string{inBinaryDir}, Source{Flags: flags, BinaryDir: bin}, inBinaryDir, []string{inData, inBinaryDir}},
		{"both", []string{inData, inBinaryDir}, Source{Flags: flags, BinaryDir: bin}, inData, []string{inData, inBinaryDir}},
		{"named", []string{inData, own}, Source{Flags: flags, File: own}, own, []string{own}},
		{"data directory of the environment", []string{inData}, Source{Env: []string{"DEEDKEEP_DATA=" + data}}, inData, []string{inData}},
		{"installed", []string{own}, Source{Flags: flags, BinaryDir: bin, Installed: Installed{own, dir}}, own,
			[]string{inData, inBinaryDir, own}},
		{"before installed", []string{inBinaryDir, own}, Source{Flags: flags, BinaryDir: bin, Installed: Installed{own, dir}}, inBinaryDir,
			[]string{inData, inBinaryDir, own}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, path := range []string{inData, inBinaryDir, own} {
				if err := os.RemoveAll(path); err != nil {
					t.Fatalf("remove %s: %v", path, err)
				}
			}
			for _, path := range row.exist {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatalf("create the directory of %s: %v", path, err)
				}
				if err := os.WriteFile(path, []byte("log: {level: warn}\n"), 0o600); err != nil {
					t.Fatalf("write a settings file: %v", err)
				}
			}
			read, candidates, err := row.src.Files()
			if err != nil || read != row.read || !slices.Equal(candidates, row.candidates) {
				t.Errorf("Files = %q of %q, %v; want %q of %q", read, candidates, err, row.read, row.candidates)
			}
			c, err := Load(row.src)
			if where := c.SourceOf("log.level"); err != nil || (where != "") != (row.read != "") || row.read != "" && where != row.read+":1" {
				t.Errorf("Load read %q, %v; want %q", where, err, row.read)
			}
		})
	}
}

// The settings file of an installed package is the last one that is searched. It decides where the data is, in any
// directory.
func TestInstalledFile(t *testing.T) {
	dir := t.TempDir()
	installed := Installed{File: filepath.Join(dir, "etc", fileName), Data: filepath.Join(dir, "lib")}
	other := filepath.Join(dir, "other")
	for _, row := range []struct {
		name, settings string
		flags          map[string]string
		data, source   string
		problem        string
	}{
		{"without data", "# comment\n", nil, installed.Data, installed.File, ""},
		{"with data", "data: " + other + "\n", nil, other, installed.File + ":1", ""},
		{"flag", "data: " + other + "\n", map[string]string{"data": dir}, dir, "--data", ""},
		{"relative data", "log: {level: warn}\ndata: vault\n", nil, "vault", installed.File + ":2",
			`:2: data: must be an absolute path in this file, not "vault"`},
		{"invalid setting", "dato: x\n", nil, installed.Data, installed.File, ":1: dato: is not a setting; did you mean data?"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := errors.Join(os.MkdirAll(filepath.Dir(installed.File), 0o700),
				os.WriteFile(installed.File, []byte(row.settings), 0o600)); err != nil {
				t.Fatalf("write a settings file: %v", err)
			}
			c, err := Load(Source{Installed: installed, Flags: row.flags})
			if got := problemText(err); got != "" && row.problem == "" || !strings.HasSuffix(got, row.problem) {
				t.Errorf("problems: got %q, want %q", got, row.problem)
			}
			if c.Data != row.data || c.SourceOf("data") != row.source || c.File() != installed.File {
				t.Errorf("data: got %s of %s in %s, want %s of %s", c.Data, c.SourceOf("data"), c.File(), row.data, row.source)
			}
		})
	}
	t.Run("file in the data directory", func(t *testing.T) {
		own := filepath.Join(other, fileName)
		if err := errors.Join(os.MkdirAll(other, 0o700), os.WriteFile(own, []byte("log: {level: warn}\n"), 0o600),
			os.WriteFile(installed.File, []byte("data: "+other+"\n"), 0o600)); err != nil {
			t.Fatalf("write settings files: %v", err)
		}
		for _, row := range []struct {
			flags         map[string]string
			read, ignored string
		}{
			{nil, installed.File, own},
			{map[string]string{"data": other}, own, ""},
		} {
			c, err := Load(Source{Installed: installed, Flags: row.flags})
			if err != nil || c.File() != row.read || c.IgnoredFile() != row.ignored {
				t.Errorf("with %v: read %s and ignored %q, %v; want %s and %q", row.flags, c.File(), c.IgnoredFile(), err,
					row.read, row.ignored)
			}
		}
	})
}

func problemText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
