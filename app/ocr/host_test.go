package ocr

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"deedkeep/web"
)

// The names of imported and exported functions are minified, so they are valid only for this build
// of Tesseract.
func TestNamesAreOfThisBuild(t *testing.T) {
	const known = "34e8d50cac216427d86bf397d610fdd9f49492539bbcdfbfccc4eda20c810bea"
	code, err := web.Tesseract()
	if err != nil {
		t.Fatalf("web.Tesseract: %v", err)
	}
	sum := sha256.Sum256(code)
	if got := hex.EncodeToString(sum[:]); got != known {
		t.Errorf("Tesseract's SHA-256 is %s, want %s: compare the names in exports, hostFuncs, and invokeFuncs "+
			"with tesseract-core-simd-lstm.js in web/node_modules, then change this test", got, known)
	}
}
