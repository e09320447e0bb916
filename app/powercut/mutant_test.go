//go:build root && linux

package powercut

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mutantEnv is the environment variable that names the sync that the server in TestMutants omits.
const mutantEnv = "DEEDKEEP_TEST_MUTANT"

// mutantTries is the maximum number of recordings without a loss. A document in a directory that wasn't synced is at
// risk only until something else commits the journal.
const mutantTries = 3

// mutants are the omitted syncs: code that is inserted before a line of the server.
var mutants = []struct {
	name, file, line, before string
}{
	{"file", "app/blobstore/stage.go", "if err := f.file.Sync(); err != nil {", "if os.Getenv(\"" + mutantEnv + "\") == \"file\" {\nreturn\n}\n"},
	{"directory", "app/blobstore/files.go", "return durable.SyncDir(path)", "if os.Getenv(\"" + mutantEnv + "\") == \"directory\" {\nreturn nil\n}\n"},
	{"database", "app/store/open.go", "InitialMmapSize: initialMmap,", "NoSync: os.Getenv(\"" + mutantEnv + "\") == \"database\",\n"},
}

// TestMutants checks that TestReplay detects an omitted sync: of a document, of the directory that it is renamed into,
// and of the database (bbolt's NoSync).
func TestMutants(t *testing.T) {
	rng, folder, replaced := rand.New(rand.NewPCG(seed(t), 2)), t.TempDir(), map[string]string{}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join(top, m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), m.line); n != 1 {
			t.Fatalf("%s: got %q %d times, want it once", m.file, m.line, n)
		}
		mutated := strings.Replace(string(text), m.line, m.before+m.line, 1)
		if !strings.Contains(mutated, "\t\"os\"\n") {
			mutated = strings.Replace(mutated, "import (", "import (\n\t\"os\"", 1)
		}
		path := filepath.Join(folder, m.name+".go")
		if err := os.WriteFile(path, []byte(mutated), 0o600); err != nil {
			t.Fatal(err)
		}
		replaced[filepath.Join(top, m.file)] = path
	}
	binary := program(t, replaced)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			for range mutantTries {
				r := record(t, binary, m.name, "ext4", rng, 1, 40)
				r.replay(r.responses(rng), 1)
				if r.lost+r.unopenable > 0 {
					return
				}
			}
			t.Error("not caught")
		})
	}
}
