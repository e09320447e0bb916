package vault_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// derivedRow is an instrument of a random runsheet, as three bytes describe it.
type derivedRow struct {
	kind     string
	relation string // what it does to the instrument in row target
	target   int
	status   string // set by a person
	expires  string
	trashed  bool
}

// derivedRows returns the rows that a text describes, three bytes each.
func derivedRows(text []byte) (rows []derivedRow) {
	kinds := []string{"Mortgage", "Release or Satisfaction", "Warranty Deed", "UCC"}
	for part := range slices.Chunk(text[:min(len(text), 24)], 3) {
		if len(part) < 3 {
			break
		}
		row := derivedRow{kind: kinds[part[0]%4], relation: model.RelationKinds()[int(part[1]>>4)%len(model.RelationKinds())],
			target: int(part[1] & 15), trashed: part[2]&1 != 0}
		if part[2]&2 != 0 {
			row.expires = []string{"2001-01-01", "2099-01-01"}[part[2]>>2&1]
		}
		if part[2]&8 != 0 {
			row.status = model.InstrumentStatuses()[part[2]>>4&3]
		}
		rows = append(rows, row)
	}
	return rows
}

// wantStatus returns the status of a row by the definition, looking at all rows.
func wantStatus(rows []derivedRow, n int) string {
	row := rows[n]
	ends := func(other derivedRow) bool {
		return !other.trashed && other.target == n+1 && (other.relation == model.Releases || other.relation == model.Terminates)
	}
	switch {
	case row.status != "":
		return row.status
	case row.kind != "Mortgage" && row.kind != "UCC":
		return model.NotApplicable
	case slices.ContainsFunc(rows, ends):
		return model.InstrumentReleased
	case row.expires == "2001-01-01":
		return model.InstrumentExpired
	}
	return model.InstrumentOpen
}

// FuzzRunsheet checks that the derived statuses of random instruments with relations to each other are the same
// in the runsheet, its file, and the list, and alone, and that they follow from all instruments that aren't in
// the trash.
func FuzzRunsheet(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0x01, 0, 0, 0, 2, 1, 0x21, 1})
	f.Add([]byte{0, 0, 6, 3, 0, 2, 1, 0x02, 0, 1, 0x23, 9, 2, 0, 24})
	v := vaulttest.OpenUnchecked(f, vaulttest.Options(f))
	f.Cleanup(func() { vaulttest.Close(f, v) })
	f.Fuzz(func(t *testing.T, text []byte) {
		rows := derivedRows(text)
		a := vaulttest.CreateAbstract(t, v).Abstract.ID
		ids, ok := createRows(t, v, a, rows)
		if !ok {
			return
		}
		for n, row := range rows {
			if row.trashed {
				vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, ids[n], vault.Match{}))
			}
		}
		sheet, err := v.Instruments.Runsheet(t.Context(), a)
		vaulttest.NoError(t, err)
		if _, missing := v.Instruments.Gaps(t.Context(), sheet); missing {
			t.Error("the gaps are missing")
		}
		got := map[uint64]string{}
		for n, i := range sheet.Instruments {
			got[i.ID] = i.Status
			if i.Position != n+1 {
				t.Errorf("position of instrument %d = %d, want %d", i.ID, i.Position, n+1)
			}
		}
		for n, row := range rows {
			if _, listed := got[ids[n]]; listed == row.trashed {
				t.Errorf("row %+v is in the runsheet: %v", row, listed)
			}
			if want := wantStatus(rows, n); !row.trashed && got[ids[n]] != want {
				t.Errorf("status of row %d of %+v = %q, want %q", n+1, rows, got[ids[n]], want)
			}
		}
		checkSameStatuses(t, v, a, got)
	})
}

// createRows creates the instruments of the rows. ok is false if there are none, or if they release each other.
func createRows(t *testing.T, v *instance.Instance, abstract uint64, rows []derivedRow) (ids []uint64, ok bool) {
	var list []vault.NewInstrument
	for n, row := range rows {
		in := model.Inputs{"type": model.StringInput(row.kind), "book": model.NumberInput(n + 1)}
		for name, value := range map[string]string{"status": row.status, "expires": row.expires} {
			if value != "" {
				in[name] = model.StringInput(value)
			}
		}
		item := vault.NewInstrument{InstrumentPatch: vault.InstrumentPatch{Input: in, Position: n + 1}, Row: n + 1}
		if row.target > 0 {
			item.Relations = []vault.RowRelation{{Kind: row.relation, Row: row.target}}
		}
		list = append(list, item)
	}
	views, err := createMany(t, v, abstract, list...)
	if invalid, ok := errors.AsType[*errs.Error](err); ok && invalid.Kind == errs.Invalid {
		return nil, false
	}
	vaulttest.NoError(t, err)
	for n, view := range views {
		if view.Book != fmt.Sprint(n+1) {
			t.Errorf("instrument %d has the book %s, want the sequence of the rows", n+1, view.Book)
		}
		ids = append(ids, view.ID)
	}
	return ids, len(ids) > 0
}

// checkSameStatuses checks the statuses of an abstract's instruments against those in its runsheet.
func checkSameStatuses(t *testing.T, v *instance.Instance, abstract uint64, want map[uint64]string) {
	t.Helper()
	page, err := v.Instruments.List(t.Context(), vault.Query{Limit: 50,
		Filters: []vault.Filter{{Column: model.ColumnAbstract, Value: fmt.Sprint(abstract)}}})
	vaulttest.NoError(t, err)
	if len(page.Items) != len(want) {
		t.Errorf("the list has %d instruments, want %d", len(page.Items), len(want))
	}
	for _, i := range page.Items {
		if one, err := v.Instruments.Get(t.Context(), i.ID); err != nil || i.Status != want[i.ID] || one.Status != want[i.ID] {
			t.Errorf("status of instrument %d is %q in the list and %q alone, %v; want %q", i.ID, i.Status, one.Status, err, want[i.ID])
		}
	}
	rows, err := v.Instruments.Rows(t.Context(), abstract)
	vaulttest.NoError(t, err)
	for row, err := range rows {
		if err != nil || row.Status != want[row.ID] {
			t.Errorf("status of instrument %d in the file is %q, %v; want %q", row.ID, row.Status, err, want[row.ID])
		}
	}
}
