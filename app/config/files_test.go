package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Files returns the path of the file that Load reads.
func TestSourceFiles(t *testing.T) {
	dir := t.TempDir()
	data, bin, own := filepath.Join(dir, "data"), filepath.Join(dir, "bin"), filepath.Join(dir, "own.yaml")
	inData, inBinaryDir := filepath.Join(data, FileName), filepath.Join(bin, FileName)
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
