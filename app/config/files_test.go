package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Files returns the path that Load reads.
func TestSourceFiles(t *testing.T) {
	dir := t.TempDir()
	data, beside, own := filepath.Join(dir, "data"), filepath.Join(dir, "bin"), filepath.Join(dir, "own.yaml")
	inData, besideIt := filepath.Join(data, FileName), filepath.Join(beside, FileName)
	for _, row := range []struct {
		name   string
		exist  []string
		src    Source
		read   string
		looked []string
	}{
		{"none", nil, Source{DataDir: data, BinaryDir: beside}, "", []string{inData, besideIt}},
		{"beside the program", []string{besideIt}, Source{DataDir: data, BinaryDir: beside}, besideIt, []string{inData, besideIt}},
		{"both", []string{inData, besideIt}, Source{DataDir: data, BinaryDir: beside}, inData, []string{inData, besideIt}},
		{"named", []string{inData, own}, Source{DataDir: data, File: own}, own, []string{own}},
		{"data directory of the environment", []string{inData}, Source{Env: []string{"DEEDKEEP_DATA=" + data}}, inData, []string{inData}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, path := range []string{inData, besideIt, own} {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range row.exist {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("log: {level: warn}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			read, looked, err := row.src.Files()
			if err != nil || read != row.read || !slices.Equal(looked, row.looked) {
				t.Errorf("got %q of %q, %v; want %q of %q", read, looked, err, row.read, row.looked)
			}
			c, err := Load(row.src)
			if where := c.SourceOf("log.level"); err != nil || (where != "") != (row.read != "") || row.read != "" && where != row.read+":1" {
				t.Errorf("Load read %q, %v; want %q", where, err, row.read)
			}
		})
	}
}
