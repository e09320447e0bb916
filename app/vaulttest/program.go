package vaulttest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutation is a defect that a test adds to the binary. It consists of code to insert before a line of a source file.
type Mutation struct {
	File   string // path relative to the module root
	Line   string // must occur exactly once in the file
	Before string // code to insert
	Import string // package that the code imports
}

// BuildProgram builds the release binary with the given mutations and returns its path.
func BuildProgram(t testing.TB, mutations ...Mutation) string {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for i, m := range mutations {
		source := filepath.Join(moduleRoot(t), m.File)
		mutated := filepath.Join(dir, string(rune('a'+i))+".go")
		writeMutated(t, m, source, mutated)
		replace[source] = mutated
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatalf("encode overlay: %v", err)
	}
	overlayFile, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "deedkeep.exe")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatalf("write overlay: %v", err)
	}
	// #nosec G204 -- the arguments are constants and paths of this test
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "nomsgpack", "-overlay", overlayFile, "-o", program, "deedkeep")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// writeMutated writes the mutated source to another file.
func writeMutated(t testing.TB, m Mutation, source, to string) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatalf("read source: %v", err)
	}
	if n := strings.Count(string(text), m.Line); n != 1 {
		t.Fatalf("%s: got %q %d times, want it once", m.File, m.Line, n)
	}
	mutated := strings.Replace(string(text), m.Line, m.Before+m.Line, 1)
	if line := "\t\"" + m.Import + "\"\n"; !strings.Contains(mutated, line) {
		mutated = strings.Replace(mutated, "import (\n", "import (\n"+line, 1)
	}
	if err := os.WriteFile(to, []byte(mutated), 0o600); err != nil {
		t.Fatalf("write mutated source: %v", err)
	}
}
