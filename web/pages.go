package web

import (
	"embed"
	"io/fs"
)

//go:embed pages/*.html
var pages embed.FS

// Pages are the templates of what people see in a browser, by file name.
func Pages() fs.FS {
	sub, err := fs.Sub(pages, "pages")
	if err != nil {
		panic(err) // the name above is a constant and valid
	}
	return sub
}
