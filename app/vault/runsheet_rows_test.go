package vault_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

var benchRows = flag.Int("rows", 10_000, "number of instruments in BenchmarkRows")

// fillRunsheet stores instruments in an abstract, the last recorded first.
func fillRunsheet(t testing.TB, v *instance.Instance, abstract uint64, count int) {
	t.Helper()
	for at := 0; at < count; {
		err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
			for end := min(at+5_000, count); at < end; at++ {
				id, err := tx.NewInstrumentID()
				if err != nil {
					return err
				}
				day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -at)
				i := model.Instrument{ID: id, AbstractID: abstract, Number: fmt.Sprintf("2019%09d", id), Book: fmt.Sprint(1000 + id/900), Page: fmt.Sprint(id % 900),
					Recorded: day.Format(time.DateOnly), Grantors: []string{"Cole, Bea", "Cole, Ned"}, Grantees: []string{"First National Bank"},
					Legal: "Lot 7, Block 2, Birch Orchard", County: "Wexcombe", State: "NY", Version: 1, CreatedAt: day, UpdatedAt: day}
				if err := tx.PutInstrument(i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("store instruments: %v", err)
		}
	}
}

// A client that hangs up stops the export of its runsheet.
func TestRowsStop(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	abstract := vaulttest.CreateAbstractFromTemplate(t, v, 1, nil).ID
	fillRunsheet(t, v, abstract, 1_200)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	rows, err := v.Instruments.Rows(ctx, abstract)
	if err != nil {
		t.Fatalf("Rows: %v", err)
	}
	read, failed := 0, error(nil)
	for row, err := range rows {
		if err != nil {
			failed = err
			continue
		}
		if read++; row.Position != read {
			t.Fatalf("row %d has position %d", read, row.Position)
		}
		if read == 600 {
			hangUp()
		}
	}
	if !errors.Is(failed, context.Canceled) || read > 1_000 {
		t.Errorf("read %d rows, error %v, want 1,000 or less, %v", read, failed, context.Canceled)
	}
}

// BenchmarkRows reads a long runsheet as its files do (-rows 100000).
func BenchmarkRows(b *testing.B) {
	v := vaulttest.OpenUnchecked(b, vaulttest.Options(b))
	defer vaulttest.Close(b, v)
	abstract := vaulttest.CreateAbstractFromTemplate(b, v, 1, nil).ID
	fillRunsheet(b, v, abstract, *benchRows)
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	peak := 0.0
	for b.Loop() {
		rows, err := v.Instruments.Rows(b.Context(), abstract)
		if err != nil {
			b.Fatalf("Rows: %v", err)
		}
		read := 0
		for row, err := range rows {
			if read++; err != nil || row.Position != read {
				b.Fatalf("row %d: %+v, %v", read, row, err)
			}
			if read%(*benchRows/10) == 0 {
				peak = max(peak, heap())
			}
		}
		if read != *benchRows {
			b.Fatalf("read %d rows, want %d", read, *benchRows)
		}
	}
	b.ReportMetric(peak-heap(), "peak-MB")
}
