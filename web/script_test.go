package web

import (
	"path"
	"testing"
)

// All assets have the same folder, so that relative imports work, and another folder is not found.
func TestAssetsShareOneFolder(t *testing.T) {
	t.Parallel()
	a, err := OpenAssets()
	if err != nil {
		t.Fatalf("open assets: %v", err)
	}
	folders := map[string]bool{}
	for _, name := range []string{"page.js", "base.css", "htmx.min.js", "swagger-ui.js", "favicon.svg"} {
		address, err := a.URL(name)
		if err != nil {
			t.Fatalf("URL: %v", err)
		}
		folders[path.Dir(address)] = true
	}
	if len(folders) != 1 {
		t.Errorf("folders of the assets = %v, want one", folders)
	}
}
