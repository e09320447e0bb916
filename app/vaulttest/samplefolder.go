//go:build ignore

// A program of go generate, which prints whether the tests read more sample documents
// than those of this repository: "go test ./..." prints nothing of packages that pass.
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
