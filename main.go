// Command deedkeep is the title-abstract, order and document-vault service of a
// small title firm, in one binary. See README.md, and "deedkeep help".
package main

import (
	"os"

	"deedkeep/cmd"
)

func main() { os.Exit(cmd.Main()) }
