package web

import (
	"embed"
	"io/fs"
)

//go:embed pages/*.html
var pages embed.FS

// Pages returns the HTML templates by file name.
func Pages() fs.FS {
	sub, err := fs.Sub(pages, "pages")
	if err != nil {
		panic(err) // not reached: the name is a valid constant
	}
	return sub
}
