package auth_test

import (
	"fmt"
	"testing"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Failed sign-ins are grouped into one audit entry per account and address, up to a
// maximum number of entries per minute. An entry contains the username if the account
// exists, and never an unknown username.
func TestFailedSignInsAreGrouped(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	kim.Password = cheapHash
	p.PutUser(t, kim)
	before := len(p.AuditEvents(t))
	for range 5 {
		_, err := p.TrySignIn(t, "kim", "wrong password", "", "203.0.113.9")
		vaulttest.WantKind(t, "wrong password", err, errs.Unauthenticated)
	}
	for i := range 40 {
		_, err := p.TrySignIn(t, "CanaryName", "wrong password", "", fmt.Sprintf("198.51.100.%d", i))
		vaulttest.WantSignInError(t, "unknown name", err, auth.WrongPassword)
	}
	if n := len(p.AuditEvents(t)) - before; n != 0 {
		t.Errorf("entries before the flush = %d, want 0", n)
	}
	if err := p.Users.FlushBuffered(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
	got := p.AuditEvents(t)[before:]
	if len(got) != 21 {
		t.Fatalf("entries after the flush = %d, want 21", len(got))
	}
	first, last := got[0], got[len(got)-1]
	if first.Kind != "session.refused" || first.Record != "user:1" || first.Actor.Kind != "visitor" || first.Actor.Address != "203.0.113.9" ||
		first.Detail["tries"] != "3" || first.Detail["reason"] != "password" {
		t.Errorf("first entry = %+v, want 3 wrong passwords of user:1 from 203.0.113.9", first)
	}
	if last.Record != "" || last.Actor.Address != "elsewhere" {
		t.Errorf(`last entry = %+v, want one without a record from "elsewhere"`, last)
	}
	sum := 0
	for _, e := range got {
		var n int
		if _, err := fmt.Sscan(e.Detail["tries"], &n); err != nil {
			t.Errorf("parse the number of attempts %q: %v", e.Detail["tries"], err)
		}
		sum += n
	}
	if sum != 45 {
		t.Errorf("sum of attempts = %d, want 45", sum)
	}
}
