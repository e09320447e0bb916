//go:build root && linux

package powercut

import (
	"math/rand/v2"
	"testing"

	"deedkeep/app/vaulttest"
)

// mutantEnv is the environment variable with the name of the sync that the server in TestMutants omits.
const mutantEnv = "DEEDKEEP_TEST_MUTANT"

// mutantTries is how many recordings TestMutants makes before it fails because no data was lost. One recording may not
// be enough: a document in a directory that wasn't synced is at risk only until something else commits the file system
// journal.
const mutantTries = 3

// mutants are the syncs that the server can omit, and an upload that gives its bytes away before its record is
// committed, with the code change for each and the power failures that detect it.
var mutants = []struct {
	name     string
	mutation vaulttest.Mutation
	cuts     func(*run, *rand.Rand) []cut
}{
	{"file", vaulttest.Mutation{
		File: "app/blobstore/stage.go", Line: "if err := s.file.Sync(); err != nil {",
		Before: "if os.Getenv(\"" + mutantEnv + "\") == \"file\" {\nreturn\n}\n", Import: "os",
	}, (*run).responses},
	{"directory", vaulttest.Mutation{
		File: "app/blob/disk/files.go", Line: "return durable.SyncDir(path)",
		Before: "if os.Getenv(\"" + mutantEnv + "\") == \"directory\" {\nreturn nil\n}\n", Import: "os",
	}, (*run).responses},
	{"text", vaulttest.Mutation{
		File: "app/blobstore/ocr_files.go", Line: "_, err = f.WriteAt(records, layout.end)\n",
		Before: "if os.Getenv(\"" + mutantEnv + "\") == \"text\" {\n_, err = f.WriteAt(records, layout.end)\nreturn err\n}\n", Import: "os",
	}, (*run).responses},
	{"database", vaulttest.Mutation{
		File: "app/kv/boltkv/open.go", Line: "InitialMmapSize: initialMmap,",
		Before: "NoSync: os.Getenv(\"" + mutantEnv + "\") == \"database\",\n", Import: "os",
	}, (*run).responses},
	{"upload", vaulttest.Mutation{
		File: "app/blobstore/commit.go", Line: "if f.partial.isConfirmed() {",
		Before: "if os.Getenv(\"" + mutantEnv + "\") == \"upload\" {\nf.partial = nil\n}\n", Import: "os",
	}, (*run).flushes},
	{"empty upload", vaulttest.Mutation{
		File: "app/blobstore/partial.go", Line: "note, err := p.parent.store.files.Open(p.path(noteSuffix))\n\tif err == nil {",
		Before: "if os.Getenv(\"" + mutantEnv + "\") == \"empty upload\" {\nreturn nil\n}\n", Import: "os",
	}, (*run).responses},
}

// TestMutants checks that replaying a recording detects an omitted sync of a document, of the directory that the
// document is renamed into, of the text of a scan, of the database (bbolt's NoSync), or of a resumable upload without
// bytes. It also detects that the bytes of a resumable upload are renamed before the record is committed.
func TestMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed(t), 2))
	mutations := make([]vaulttest.Mutation, len(mutants))
	for i, m := range mutants {
		mutations[i] = m.mutation
	}
	binary := vaulttest.BuildProgram(t, mutations...)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			for range mutantTries {
				r := record(t, binary, m.name, "ext4", rng, 1, 40)
				r.replay(m.cuts(r, rng), 1)
				if r.lost+r.unopenable > 0 {
					return
				}
			}
			t.Error("the omitted sync was not found, want lost data")
		})
	}
}
