// Command deedkeep is the title-abstract, order and document-vault service of a
// small title firm, in one binary. See README.md, and "deedkeep help".
package main

import (
	_ "embed"
	"os"

	"deedkeep/cmd"
)

//go:embed config.example.yaml
var example string

func main() { os.Exit(cmd.Main(example)) }
