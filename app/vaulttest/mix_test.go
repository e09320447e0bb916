package vaulttest_test

import (
	"context"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Fill writes exactly the records that the mix describes.
func TestMixFill(t *testing.T) {
	m := vaulttest.Mix{Until: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), Orders: 60, Texts: 6}
	opts := vaulttest.Options(t)
	if err := m.Fill(t.Context(), opts.Dir, func(string, int, int) {}); err != nil {
		t.Fatalf("fill: %v", err)
	}
	v := vaulttest.Open(t, opts)
	for n := range m.Orders {
		a, err := v.Abstracts.Get(t.Context(), uint64(n)+1)
		if err != nil {
			t.Fatalf("get abstract %d: %v", n+1, err)
		}
		o, err := v.Orders.Get(t.Context(), uint64(n)+1)
		if err != nil {
			t.Fatalf("get order %d: %v", n+1, err)
		}
		wantAbstract, wantOrder := m.Abstract(n), m.Order(n)
		if a := a.Abstract; a.FileNumber() != wantAbstract.Number || a.ParcelID() != wantAbstract.Parcel || a.County != wantAbstract.County ||
			o.Number != wantOrder.Number || o.ParcelID() != wantOrder.Parcel {
			t.Errorf("records %d: got %+v, %+v, want %+v, %+v", n, a, o, wantAbstract, wantOrder)
		}
	}
	words := vaulttest.NewVocabulary()
	for n := range m.Texts {
		k := m.FileWithText(n)
		if got, has := m.TextNumber(k); !has || got != n {
			t.Errorf("text of file %d: got %d, %t, want %d", k, got, has, n)
		}
		var got []string
		if err := appendText(t.Context(), v, uint64(k)+1, &got); err != nil {
			t.Fatalf("text of file %d: %v", k+1, err)
		}
		for i, page := range words.Pages(n) {
			if got[i] != page {
				t.Errorf("text %d, page %d: got\n%s\nwant\n%s", n, i+1, got[i], page)
			}
		}
	}
}

// appendText appends the text of each page of a file to pages.
func appendText(ctx context.Context, v *instance.Instance, id uint64, pages *[]string) error {
	return v.Previews.Text(ctx, model.Actor{Kind: model.ActorKey, ID: 1}, id, func(_ int, text string) error {
		*pages = append(*pages, text)
		return nil
	})
}
