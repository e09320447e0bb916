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
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Passwords, links, session tokens, two-factor secrets, and recovery codes don't appear
// in the files of the data directory, the server log, the audit log, or errors.
func TestSecretsDoNotLeak(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	var log bytes.Buffer
	opts.Now, opts.Log = clock.Now, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	p := &vaulttest.UserFixture{Instance: v, Clock: clock}
	secrets, errors := useSecrets(t, p)
	if err := p.Users.FlushBuffered(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
	events, err := json.Marshal(p.AuditEvents(t))
	if err != nil {
		t.Fatalf("marshal audit entries: %v", err)
	}
	vaulttest.Close(t, v)
	if slices.Contains(errors, nil) {
		t.Errorf("errors = %v, want every one of these calls to fail", errors)
	}
	contents := map[string]string{"log": log.String(), "events": string(events), "errors": fmt.Sprintf("%+v %v", errors, errors)}
	err = filepath.WalkDir(opts.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			contents[path] = string(content)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatalf("read the data directory: %v", err)
	}
	if len(contents) < 5 {
		t.Fatalf("got %d places to search, want at least 5", len(contents))
	}
	for name, secret := range secrets {
		for place, content := range contents {
			if strings.Contains(content, secret) {
				t.Errorf("%s contains the %s", place, name)
			}
		}
	}
	for place, want := range map[string]string{"events": `"name":"kim"`, filepath.Join(opts.Dir, "vault.db"): `"name":"kim"`} {
		if !strings.Contains(contents[place], want) {
			t.Errorf("%s does not contain %s", place, want)
		}
	}
}

// useSecrets creates users with secrets and calls operations with these secrets. It
// returns the secrets by name, and the errors of the calls that must fail.
func useSecrets(t *testing.T, p *vaulttest.UserFixture) (secrets map[string]string, errors []error) {
	t.Helper()
	secrets = map[string]string{
		"password":       "Canary and the yellow deed",
		"new password":   "Canary and the green deed",
		"wrong password": "Canary that opens nothing",
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("use a secret: %v", err)
		}
	}
	var err error
	secrets["first link"], err = p.Users.NewFirstLink(t.Context())
	must(err)
	_, err = p.Users.Accept(t.Context(), secrets["first link"], auth.AcceptDraft{Name: "kim", Password: secrets["password"]})
	must(err)
	secrets["link"], _, err = p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "lee", Role: model.RoleStaff})
	must(err)
	in, err := p.TrySignIn(t, "kim", secrets["password"], "", "192.0.2.1")
	must(err)
	secrets["session"] = in.Token
	actor := p.Authenticate(t, in.Token)
	setup, err := p.Users.BeginTwoFactor(t.Context(), actor, secrets["password"])
	must(err)
	secrets["two-factor secret"] = setup.Secret
	codes, err := p.Users.ConfirmTwoFactor(t.Context(), actor, p.TOTPCode(t, setup.Secret))
	must(err)
	for i, code := range codes {
		secrets[fmt.Sprint("recovery code ", i)] = code
		secrets[fmt.Sprint("recovery code without hyphens ", i)] = strings.ToUpper(strings.ReplaceAll(code, "-", ""))
	}
	errors = append(errors, p.Users.ChangePassword(t.Context(), actor, secrets["wrong password"], secrets["new password"]))
	must(p.Users.ChangePassword(t.Context(), actor, secrets["password"], secrets["new password"]))
	for i, draft := range []auth.SignInDraft{
		{Name: "kim", Password: secrets["wrong password"]},
		{Name: "kim", Password: secrets["new password"], Code: secrets["two-factor secret"]},
		{Name: secrets["wrong password"], Password: "x"},
		{Name: "lee", Password: secrets["link"]},
	} {
		draft.Address = fmt.Sprintf("192.0.2.%d", 10+i)
		_, err := p.Users.SignIn(t.Context(), draft)
		errors = append(errors, err)
	}
	_, err = p.TrySignIn(t, "kim", secrets["new password"], codes[0], "192.0.2.1")
	must(err)
	_, err = p.Users.Accept(t.Context(), secrets["link"], auth.AcceptDraft{Password: "short"})
	errors = append(errors, err)
	_, err = p.Sessions.Authenticate(t.Context(), secrets["first link"])
	return secrets, append(errors, err)
}
