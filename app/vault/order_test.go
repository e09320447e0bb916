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
	for n := range 2 { // by default, order numbers don't have to be unique
		created, err := v.Orders.Create(t.Context(), vaulttest.Operator,
			model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(" A-1 ")},
				Custom: vaulttest.CustomText("rush", `"Rush"`)}, vault.Idempotency[model.Order]{})
		if err != nil || created.ID != uint64(n+1) || created.Number != "A-1" || created.Status != "active" || created.Version != 1 ||
			len(created.Custom) != 1 {
			t.Errorf("Orders.Create: got %+v, %v, want version 1 of active order %d, number A-1, with one custom field", created, err, n+1)
		}
	}
	fields, err := v.Orders.Fields(t.Context())
	if err != nil || len(fields) == 0 || fields[0].Key != "transaction_type" {
		t.Errorf("Orders.Fields: got %v, %v, want transaction_type first", fields, err)
	}
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator,
		model.OrderDraft{Fields: model.Inputs{"due_date": model.StringInput("2026-02-30")}},
		vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "order with invalid fields", err, errs.Invalid)
	if s := vaulttest.Status(t, v); s.Orders != 2 {
		t.Errorf("number of orders: got %d, want 2", s.Orders)
	}
}

// If order numbers must be unique and many concurrent requests use the same number, exactly one succeeds. Numbers that
// differ only in case are considered equal.
func TestOrderUniqueNumberRace(t *testing.T) {
	t.Parallel()
	for _, unique := range []bool{false, true} {
		t.Run(fmt.Sprintf("unique %t", unique), func(t *testing.T) {
			t.Parallel()
			v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.UniqueOrderNumber = unique })
			const requests = 64
			var successes atomic.Int64
			var wg sync.WaitGroup
			for n := range requests {
				number := "Straße-9"
				if n%2 == 1 {
					number = "STRASSE-9"
				}
				wg.Go(func() {
					_, err := v.Orders.Create(t.Context(), vaulttest.Operator,
						model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(number)}},
						vault.Idempotency[model.Order]{})
					if err == nil {
						successes.Add(1)
						return
					}
					var invalid *errs.Error
					if !errors.As(err, &invalid) || invalid.Message != "The order number has already been taken." ||
						invalid.Fields[0].Field != "order_number" {
						t.Errorf("Orders.Create: got %v, want that the order number has already been taken", err)
					}
				})
			}
			wg.Wait()
			want := int64(requests)
			if unique {
				want = 1
			}
			if successes.Load() != want || vaulttest.Status(t, v).Orders != uint64(want) {
				t.Errorf("got %d successful requests, %d orders, want %d", successes.Load(), vaulttest.Status(t, v).Orders, want)
			}
		})
	}
}

// The check for unique order numbers compares complete numbers, not prefixes.
func TestOrderUniqueNumberComparesCompleteNumbers(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.UniqueOrderNumber = true })
	long := strings.Repeat("9", 255)
	for _, number := range []string{"9", "99", " 99x", long} {
		if _, err := v.Orders.Create(t.Context(), vaulttest.Operator,
			model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(number)}},
			vault.Idempotency[model.Order]{}); err != nil {
			t.Errorf("create order %s: %v", number, err)
		}
	}
	_, err := v.Orders.Create(t.Context(), vaulttest.Operator,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(long + " "),
			"due_date": model.StringInput("x")}}, vault.Idempotency[model.Order]{})
	var invalid *errs.Error
	if !errors.As(err, &invalid) || len(invalid.Fields) != 2 || invalid.Fields[0].Field != "order_number" {
		t.Errorf("duplicate number and invalid due date: got %v, want 2 invalid fields, order_number first", err)
	}
}
