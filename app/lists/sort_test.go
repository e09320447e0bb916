package lists

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Values sort as people read them: numbers and dates by value, texts without regard to case, and blanks last.
func TestKeys(t *testing.T) {
	for _, row := range []struct {
		kind   model.FieldType
		sorted []string
	}{
		{model.Number, []string{"-12", "-3.5", "0", "0.25", "7", "12", "1000000", "about 5", ""}},
		{model.Money, []string{"9.99", "10.00", "250000.00", ""}},
		{model.Date, []string{"1999-12-31", "2026-01-02", "2026-11-01", ""}},
		{model.Text, []string{"1 Elm St", "2 Elm St", "10 Elm St", "10 Elm St Apt 9",
			"10 elm st apt 10", "adams", "Baker", "bk 9", "BK 010", "über", ""}},
		{model.Checkbox, []string{"false", "true", ""}},
		{model.Choice, []string{"active", "on_hold", ""}},
	} {
		c := Column[string]{Type: row.kind, Text: func(s *string) string { return *s }}
		for _, down := range []bool{false, true} {
			want := slices.Clone(row.sorted)
			if down {
				slices.Reverse(want[:len(want)-1]) // blanks stay last
			}
			got := slices.Clone(row.sorted)
			slices.Reverse(got)
			slices.SortStableFunc(got, func(a, b string) int {
				if down {
					a, b = b, a
				}
				return bytes.Compare(c.key(&a, down), c.key(&b, down))
			})
			if !slices.Equal(got, want) {
				t.Errorf("%s, descending %t: %q, want %q", row.kind, down, got, want)
			}
		}
	}
	at := Column[time.Time]{At: func(at *time.Time) time.Time { return *at }}
	early, late := time.UnixMicro(-5), time.UnixMicro(5)
	if bytes.Compare(at.key(&early, false), at.key(&late, false)) >= 0 {
		t.Error("an earlier time isn't before a later one")
	}
}

// Pages that are sorted in memory wait for a turn. Other pages don't.
func TestInTurns(t *testing.T) {
	s := New(nil, encode.IDCodec{}, nil, nil)
	running, release := make(chan struct{}), make(chan struct{})
	read := func(_ context.Context, q vault.Query) (vault.Page[int], error) {
		if q.Keys != nil {
			running <- struct{}{}
			<-release
		}
		return vault.Page[int]{}, nil
	}
	sorted := vault.Query{Keys: func(*store.Tx, any) ([][]byte, error) { return nil, nil }}
	for id := range uint64(concurrentSorts) {
		go func() { _, _ = InTurns(s, model.Actor{Kind: "user", ID: id + 1}, read)(t.Context(), sorted) }()
		<-running
	}
	other := InTurns(s, model.Actor{Kind: "user", ID: 9}, read)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := other(ctx, sorted); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("a sorted page beside %d others: %v, want Unavailable", concurrentSorts, err)
	}
	if _, err := other(ctx, vault.Query{}); err != nil {
		t.Errorf("a page of an index: %v, want no error", err)
	}
	close(release)
	go func() { <-running }()
	if _, err := other(t.Context(), sorted); err != nil {
		t.Errorf("a sorted page after the others: %v, want no error", err)
	}
}
