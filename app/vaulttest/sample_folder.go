//go:build ignore

// Command sample_folder prints whether the tests read sample documents outside this repository. go generate runs it,
// because "go test ./..." prints nothing for packages that pass.
package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	folder := cmp.Or(os.Getenv("DEEDKEEP_SAMPLES"), filepath.Join("..", "..", "..", "shared", "samples"))
	if _, err := os.Stat(filepath.Join(folder, "MANIFEST.tsv")); err != nil {
		fmt.Println("samples: the tests read the documents of this repository only (DEEDKEEP_SAMPLES can name a folder of more)")
		return
	}
	fmt.Println("samples: the tests read the documents of this repository and those in", folder)
}
