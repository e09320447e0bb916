package vault_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
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

// A damaged sort key doesn't hide a runsheet: the instrument is read instead. It is logged once, and a
// verification reports it.
func TestDamagedSortKey(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	var log bytes.Buffer
	opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	v := vaulttest.OpenUnchecked(t, opts)
	abstract := vaulttest.CreateAbstractFromTemplate(t, v, 1, nil).ID
	fillRunsheet(t, v, abstract, 3)
	vaulttest.Close(t, v)
	vaulttest.FlipBit(t, filepath.Join(opts.Dir, "vault.db"), "runsheet_rows", 300, false)
	v = vaulttest.OpenUnchecked(t, opts)
	defer vaulttest.Close(t, v)
	log.Reset()
	for range 2 {
		rows, err := v.Instruments.Rows(t.Context(), abstract)
		if err != nil {
			t.Fatalf("Rows: %v", err)
		}
		var ids []uint64
		for row, err := range rows {
			if err != nil {
				t.Fatalf("row after %v: %v", ids, err)
			}
			ids = append(ids, row.ID)
		}
		if want := []uint64{3, 2, 1}; !slices.Equal(ids, want) {
			t.Errorf("rows = %v, want %v", ids, want)
		}
	}
	if n := strings.Count(log.String(), "damaged entry in a database index"); n != 1 {
		t.Errorf("%d log entries, want 1: %s", n, &log)
	}
	report, err := v.Integrity.Verify(t.Context(), func(int, int) {})
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Subject != "1" {
		t.Errorf("Verify = %+v, %v, want a finding about instrument 1", report.Findings, err)
	}
}

// Positions follow each change of the runsheet. The runsheet itself, which is read from the
// instruments, has the same ones.
func TestPositionsFollowChanges(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	from := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	to := vaulttest.CreateAbstract(t, v)
	file := from.Files[0].ID
	for _, recorded := range []string{"2019-04-17", "2019-04-18", "2019-04-19"} {
		vaulttest.CreateInstrument(t, v, from.Abstract.ID, fmt.Sprintf(`{"recorded": %q, "documents": [{"file_id": %d}]}`, recorded, file))
	}
	vaulttest.CreateInstrument(t, v, to.Abstract.ID, `{"recorded": "2019-04-18"}`)
	operator, ctx := vaulttest.Operator, t.Context()
	for _, step := range []struct {
		name         string
		do           func() error
		inFrom, inTo []uint64
	}{
		{"create", func() error { return nil }, []uint64{1, 2, 3}, []uint64{4}},
		{"patch, which moves it to its place by date", func() error {
			_, err := v.Instruments.Patch(ctx, operator, 1,
				vault.InstrumentPatch{Input: model.Inputs{"recorded": model.JSONInput(`"2019-05-01"`)}}, vault.Match{})
			return err
		}, []uint64{2, 3, 1}, []uint64{4}},
		{"trash", func() error { return v.Instruments.Trash(ctx, operator, 3, vault.Match{}) }, []uint64{2, 1}, []uint64{4}},
		{"restore", func() error {
			_, err := v.Instruments.Restore(ctx, operator, 3, vault.Idempotency[vault.InstrumentView]{})
			return err
		}, []uint64{2, 3, 1}, []uint64{4}},
		{"reorder", func() error {
			return v.Instruments.SetSequence(ctx, operator, from.Abstract.ID, []uint64{3, 2, 1}, vault.Match{})
		},
			[]uint64{3, 2, 1}, []uint64{4}},
		{"move", func() error {
			_, err := v.Files.Move(ctx, operator, vault.MoveRequest{Files: []uint64{file}, To: vault.Destination{Abstract: to.Abstract.ID},
				Instruments: []uint64{1, 3}})
			return err
		}, []uint64{2}, []uint64{4, 3, 1}},
		{"purge", func() error {
			if err := v.Instruments.Trash(ctx, operator, 4, vault.Match{}); err != nil {
				return err
			}
			_, err := v.Purger.Purge(ctx, operator, "instrument", 4, "")
			return err
		}, []uint64{2}, []uint64{3, 1}},
	} {
		t.Run(step.name, func(t *testing.T) {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			for abstract, want := range map[uint64][]uint64{from.Abstract.ID: step.inFrom, to.Abstract.ID: step.inTo} {
				sheet, err := v.Instruments.Runsheet(ctx, abstract)
				vaulttest.NoError(t, err)
				var ids []uint64
				for _, i := range sheet.Instruments {
					ids = append(ids, i.ID)
					if got, err := v.Instruments.Get(ctx, i.ID); err != nil || got.Position != i.Position {
						t.Errorf("Get(%d) = position %d, %v; want %d", i.ID, got.Position, err, i.Position)
					}
				}
				if !slices.Equal(ids, want) {
					t.Errorf("runsheet of abstract %d = %v, want %v", abstract, ids, want)
				}
			}
			page, err := v.Instruments.List(ctx, vault.Query{Limit: 9})
			vaulttest.NoError(t, err)
			for _, i := range page.Items {
				want := step.inFrom
				if i.AbstractID == to.Abstract.ID {
					want = step.inTo
				}
				if slices.Index(want, i.ID) != i.Position-1 {
					t.Errorf("List: instrument %d has position %d, want its place in %v", i.ID, i.Position, want)
				}
			}
			if len(page.Items) != len(step.inFrom)+len(step.inTo) {
				t.Errorf("List = %d instruments, want %d", len(page.Items), len(step.inFrom)+len(step.inTo))
			}
		})
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

// BenchmarkCreate records instruments: many at a time in an empty abstract, and one at a time in an
// abstract with as many.
func BenchmarkCreate(b *testing.B) {
	o := vaulttest.Options(b)
	o.Settings.Runsheet.Rows = 10_000
	v := vaulttest.OpenUnchecked(b, o)
	defer vaulttest.Close(b, v)
	for _, count := range []int{20, 1_000, 10_000} {
		list := make([]vault.NewInstrument, count)
		for n := range list {
			list[n].Row, list[n].Position = n+1, n+1
			list[n].Input = model.Inputs{"type_id": model.JSONInput("1"), "book": model.StringInput(fmt.Sprint(n)),
				"recorded": model.JSONInput(`"2019-04-17"`), "grantors": model.JSONInput(`["Cole, Bea"]`)}
		}
		b.Run(fmt.Sprintf("rows=%d", count), func(b *testing.B) {
			for b.Loop() {
				abstract := vaulttest.CreateAbstractFromTemplate(b, v, 1, nil).ID
				added, err := v.Instruments.CreateMany(b.Context(), vaulttest.Operator, abstract, list, vault.Idempotency[vault.Added]{})
				if err != nil || len(added.Created) != count {
					b.Fatalf("CreateMany = %d instruments, %v, want %d", len(added.Created), err, count)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*count), "µs/row")
		})
		abstract := vaulttest.CreateAbstractFromTemplate(b, v, 1, nil).ID
		fillRunsheet(b, v, abstract, count)
		b.Run(fmt.Sprintf("one after %d", count), func(b *testing.B) {
			for b.Loop() {
				_, err := v.Instruments.Create(b.Context(), vaulttest.Operator, abstract, list[0].InstrumentPatch,
					vault.Idempotency[vault.InstrumentView]{})
				if err != nil {
					b.Fatalf("Create: %v", err)
				}
			}
		})
	}
}

// BenchmarkPatch changes one instrument of a long runsheet (-rows 20000): what doesn't identify it, and its page.
func BenchmarkPatch(b *testing.B) {
	v := vaulttest.OpenUnchecked(b, vaulttest.Options(b))
	defer vaulttest.Close(b, v)
	abstract := vaulttest.CreateAbstractFromTemplate(b, v, 1, nil).ID
	fillRunsheet(b, v, abstract, *benchRows)
	for _, field := range []string{"remarks", "page"} {
		b.Run(field, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				input := model.Inputs{field: model.StringInput(fmt.Sprint(n))}
				if _, err := v.Instruments.Patch(b.Context(), vaulttest.Operator, uint64(*benchRows/2), vault.InstrumentPatch{Input: input},
					vault.Match{}); err != nil {
					b.Fatalf("Patch: %v", err)
				}
			}
		})
	}
}

// BenchmarkInstrumentsByBookAndPage lists 100 instruments of 100 abstracts with 20 instruments each.
func BenchmarkInstrumentsByBookAndPage(b *testing.B) {
	const abstracts = 100
	v := vaulttest.OpenUnchecked(b, vaulttest.Options(b))
	defer vaulttest.Close(b, v)
	for range abstracts {
		abstract := vaulttest.CreateAbstractFromTemplate(b, v, 1, nil).ID
		fillRunsheet(b, v, abstract, 20)
		err := v.Store.Update(b.Context(), nil, func(tx *store.Tx) error {
			i, err := tx.Instrument(tx.InstrumentIDs(abstract)[7])
			i.Book, i.Page = "417", "7"
			return errors.Join(err, tx.PutInstrument(i))
		})
		if err != nil {
			b.Fatalf("change an instrument: %v", err)
		}
	}
	query := vault.Query{Limit: abstracts, Filters: []vault.Filter{{Column: model.ColumnBook, Value: "417"},
		{Column: model.ColumnPage, Value: "7"}}}
	for b.Loop() {
		page, err := v.Instruments.List(b.Context(), query)
		if err != nil || len(page.Items) != abstracts || page.Items[0].Position == 0 {
			b.Fatalf("List = %d instruments, %v, want %d with positions", len(page.Items), err, abstracts)
		}
	}
}

// A new row with a date goes between its neighbors in a chosen sequence. Sorting by recording date is undone
// in one step, unless a person chose another sequence since.
func TestSortRunsheetByRecording(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	if _, err := createMany(t, v, a, newInstrument(t, 1, `{"book": "1", "recorded": "1990-01-01"}`),
		newInstrument(t, 2, `{"book": "2", "recorded": "1980-01-01"}`), newInstrument(t, 3, `{"book": "3"}`)); err != nil {
		t.Fatalf("CreateMany: %v", err)
	}
	want := func(what string, chosen bool, list ...string) {
		t.Helper()
		sheet, err := v.Instruments.Runsheet(t.Context(), a)
		if got := books(t, v, a); err != nil || !slices.Equal(got, list) || sheet.Chosen != chosen {
			t.Errorf("runsheet %s = %q, chosen %v, %v, want %q", what, got, sheet.Chosen, err, list)
		}
	}
	set := func(ids ...uint64) {
		t.Helper()
		vaulttest.NoError(t, v.Instruments.SetSequence(t.Context(), vaulttest.Operator, a, ids, vault.Match{}))
	}
	patch := func(id uint64, text string, position int) {
		t.Helper()
		p := newInstrument(t, 1, text).InstrumentPatch
		p.Position = position
		_, err := v.Instruments.Patch(t.Context(), vaulttest.Operator, id, p, vault.Match{})
		vaulttest.NoError(t, err)
	}
	want("by date", false, "2", "1", "3")
	set()
	want("sorted again", false, "2", "1", "3")
	patch(3, `{"recorded": "1970-01-01"}`, 0)
	want("when an undated row is dated", false, "3", "2", "1")
	patch(3, `{"recorded": null}`, 0)
	want("when it is undated again", false, "2", "1", "3")
	patch(1, `{}`, 1)
	want("after a move", true, "1", "2", "3")
	patch(3, `{"recorded": "1995-01-01"}`, 0)
	want("when the date arrives", true, "1", "2", "3")
	patch(3, `{"recorded": "1985-01-01"}`, 0)
	sheet, err := v.Instruments.Runsheet(t.Context(), a)
	if err != nil || !sheet.Instruments[2].Unplaced || sheet.Instruments[0].Unplaced {
		t.Errorf("runsheet = %+v, %v, want the last row unplaced", sheet.Instruments, err)
	}
	set()
	want("sorted", false, "2", "3", "1")
	change := func() string {
		t.Helper()
		sheet, err := v.Instruments.Runsheet(t.Context(), a)
		vaulttest.NoError(t, err)
		return sheet.SequenceChange
	}
	sorted := change()
	vaulttest.NoError(t, v.Instruments.RestoreSequence(t.Context(), vaulttest.Operator, a, sorted))
	want("restored", true, "1", "2", "3")
	restore := func(what, sorted string) {
		t.Helper()
		vaulttest.WantKind(t, what, v.Instruments.RestoreSequence(t.Context(), vaulttest.Operator, a, sorted), errs.Conflict)
	}
	restore("second RestoreSequence", sorted)
	set()
	sorted = change()
	set(3, 2, 1)
	restore("RestoreSequence after another change", sorted)
	err = v.Instruments.RestoreSequence(t.Context(), model.SystemActor(), a, change())
	vaulttest.WantKind(t, "RestoreSequence by someone else", err, errs.Conflict)
	want("as set", true, "3", "2", "1")
	patch(3, `{}`, 2)
	want("moved to its place by date", false, "2", "3", "1")
	err = v.Instruments.SetSequence(t.Context(), vaulttest.Operator, a, []uint64{1}, vault.Match{})
	vaulttest.WantKind(t, "SetSequence of a part", err, errs.Invalid)
}
