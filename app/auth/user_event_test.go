package auth_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

func TestUserEvents(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	p.CreateUser(t, "lee", model.RoleAdmin)
	actor := p.Actor(t, "lee")
	for _, err := range []error{
		second(p.Users.Rename(t.Context(), actor, kim.ID, "kim b")),
		second(p.Users.Rename(t.Context(), actor, kim.ID, "kim b")), // no change, no event
		second(p.Users.SetRole(t.Context(), actor, kim.ID, model.RoleStaff)),
		second(p.Users.SetRole(t.Context(), actor, kim.ID, model.RoleStaff)),
		second(p.Users.Disable(t.Context(), actor, kim.ID)),
		second(p.Users.Disable(t.Context(), actor, kim.ID)),
		second(p.Users.Enable(t.Context(), actor, kim.ID)),
		second(p.Users.Enable(t.Context(), actor, kim.ID)),
		p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, "another good one of mine"),
		p.Sessions.EndAll(t.Context(), actor),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, e := range p.AuditEvents(t) {
		got = append(got, fmt.Sprintf("%s %s by %s", e.Kind, e.Record, e.Actor.Record()))
	}
	want := []string{
		"vault.created  by system", "user.created user:1 by operator:7", "user.created user:2 by operator:7", "session.started user:2 by user:2",
		"user.renamed user:1 by user:2", "user.role_changed user:1 by user:2", "user.disabled user:1 by user:2", "user.enabled user:1 by user:2",
		"user.password_changed user:2 by user:2", "session.ended user:2 by user:2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if user, err := p.Users.Get(t.Context(), kim.ID); err != nil || user.Version != 5 {
		t.Errorf("%+v, %v", user, err)
	}
}

func second(_ model.User, err error) error { return err }

// Refused tries are gathered: one event for each account and address, a bounded number
// a minute, with the user where there is one and never a name that is none.
func TestRefusedEvents(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	kim.Password = cheapHash
	p.Put(t, kim)
	before := len(p.AuditEvents(t))
	for range 5 {
		_, err := p.TrySignIn(t, "kim", "wrong password", "", "203.0.113.9")
		vaulttest.WantKind(t, "wrong", err, errs.Unauthenticated)
	}
	for i := range 40 {
		_, err := p.TrySignIn(t, "CanaryName", "wrong password", "", fmt.Sprintf("198.51.100.%d", i))
		vaulttest.WantSignInError(t, "unknown", err, auth.WrongPassword)
	}
	if n := len(p.AuditEvents(t)); n != before {
		t.Errorf("%d events at once", n-before)
	}
	if err := p.Users.FlushBuffered(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := p.AuditEvents(t)[before:]
	if len(got) != 21 {
		t.Fatalf("%d events", len(got))
	}
	first, last := got[0], got[len(got)-1]
	if first.Kind != "session.refused" || first.Record != "user:1" || first.Actor.Kind != "visitor" || first.Actor.Address != "203.0.113.9" ||
		first.Detail["tries"] != "3" || first.Detail["reason"] != "password" {
		t.Errorf("%+v", first)
	}
	if last.Record != "" || last.Actor.Address != "elsewhere" {
		t.Errorf("%+v", last)
	}
	sum := 0
	for _, e := range got {
		var n int
		if _, err := fmt.Sscan(e.Detail["tries"], &n); err != nil {
			t.Error(err)
		}
		sum += n
	}
	if sum != 45 {
		t.Errorf("%d tries are told", sum)
	}
}

// No secret is anywhere but where it was shown (PROMISES.md, row 16): not in the bytes
// of the database, nor in the log, an event or an error.
func TestUserCanaries(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	var log bytes.Buffer
	opts.Now, opts.Log = clock.Now, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	p := &vaulttest.UserFixture{Instance: v, Clock: clock}
	canaries := map[string]string{"password": "Canary and the yellow deed", "another password": "Canary and the green deed", "wrong password": "Canary that opens nothing"}
	var said []error
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	canaries["first link"], err = p.Users.NewFirstLink(t.Context())
	must(err)
	_, err = p.Users.Accept(t.Context(), canaries["first link"], auth.AcceptDraft{Name: "kim", Password: canaries["password"]})
	must(err)
	canaries["link"], _, err = p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "lee", Role: model.RoleStaff})
	must(err)
	in, err := p.TrySignIn(t, "kim", canaries["password"], "", "192.0.2.1")
	must(err)
	canaries["session"] = in.Token
	actor := p.Authenticate(t, in.Token)
	offer, err := p.Users.BeginTwoFactor(t.Context(), actor, canaries["password"])
	must(err)
	canaries["second factor"] = offer.Secret
	codes, err := p.Users.ConfirmTwoFactor(t.Context(), actor, p.TOTPCode(t, offer.Secret))
	must(err)
	for i, code := range codes {
		canaries[fmt.Sprint("recovery code ", i)] = code
		canaries[fmt.Sprint("bare recovery code ", i)] = strings.ToUpper(strings.ReplaceAll(code, "-", ""))
	}
	said = append(said, p.Users.ChangePassword(t.Context(), actor, canaries["wrong password"], canaries["another password"]))
	must(p.Users.ChangePassword(t.Context(), actor, canaries["password"], canaries["another password"]))
	for i, draft := range []auth.SignInDraft{
		{Name: "kim", Password: canaries["wrong password"]},
		{Name: "kim", Password: canaries["another password"], Code: canaries["second factor"]},
		{Name: canaries["wrong password"], Password: "x"},
		{Name: "lee", Password: canaries["link"]},
	} {
		draft.Address = fmt.Sprintf("192.0.2.%d", 10+i)
		_, err := p.Users.SignIn(t.Context(), draft)
		said = append(said, err)
	}
	_, err = p.TrySignIn(t, "kim", canaries["another password"], codes[0], "192.0.2.1")
	must(err)
	_, err = p.Users.Accept(t.Context(), canaries["link"], auth.AcceptDraft{Password: "short"})
	said = append(said, err)
	_, err = p.Sessions.Authenticate(t.Context(), canaries["first link"])
	said = append(said, err)
	must(p.Users.FlushBuffered(t.Context()))
	told, err := json.Marshal(p.AuditEvents(t))
	must(err)
	vaulttest.Close(t, v)
	places := map[string]string{"log": log.String(), "events": string(told), "errors": fmt.Sprintf("%+v %v", said, said)}
	must(filepath.WalkDir(opts.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			places[path] = string(content)
			return err
		}
		return err
	}))
	if len(places) < 5 {
		t.Fatalf("%d places", len(places))
	}
	for what, canary := range canaries {
		for place, content := range places {
			if strings.Contains(content, canary) {
				t.Errorf("the %s is in %s", what, place)
			}
		}
	}
	if slices.Contains(said, nil) {
		t.Errorf("%v", said)
	}
	for place, want := range map[string]string{"events": `"name":"kim"`, filepath.Join(opts.Dir, "vault.db"): `"name":"kim"`} {
		if !strings.Contains(places[place], want) {
			t.Errorf("%s was not read", place)
		}
	}
}
