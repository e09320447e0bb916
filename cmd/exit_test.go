package cmd

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
)

// The help names every exit code.
func TestHelpHasTheExitCodes(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help"}} {
		got := runCLI(t.Context(), t, nil, args...)
		for _, code := range []int{exitDone, exitFailed, exitUsage, exitDamage, exitRejected, exitNoVault, exitLocked, exitInterrupted} {
			if !regexp.MustCompile(`[\s:]` + strconv.Itoa(code) + ` [a-z]`).MatchString(got.out) {
				t.Errorf("%v: got no exit code %d:\n%s", args, code, got.out)
			}
		}
	}
}

// With --json a refusal is one document too, and still a sentence and an exit code.
func TestErrorsAsJSON(t *testing.T) {
	dir := shortDataDir(t)
	if _, err := seedVault(dir); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(bad, []byte("templates: [{name: X, custom_fields: [{key: A, label: A, type: text}]}]"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	for _, row := range []struct {
		name, args string
		code       int
		message    string // begins so
		field      string
	}{
		{"a flag that is unknown", "status --color red", exitUsage, `unknown flag: --color; "deedkeep status --help" shows how`, ""},
		{"a command that is unknown", "keys mint", exitUsage, `unknown command "mint"`, ""},
		{"a word that is missing", "keys create", exitUsage, "NAME is missing", ""},
		{"no vault", "status --data " + dir + "x", exitNoVault, "no vault in ", ""},
		{"no such key", "keys revoke 99", exitFailed, "there is no key 99", ""},
		{"no such folder", "import " + dir + "x", exitFailed, "stat ", ""},
		{"nowhere to back up to", "backup create", exitUsage, "There is no directory to back up to", ""},
		{"a limit that is none", "events list --limit 0", exitUsage, "The limit field must be between", "limit"},
		{"a record that is none", "events list --record bar", exitUsage, "The selected record is invalid.", "record"},
		{"no backup", "backup list --from " + dir + "x", exitFailed, "", ""},
		{"a template that is none", "templates import " + bad, exitFailed, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			args := append([]string{"--data", dir}, strings.Fields(row.args)...)
			plain := runCLI(t.Context(), t, nil, args...)
			got := runCLI(t.Context(), t, nil, append(args, "--json")...)
			if got.code != row.code || plain.code != row.code || got.messages != plain.messages || plain.out != "" || got.messages == "" {
				t.Fatalf("plain %+v\nJSON  %+v", plain, got)
			}
			var body apitypes.CommandFailure
			lines := json.NewDecoder(strings.NewReader(got.out))
			if err := lines.Decode(&body); err != nil || !errors.Is(lines.Decode(new(any)), io.EOF) {
				t.Fatalf("%v: %q", err, got.out)
			}
			if body.Error.Message == "" || !strings.HasPrefix(body.Error.Message, row.message) {
				t.Errorf("%s", got.out)
			}
			if row.field != "" && len(body.Error.Errors.Of(row.field)) != 1 {
				t.Errorf("%s says nothing of %s", got.out, row.field)
			}
		})
	}
	// What was printed already is the one document.
	got := runCLI(t.Context(), t, nil, "import", t.TempDir(), "--json", "--data", dir)
	if got.code != exitDone || strings.Contains(got.out, `"error"`) {
		t.Errorf("%+v", got)
	}
}

// A service whose disk is not mounted finds an empty directory, or none: with
// --existing nothing is created there.
func TestServeExisting(t *testing.T) {
	for name, made := range map[string]bool{"an empty directory": true, "no directory": false} {
		t.Run(name, func(t *testing.T) {
			dir := shortDataDir(t)
			if made {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatalf("create directory: %v", err)
				}
			}
			got := runCLI(t.Context(), t, nil, "serve", "--existing", "--data", dir, "--listen", "127.0.0.1:0")
			if got.code != exitNoVault || !strings.HasPrefix(got.messages, "deedkeep: no vault in "+dir) {
				t.Errorf("got %+v, want exit code %d", got, exitNoVault)
			}
			if left, err := os.ReadDir(dir); len(left) > 0 || os.IsNotExist(err) == made {
				t.Errorf("got %v, %v; want nothing created", left, err)
			}
		})
	}
}
