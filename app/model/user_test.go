package model

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRolePermissions(t *testing.T) {
	for _, row := range []struct {
		role                    Role
		read, write, administer bool
	}{
		{RoleViewer, true, false, false},
		{RoleStaff, true, true, false},
		{RoleAdmin, true, true, true},
		{"", false, false, false},
		{"owner", false, false, false},
		{"Admin", false, false, false},
	} {
		read, write, administer := row.role.Can(PermRead), row.role.Can(PermWrite), row.role.Can(PermAdmin)
		if read != row.read || write != row.write || administer != row.administer {
			t.Errorf("role %q: read %v, write %v, administer %v; want %v, %v, %v", row.role, read, write, administer,
				row.read, row.write, row.administer)
		}
		if row.role.Can("") || row.role.Can("everything") {
			t.Errorf("role %q has an unknown permission, want none", row.role)
		}
		if got := slices.Contains(Roles(), row.role); got != row.read {
			t.Errorf("role %q in Roles: %v, want %v", row.role, got, row.read)
		}
	}
}

func TestPasswordRules(t *testing.T) {
	for _, row := range []struct{ password, want string }{
		{"", "The password field is required."},
		{"ninechars", "The password field must have at least 10 characters."},
		{"tall 1ilac", ""},
		{strings.Repeat("long way home ", 74)[:1024], ""},
		{strings.Repeat("long way home ", 74)[:1025], "The password field must not be longer than 1024 bytes."},
		{"pass\x00the salt", "The password field contains invalid characters."},
		{"pass\xffthe salt", "The password field contains invalid characters."},
		{"été à la mer", ""},
		{"日本語のパスワード", ""},
		{" leading and trailing ", ""},
		{"tall 1ilac", ""},
		{"4915 8827 3316 0042", ""},
		{"password to the old barn", ""},
	} {
		got := ""
		if f := CheckPassword(row.password); len(f) > 0 {
			got = f[0].Sentences()[0]
		}
		if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("CheckPassword(%q) = %q, want %q", row.password, got, row.want)
		}
		if len(row.password) > 5 && strings.Contains(got, row.password) {
			t.Errorf("CheckPassword(%q) = %q, want a message without the password", row.password, got)
		}
	}
}

func FuzzPasswordRules(f *testing.F) {
	f.Add("tall lilac")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, password string) {
		if rejected := CheckPassword(password); len(rejected) == 0 && (len(password) < MinPasswordLength || len(password) > MaxPasswordLength) {
			t.Errorf("password %q accepted, want it rejected", password)
		}
	})
}

func TestUserName(t *testing.T) {
	for _, row := range []struct{ sent, name, want string }{
		{" Kim Lee ", "Kim Lee", ""},
		{"kim@example.com", "kim@example.com", ""},
		{strings.Repeat("é", 255), strings.Repeat("é", 255), ""},
		{strings.Repeat("é", 256), "", "The name field must not be greater than 255 characters."},
		{"", "", "The name field is required."},
		{"\t", "", "The name field is required."},
		{"kim\nlee", "", "The name field contains invalid characters."},
		{"kim\xff", "", "The name field contains invalid characters."},
	} {
		name, rejected := CheckUserName(row.sent)
		switch {
		case row.want == "" && (len(rejected) > 0 || name != row.name):
			t.Errorf("CheckUserName(%q) = %q, errors %v; want %q", row.sent, name, rejected, row.name)
		case row.want != "" && (len(rejected) != 1 || rejected[0].Sentences()[0] != row.want):
			t.Errorf("CheckUserName(%q): errors %v, want %s", row.sent, rejected, row.want)
		}
	}
}

// Names of people can't hide characters, change the direction of the text after them, or start a new line.
func TestNamesWithoutControls(t *testing.T) {
	for _, name := range []string{"Mary\x1bJones", "Mary\u0085Jones", "Mary\u009b31mJones", "Mary \u202esenoJ", "Mary\u2066Jones", "Ma\u200bry",
		"Mary\u00adJones", "\ufeffMary", "Mary\u2028Jones", "Mary\u2029Jones"} {
		const invalid = "invalid characters"
		if _, rejected := (ProfilePatch{FullName: &name, Title: &name}).Check(Profile{}); len(rejected) != 2 ||
			!strings.Contains(rejected[0].Sentences()[0], invalid) || !strings.Contains(rejected[1].Sentences()[0], invalid) {
			t.Errorf("ProfilePatch.Check(%q): errors %v, want invalid characters in both fields", name, rejected)
		}
		if _, rejected := CheckUserName(name); len(rejected) != 1 || !strings.Contains(rejected[0].Sentences()[0], invalid) {
			t.Errorf("CheckUserName(%q): errors %v, want invalid characters", name, rejected)
		}
	}
	name := "Zoë O’Brien-Þór 山田"
	if got, rejected := (ProfilePatch{FullName: &name}).Check(Profile{}); len(rejected) > 0 || got.FullName != name {
		t.Errorf("ProfilePatch.Check(%q) = %+v, errors %v; want the name", name, got, rejected)
	}
}

func TestSessionActive(t *testing.T) {
	limits := SessionLimits{Idle: time.Hour, Max: 3 * time.Hour}
	start := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		seen, now time.Duration
		want      bool
	}{
		{0, 0, true}, {0, time.Hour - 1, true}, {0, time.Hour, false}, {2 * time.Hour, 3*time.Hour - 1, true},
		{3*time.Hour - 1, 3 * time.Hour, false},
		// created while the clock was ahead
		{0, -10 * time.Minute, true}, {0, -10*time.Minute - 1, false}, {-48 * time.Hour, -47 * time.Hour, false},
	} {
		s := Session{CreatedAt: start, LastSeenAt: start.Add(row.seen)}
		if s.Active(start.Add(row.now), limits) != row.want {
			t.Errorf("last seen after %s, now %s: Active = %v, want %v", row.seen, row.now, !row.want, row.want)
		}
	}
	if id := (Session{Hash: strings.Repeat("ab", 32)}).ID(); id != "abababababababab" {
		t.Errorf("session ID = %q, want abababababababab", id)
	}
	if id := (Session{}).ID(); id != "" {
		t.Errorf("ID of a session without a hash = %q, want none", id)
	}
}

func TestClientNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"10.2.2.3":          "10.2.2.3/32",
		"::ffff:10.2.2.3":   "10.2.2.3/32",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"fe80::1%eth0":      "fe80::/64",
		"::1":               "::/64",
	} {
		if got := ClientNetwork(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("ClientNetwork(%s) = %s, want %s", address, got, want)
		}
	}
	if got := ClientNetwork(netip.Addr{}); got.IsValid() {
		t.Errorf("ClientNetwork of the zero address = %s, want the zero prefix", got)
	}
}
