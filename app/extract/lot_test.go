package extract_test

import (
	"testing"

	"deedkeep/app/extract"
)

func TestReadLot(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Lot 12, Block C, Oak Hill":                             "Lot 12, Block C, Oak Hill",
		"Lot 7 of Birch Orchard":                                "Lot 7, Birch Orchard",
		"Oak Hill Subdivision, Lot 12a, Blk. 3":                 "Lot 12A, Block 3, Oak Hill Subdivision",
		"Part of Lot No. 4 of the Plan of Sunset Hills":         "Lot 4, Sunset Hills",
		"LOT 3, BLOCK 2, FOX RUN ADDITION, WEXCOMBE COUNTY":     "Lot 3, Block 2, FOX RUN ADDITION",
		"Lots 12 and 13, Section 2, Highland Park":              "Lot 12, Highland Park",
		"Lot 9, Block 1 in the Subdivision of Meadowbrook Plat": "Lot 9, Block 1, Meadowbrook Plat",
		"Lot A; Plat Book 3; Andover Estates":                   "Lot A, Andover Estates",
		"Lot 5, Theodore Place":                                 "Lot 5, Theodore Place",
		"Lot 12":                                                "",
		"Lot 12, Block 3, Wexcombe County":                      "",
		"Lot 12, as in Bk 1022 Pg 311":                          "",
		"Oak Hill Subdivision":                                  "",
		"as in Bk 1022 Pg 311":                                  "",
		"allotment 12, Oak Hill":                                "",
	} {
		got := ""
		if l, ok := extract.ReadLot(text); ok {
			got = l.String()
		}
		if got != want {
			t.Errorf("ReadLot(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSubdivisionName(t *testing.T) {
	t.Parallel()
	for subdivision, want := range map[string]string{"Oak Hill Subdivision": "Oak Hill", "FOX RUN ADDITION.": "FOX RUN", "Sunset Hills, Plat": "Sunset Hills",
		"Highland Park": "Highland Park", "Additional Estates": "Additional Estates"} {
		if got := (extract.LotReference{Lot: "1", Subdivision: subdivision}).SubdivisionName(); got != want {
			t.Errorf("SubdivisionName() of %q = %q, want %q", subdivision, got, want)
		}
	}
}
