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

// The help lists every exit code.
func TestHelpListsExitCodes(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help"}} {
		got := runCLI(t.Context(), t, nil, args...)
		for _, code := range []int{exitDone, exitFailed, exitUsage, exitDamage, exitRejected, exitNoVault, exitLocked, exitInterrupted} {
			if !regexp.MustCompile(`[\s:]` + strconv.Itoa(code) + ` [a-z]`).MatchString(got.out) {
				t.Errorf("%v: got no exit code %d, want it in\n%s", args, code, got.out)
			}
		}
	}
}

// If a command fails with --json, it prints one JSON document, and the message and exit
// code are the same as without --json.
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
		message    string // prefix of the message
		field      string
	}{
		{"unknown flag", "status --color red", exitUsage, `unknown flag: --color (see "deedkeep status --help")`, ""},
		{"unknown command", "keys mint", exitUsage, `unknown subcommand "mint"`, ""},
		{"missing argument", "keys create", exitUsage, "NAME is required", ""},
		{"no vault", "status --data " + dir + "x", exitNoVault, "no deedkeep data in ", ""},
		{"unknown key", "keys revoke 99", exitFailed, "key 99 not found", ""},
		{"missing directory", "import " + dir + "x", exitFailed, "stat ", ""},
		{"no backup directory", "backup create", exitUsage, "No backup directory is set", ""},
		{"invalid limit", "events list --limit 0", exitUsage, "The limit field must be between", "limit"},
		{"invalid record", "events list --record bar", exitUsage, "The selected record is invalid.", "record"},
		{"unknown permission", "keys create x --ability nonsense", exitUsage,
			"The selected ability is invalid (valid values: api:v1, api:v1:read, events, metrics)", "abilities"},
		{"unknown role", "users create Kim --role boss", exitUsage, "The selected role is invalid (valid values: viewer, staff, admin)", "role"},
		{"no lifetime", "keys create x --expires 0d", exitUsage, "--expires: must be at least 1s, such as 90d or 12h", ""},
		{"negative lifetime", "keys create x --expires -1h", exitUsage, "--expires: must be at least 1s, such as 90d or 12h", ""},
		{"missing backup", "backup list --from " + dir + "x", exitFailed, "", ""},
		{"invalid template", "templates import " + bad, exitFailed, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			args := append([]string{"--data", dir}, strings.Fields(row.args)...)
			plain := runCLI(t.Context(), t, nil, args...)
			got := runCLI(t.Context(), t, nil, append(args, "--json")...)
			if got.code != row.code || plain.code != row.code || got.messages != plain.messages || plain.out != "" || got.messages == "" {
				t.Fatalf("got without --json %+v\nwith --json %+v\nwant the same messages and exit code %d", plain, got, row.code)
			}
			var body apitypes.CommandFailure
			documents := json.NewDecoder(strings.NewReader(got.out))
			if err := documents.Decode(&body); err != nil || !errors.Is(documents.Decode(new(any)), io.EOF) {
				t.Fatalf("output: got %q, %v, want one JSON document", got.out, err)
			}
			if body.Error.Message == "" || !strings.HasPrefix(body.Error.Message, row.message) {
				t.Errorf("output: got %s, want the message %q", got.out, row.message)
			}
			if row.field != "" && len(body.Error.Errors.Of(row.field)) != 1 {
				t.Errorf("output: got %s, want an error of the field %s", got.out, row.field)
			}
		})
	}
	// If the command has already printed its report, it doesn't print another document for
	// the error.
	got := runCLI(t.Context(), t, nil, "import", t.TempDir(), "--json", "--data", dir)
	if got.code != exitDone || strings.Contains(got.out, `"error"`) {
		t.Errorf("import: got %+v, want exit code %d and no error in the output", got, exitDone)
	}
}

// With --existing, serve doesn't create a vault in an empty or missing directory. The
// directory may be empty or missing because its disk isn't mounted.
func TestServeExisting(t *testing.T) {
	for name, exists := range map[string]bool{"empty directory": true, "no directory": false} {
		t.Run(name, func(t *testing.T) {
			dir := shortDataDir(t)
			if exists {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatalf("create directory: %v", err)
				}
			}
			got := runCLI(t.Context(), t, nil, "serve", "--existing", "--data", dir, "--listen", "127.0.0.1:0")
			if got.code != exitNoVault || !strings.HasPrefix(got.messages, "deedkeep: no deedkeep data in "+dir) {
				t.Errorf("serve --existing: got %+v, want exit code %d", got, exitNoVault)
			}
			if entries, err := os.ReadDir(dir); len(entries) > 0 || os.IsNotExist(err) == exists {
				t.Errorf("data directory: got %v, %v, want nothing created", entries, err)
			}
		})
	}
}
