package web

import (
	"encoding/json"
	"io/fs"
)

// Source describes the source that a binary was built from. Version is the output of "git
// describe": v1.4.0, or v1.4.0-3-g12dcac5 for three commits after v1.4.0. Date is the date of the
// commit.
type Source struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"` // in RFC 3339 format
}

const sourceFile = "wasm/version.json"

// Generated returns the source at the time of the last "go generate ./...", or the zero value if it
// is unknown.
func Generated() Source { return generated(assets) }

func generated(files fs.FS) Source {
	var s Source
	content, err := fs.ReadFile(files, sourceFile)
	if err != nil || json.Unmarshal(content, &s) != nil {
		return Source{}
	}
	return s
}
