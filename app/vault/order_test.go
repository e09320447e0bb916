package vault_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestOrderCreate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for n := range 2 { // a repeated number is accepted
		made, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput(" A-1 "), Custom: vaulttest.CustomText("rush", `"Rush"`)}, vault.Idempotency[model.Order]{})
		if err != nil || made.ID != uint64(n+1) || made.Number != "A-1" || made.Status != "active" || made.Version != 1 || len(made.Custom) != 1 {
			t.Errorf("%+v, %v", made, err)
		}
	}
	fields, err := v.Orders.Fields(t.Context())
	if err != nil || len(fields) == 0 || fields[0].Key != "transaction_type" {
		t.Errorf("%v, %v", fields, err)
	}
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{DueDate: model.StringInput("2026-02-30")}, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "wrong fields", err, errs.Invalid)
	if s := vaulttest.Status(t, v); s.Orders != 2 {
		t.Errorf("%d orders", s.Orders)
	}
}

// Exactly one of many at once gets the number; the others are told so.
func TestOrderUniqueNumberRace(t *testing.T) {
	t.Parallel()
	for _, unique := range []bool{false, true} {
		t.Run(fmt.Sprint(unique), func(t *testing.T) {
			t.Parallel()
			v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.UniqueOrderNumber = unique })
			const racers = 64
			var won atomic.Int64
			var all sync.WaitGroup
			for n := range racers {
				number := "Straße-9"
				if n%2 == 1 {
					number = "STRASSE-9"
				}
				all.Go(func() {
					_, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput(number)}, vault.Idempotency[model.Order]{})
					if err == nil {
						won.Add(1)
						return
					}
					var refused *errs.Error
					if !errors.As(err, &refused) || refused.Message != "The order number has already been taken." || refused.Fields[0].Field != "order_number" {
						t.Errorf("%v", err)
					}
				})
			}
			all.Wait()
			want := int64(racers)
			if unique {
				want = 1
			}
			if won.Load() != want || vaulttest.Status(t, v).Orders != uint64(want) {
				t.Errorf("%d won, %d orders, want %d", won.Load(), vaulttest.Status(t, v).Orders, want)
			}
		})
	}
}

func TestOrderUniqueNumberIsWhole(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.UniqueOrderNumber = true })
	long := strings.Repeat("9", 255)
	for _, number := range []string{"9", "99", " 99x", long} { // none is another's beginning
		if _, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput(number)}, vault.Idempotency[model.Order]{}); err != nil {
			t.Errorf("%s: %v", number, err)
		}
	}
	_, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput(long + " "), DueDate: model.StringInput("x")}, vault.Idempotency[model.Order]{})
	var refused *errs.Error
	if !errors.As(err, &refused) || len(refused.Fields) != 2 || refused.Fields[0].Field != "order_number" {
		t.Errorf("%v", err)
	}
}
