package cmd

import (
	"encoding/json"
	"testing"

	"deedkeep/app/apitypes"
)

// If the search index is complete, the JSON fields for its progress and error are null.
func TestStatusOfCompleteIndex(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	if got := runCLI(t.Context(), t, nil, "reindex", "--data", data); got.code != exitDone {
		t.Fatalf("reindex: got %+v, want exit code %d", got, exitDone)
	}
	var status struct{ Search map[string]any }
	got := runCLI(t.Context(), t, nil, "status", "--json", "--data", data)
	if err := json.Unmarshal([]byte(got.out), &status); err != nil {
		t.Fatalf("decode status: %v: %+v", err, got)
	}
	index := status.Search
	for _, name := range []string{"done", "total", "error"} {
		if value, ok := index[name]; !ok || value != nil {
			t.Errorf("search.%s: got %v (exists: %t), want null", name, value, ok)
		}
	}
	if records, _ := index["records"].(float64); index["ready"] != true || index["building"] != false || records < 1 {
		t.Errorf("search: got %v, want ready, not building, with records", index)
	}
}

// The output of status says what OCR reads, by the IDs of the documents.
func TestOCRRow(t *testing.T) {
	status := apitypes.Status{Running: true, OCREnabled: true, OCRFiles: 2, OCRPages: 9}
	for want, reading := range map[string]apitypes.List[apitypes.OCRPage]{
		"9 pages of 2 documents waiting": nil,
		"9 pages of 2 documents waiting; reading page 3 of document 12, page 1 of document 40": {{File: 12, Page: 3}, {File: 40, Page: 1}},
	} {
		status.OCRReading = reading
		if got := (&shell{}).ocrRow(status); got != want {
			t.Errorf("ocrRow(%v) = %q, want %q", reading, got, want)
		}
	}
}

func TestMemoryRow(t *testing.T) {
	got := memoryRow([]apitypes.ProcessMemory{{Process: "server", Count: 1, Bytes: 50 << 20}, {Process: "render", Count: 2, Bytes: 30 << 20}, {Process: "ocr"}})
	if want := "80 MB (server 50 MB, 2 render 30 MB, 0 ocr 0 B)"; got != want {
		t.Errorf("memoryRow = %q, want %q", got, want)
	}
}

// The output of status says why writes are denied.
func TestWritesRow(t *testing.T) {
	for want, status := range map[string]apitypes.Status{
		"enabled":                               {DiskFree: 10, DiskReserve: 10},
		"DISABLED: The data directory is gone.": {WritesDenied: new("The data directory is gone.")},
		"DISABLED: Full. Reading still works.":  {WritesDenied: new("Full."), StillWorks: new("Reading still works.")},
		"LIMITED: Documents of up to 1.8 MB.":   {StillWorks: new("Documents of up to 1.8 MB.")},
	} {
		if got := writesRow(status); got != want {
			t.Errorf("writesRow(%+v) = %q, want %q", status, got, want)
		}
	}
}
