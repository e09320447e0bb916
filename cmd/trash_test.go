package cmd

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// vaultWithTrash creates a vault whose trash contains an order, a document, and an abstract.
// It returns their IDs in the format that commands use.
func vaultWithTrash(t *testing.T, data string) (order, file, abstract string) {
	t.Helper()
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	v, err := instance.Open(t.Context(), instance.Options{
		Dir: data, Settings: vaulttest.Settings(), Reader: vaulttest.Reader{}, Now: time.Now, Rand: rand.Reader,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	actor := model.Actor{Kind: "operator", Name: "ann"}
	noFiles, err := v.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("stage file: %v", err)
	}
	defer noFiles.Discard()
	draft := model.AbstractDraft{Fields: model.Inputs{"address": model.StringInput("12 Elm St")}}
	a, err := v.Abstracts.Create(t.Context(), actor, draft, noFiles, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	err = errors.Join(v.Orders.Trash(t.Context(), actor, 1, vault.Match{}), v.Files.Trash(t.Context(), actor, 1, vault.Match{}),
		v.Abstracts.Trash(t.Context(), actor, a.Abstract.ID, vault.Match{}))
	ids := v.Secrets
	if err = errors.Join(err, v.Close()); err != nil {
		t.Fatalf("delete records: %v", err)
	}
	return "order:" + ids.IDs("orders").Encode(1), "file:1", "abstract:" + ids.IDs("abstracts").Encode(a.Abstract.ID)
}

// The commands trash list, trash purge, and trash empty ask for confirmation, respect
// retention, and are recorded in the audit log.
func TestTrashCommands(t *testing.T) {
	data := shortDataDir(t)
	order, file, abstract := vaultWithTrash(t, data)
	devNull, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	defer devNull.Close() //nolint:errcheck // only read
	// typing returns a function that makes the shell use a terminal with the given input.
	typing := func(text string) func(*shell) {
		return func(s *shell) { s.in, s.isInteractive = strings.NewReader(text), func(io.Reader) bool { return true } }
	}
	for _, row := range []struct {
		name  string
		shell func(*shell)
		args  []string
		code  int
		out   []string
	}{
		{"list", nil, []string{"list"}, exitDone, []string{order, file, abstract, "SEED-0001", "Seed.txt", "12 Elm St", "ann", "RETENTION"}},
		{"list in JSON", nil, []string{"list", "--json", "--limit", "9"}, exitDone,
			[]string{`"record": "` + order + `"`, `"retained_until": null`, `"kept_until": "`}},
		{"list with a limit that is too high", nil, []string{"list", "--limit", "10001"}, exitUsage,
			[]string{"--limit must be between 1 and 10000"}},
		{"restore without an ID", nil, []string{"restore"}, exitUsage, []string{"ID is required"}},
		{"restore an invalid ID", nil, []string{"restore", "folder:1"}, exitUsage, []string{"such as abstract:Zz9aB31x or file:17"}},
		{"restore an unknown ID", nil, []string{"restore", "99"}, exitFailed, []string{"trash record 99 not found"}},
		{"purge without a terminal", nil, []string{"purge", order}, exitUsage, []string{"--yes"}},
		{"empty without a terminal", nil, []string{"empty"}, exitUsage, []string{"--yes"}},
		{"empty from a scheduler", func(s *shell) { s.in, s.isInteractive = devNull, isTerminalReader }, []string{"empty"}, exitUsage,
			[]string{"--yes"}},
		{"purge without an ID", nil, []string{"purge"}, exitUsage, []string{"ID is required"}},
		{"purge an invalid ID", nil, []string{"purge", "Zz9aB31x", "--yes"}, exitUsage, []string{"such as abstract:Zz9aB31x or file:17"}},
		{"purge a folder", nil, []string{"purge", "folder:1", "--yes"}, exitUsage, nil},
		{"purge an unknown ID", nil, []string{"purge", "99", "--yes"}, exitFailed, []string{"trash record 99 not found"}},
		{"purge an unknown order", nil, []string{"purge", "order:x", "--yes"}, exitFailed, nil},
		{"purge an unknown instrument", nil, []string{"purge", "instrument:99", "--yes"}, exitFailed,
			[]string{"trash record instrument:99 not found"}},
		{"lift without a reason", nil, []string{"purge", abstract, "--yes", "--lift-retention"}, exitUsage, []string{"--reason"}},
		{"reason without lift", nil, []string{"purge", abstract, "--yes", "--reason", "x"}, exitUsage, []string{"--lift-retention"}},
		{"not confirmed", typing("SEED\n"), []string{"purge", order}, exitFailed,
			[]string{`permanently deletes the order "SEED-0001"`, "not confirmed; nothing was deleted"}},
		{"empty confirmation", typing(""), []string{"purge", order}, exitFailed, []string{"not confirmed"}},
		{"confirmed", typing(" seed-0001 \n"), []string{"purge", order}, exitDone, []string{"permanently deleted 1 record (0 documents)"}},
		{"purge again", nil, []string{"purge", order, "--yes"}, exitFailed, nil},
		{"within the retention period", nil, []string{"purge", abstract, "--yes"}, exitFailed,
			[]string{"this record is under retention until", "--lift-retention with --reason"}},
		{"within the retention period, before the confirmation", typing(""), []string{"purge", abstract}, exitFailed,
			[]string{"this record is under retention until"}},
		{"reason that is too long", nil, []string{"purge", abstract, "--yes", "--lift-retention", "--reason",
			strings.Repeat("x", model.MaxLineLength+1)}, exitUsage, []string{"reason must not be longer than"}},
		{"empty, not confirmed", typing("yes\n"), []string{"empty"}, exitFailed, []string{"not confirmed"}},
		{"empty", typing("Empty  Trash\n"), []string{"empty", "--json"}, exitDone,
			[]string{`"records": 1`, `"documents": 1`, `"kept": 1`, `"freed_bytes": 19`, `"waits": false`}},
		{"lift the retention", nil, []string{"purge", abstract, "--yes", "--lift-retention", "--reason", "court order"}, exitDone,
			[]string{"permanently deleted 1 record"}},
		{"empty an empty trash, without a confirmation", typing(""), []string{"empty"}, exitDone, []string{"permanently deleted 0 records"}},
		{"list an empty trash", nil, []string{"list"}, exitDone, []string{"the trash is empty"}},
		{"empty an empty trash", nil, []string{"empty", "--yes"}, exitDone, []string{"permanently deleted 0 records"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := runCLI(t.Context(), t, row.shell, append(append([]string{"trash"}, row.args...), "--data", data)...)
			if got.code != row.code {
				t.Errorf("got exit code %d, want %d: %+v", got.code, row.code, got)
			}
			for _, want := range row.out {
				if !strings.Contains(got.out+got.messages, want) {
					t.Errorf("got %+v, want %q in it", got, want)
				}
			}
		})
	}
	got := runCLI(t.Context(), t, nil, "events", "list", "--json", "--limit", "9", "--data", data)
	var events []apitypes.Event
	if err := json.Unmarshal([]byte(got.out), &events); err != nil {
		t.Fatalf("decode events: %v: %+v", err, got)
	}
	var kinds []string
	for _, e := range events[:6] {
		kinds = append(kinds, e.Kind)
		if e.Actor.Kind != "operator" {
			t.Errorf("event %s: got actor %+v, want an operator", e.Kind, e.Actor)
		}
	}
	const want = "abstract.purged retention.lifted trash.emptied file.purged order.purged"
	if logged := strings.Join(kinds, " "); !strings.HasPrefix(logged, want) {
		t.Errorf("events: got %s, want %s", logged, want)
	}
}

// The command trash restore takes records of each type out of the trash, with the server stopped or running.
func TestTrashRestore(t *testing.T) {
	for _, running := range []bool{false, true} {
		data := shortDataDir(t)
		order, file, abstract := vaultWithTrash(t, data)
		if running {
			startServer(t, data)
		}
		for _, record := range []string{order, file, abstract} {
			got := runCLI(t.Context(), t, nil, "trash", "restore", record, "--data", data)
			if got.code != exitDone || !strings.HasPrefix(got.out, "restored "+record+" ") {
				t.Errorf("restore %s (server running: %v): got %+v, want success", record, running, got)
			}
		}
		if got := runCLI(t.Context(), t, nil, "trash", "list", "--data", data); got.out != "the trash is empty\n" {
			t.Errorf("list: got %+v, want an empty trash", got)
		}
		got := runCLI(t.Context(), t, nil, "events", "list", "--kind", "file.restored", "--record", file, "--data", data)
		if !strings.Contains(got.out, "operator") {
			t.Errorf("events: got %+v, want the operator", got)
		}
	}
}
