package vaulttest_test

import (
	"context"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Fill writes the records that the mix describes.
func TestMixFills(t *testing.T) {
	m := vaulttest.Mix{Until: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), Orders: 60, Texts: 6}
	opts := vaulttest.Options(t)
	if err := m.Fill(t.Context(), opts.Dir, func(string, int, int) {}); err != nil {
		t.Fatal(err)
	}
	v := vaulttest.Open(t, opts)
	for n := range m.Orders {
		a, err := v.Abstracts.Get(t.Context(), uint64(n)+1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := v.Orders.Get(t.Context(), uint64(n)+1)
		if err != nil {
			t.Fatal(err)
		}
		said, ordered := m.Abstract(n), m.Order(n)
		if a := a.Abstract; a.FileNumber() != said.Number || a.ParcelID() != said.Parcel || a.County != said.County ||
			o.Number != ordered.Number || o.ParcelID() != ordered.Parcel {
			t.Errorf("%d: %+v, %+v, said %+v, %+v", n, a, o, said, ordered)
		}
	}
	words := vaulttest.NewVocabulary()
	for n := range m.Texts {
		k := m.FileOf(n)
		if got, has := m.Text(k); !has || got != n {
			t.Errorf("document %d is of file %d, which has %d", n, k, got)
		}
		var read []string
		if err := text(t.Context(), v, uint64(k)+1, &read); err != nil {
			t.Fatal(err)
		}
		for i, page := range words.Pages(n) {
			if read[i] != page {
				t.Errorf("document %d, page %d:\n%s\n%s", n, i+1, read[i], page)
			}
		}
	}
}

func text(ctx context.Context, v *instance.Instance, id uint64, into *[]string) error {
	return v.Previews.Text(ctx, model.Actor{Kind: model.ActorKey, ID: 1}, id, func(_ int, text string) error {
		*into = append(*into, text)
		return nil
	})
}
