package apitypes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"deedkeep/app/apitypes"
)

func orderPage() apitypes.Page[apitypes.Order] {
	page := apitypes.Page[apitypes.Order]{Meta: apitypes.Meta{PerPage: 50}}
	for i := range 50 {
		county := "Harris <Tarrant> & Söhne\u2028"
		page.Data = append(page.Data, apitypes.Order{
			ID: fmt.Sprintf("ord_%026d", i), OrderNumber: fmt.Sprintf("2026-%05d", i), Status: "in_progress", County: &county,
			CustomFields: apitypes.CustomFields{"parcel_id": json.RawMessage(`"12-\u00e934"`), "fee": json.RawMessage(`1.50`)},
			CreatedAt:    apitypes.At(time.Unix(1790000000, 123456789)), UpdatedAt: apitypes.At(time.Unix(1790000001, 0)),
		})
	}
	return page
}

// Clients rely on the exact bytes, which encoding/json wrote at first.
func TestMarshalLikeEncodingJSON(t *testing.T) {
	got, err := apitypes.Marshal(orderPage())
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	if want := standardJSON(t, orderPage()); !bytes.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func standardJSON(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(v); err != nil {
		t.Fatalf("encode: %v", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// BenchmarkMarshal compares both libraries on a page of 50 orders.
func BenchmarkMarshal(b *testing.B) {
	page := orderPage()
	b.Run("json-experiment", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := apitypes.Marshal(page); err != nil {
				b.Fatalf("marshal: %v", err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			standardJSON(b, page)
		}
	})
}
