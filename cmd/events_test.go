package cmd

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
)

// runCommand runs a command on a data directory and returns its exit code and output. The
// test fails unless the exit code means success or damage.
func runCommand(t *testing.T, dir string, args ...string) (code int, out string) {
	t.Helper()
	var stdout, messages bytes.Buffer
	code = newShell(strings.NewReader(""), &stdout, &messages).run(context.Background(), append([]string{"--data", dir}, args...))
	if code != exitDone && code != exitDamage {
		t.Fatalf("%q: got exit code %d, want %d or %d: %s", args, code, exitDone, exitDamage, messages.String())
	}
	return code, stdout.String()
}

// A full name that was stored before names were checked for them has no control characters in the list of users.
func TestProfileOf(t *testing.T) {
	user := apitypes.User{FullName: "Mary\x1b[31m\u0085Jones", Title: "Examiner"}
	if got := profileOf(user); got != "Mary [31m Jones, Examiner" {
		t.Errorf("profileOf(%+v) = %q, want spaces", user, got)
	}
}

// If the hashes of all entries from some entry on are recomputed, the audit log passes
// verification. A comparison with an earlier export finds all changed entries and all
// entries that were deleted at the end.
func TestEventsVerifyFindsRewrittenHistory(t *testing.T) {
	t.Setenv("DEEDKEEP_DATA", "")
	dir := filepath.Join(t.TempDir(), "d")
	if _, err := seedVault(dir); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	for i := range 6 {
		runCommand(t, dir, "keys", "create", fmt.Sprint("key ", i), "--quiet")
	}
	exports := t.TempDir()
	for _, format := range []string{"jsonl", "csv"} {
		runCommand(t, dir, "events", "export", "--format", format, "-o", filepath.Join(exports, format))
	}
	runCommand(t, dir, "keys", "create", "later", "--quiet")
	_, before := runCommand(t, dir, "events", "verify")

	verify := func(name string, want ...string) {
		t.Helper()
		code, out := runCommand(t, dir, "events", "verify")
		if code != exitDone || out == before {
			t.Errorf("%s: without an export: got exit code %d and %s, want %d and another result than %s", name, code, out, exitDone, before)
		}
		for _, format := range []string{"jsonl", "csv"} {
			code, out := runCommand(t, dir, "events", "verify", "--json", "--export", filepath.Join(exports, format))
			var r apitypes.EventVerify
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatalf("decode result: %v", err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Kind+" "+f.Subject)
			}
			if code != exitDamage || r.OK || !slices.Equal(got, want) {
				t.Errorf("%s: with %s: got exit code %d and findings %q, want %d and %q", name, format, code, got, exitDamage, want)
			}
		}
	}
	rewriteEvents(t, dir, 7)
	verify("rewritten", "changed 7", "changed 8", "changed 9", "changed 10")
	truncateEvents(t, dir, 9)
	verify("truncated", "changed 7", "changed 8", "missing 9", "missing 10")
}

// alterEvents calls change with the bucket of the audit log.
func alterEvents(t *testing.T, dir string, change func(b *bolt.Bucket) error) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, "vault.db"), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatalf("open database: %v", err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket([]byte("events"))) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("change database: %v", err)
	}
}

// rewriteEvents changes the actor of all entries starting with sequence number from, and
// recomputes all hashes and checksums.
func rewriteEvents(t *testing.T, dir string, from uint64) {
	t.Helper()
	alterEvents(t, dir, func(b *bolt.Bucket) error {
		prev := ""
		for seq := uint64(1); seq <= b.Sequence(); seq++ {
			key := binary.BigEndian.AppendUint64(nil, seq)
			var e model.Event
			if err := json.Unmarshal(b.Get(key)[5:], &e); err != nil {
				return err
			}
			if seq >= from {
				e.Actor.Name = "another user"
				var err error
				if e, err = e.WithHash(prev); err != nil {
					return err
				}
				payload, err := json.Marshal(e)
				if err != nil {
					return err
				}
				sum := crc32.Checksum(slices.Concat([]byte("events\x00"), key, payload), crc32.MakeTable(crc32.Castagnoli))
				if err := b.Put(key, slices.Concat([]byte{1}, binary.BigEndian.AppendUint32(nil, sum), payload)); err != nil {
					return err
				}
			}
			prev = e.Hash
		}
		return nil
	})
}

// truncateEvents deletes all entries starting with sequence number from and resets the
// bucket's sequence.
func truncateEvents(t *testing.T, dir string, from uint64) {
	t.Helper()
	alterEvents(t, dir, func(b *bolt.Bucket) error {
		for seq := from; seq <= b.Sequence(); seq++ {
			if err := b.Delete(binary.BigEndian.AppendUint64(nil, seq)); err != nil {
				return err
			}
		}
		return b.SetSequence(from - 1)
	})
}

// Spreadsheet applications don't interpret any cell of a CSV export as a formula, and CSV
// readers get all cells back unchanged.
func TestEventCSVEscapesFormulas(t *testing.T) {
	var b bytes.Buffer
	out := newEventWriter("csv", &b)
	names := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "a,b", `say "x"`, "Ünal", "plain", ""}
	for i, name := range names {
		e := apitypes.Event{
			Seq: int64(i + 1), At: apitypes.At(time.Unix(0, 0)), Kind: name,
			Actor:  apitypes.Actor{Kind: "user", Name: &name, Address: &name},
			Record: &name, Detail: apitypes.Detail{"=x": name}, RequestID: &name, Hash: fmt.Sprintf("%064x", i),
		}
		if err := out.write(e); err != nil {
			t.Fatalf("write event: %v", err)
		}
	}
	if err := out.flush(); err != nil {
		t.Fatalf("flush: %v", err)
	}
	text, hasBOM := strings.CutPrefix(b.String(), apitypes.ByteOrderMark)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !hasBOM || len(rows) != len(names)+1 || !slices.Equal(rows[0], apitypes.EventColumns()) {
		t.Fatalf("read CSV: got byte order mark %v, rows %q, %v, want a byte order mark, the header, and %d rows", hasBOM, rows, err, len(names))
	}
	for i, row := range rows[1:] {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
				t.Errorf("row %d: got cell %q, want it escaped", i, cell)
			}
		}
		if name := strings.TrimPrefix(row[4], "'"); name != names[i] {
			t.Errorf("row %d: got name %q, want %q", i, name, names[i])
		}
	}
	empty := newEventWriter("csv", &b)
	b.Reset()
	if err := empty.flush(); err != nil || !strings.Contains(b.String(), "seq,at,") {
		t.Errorf("export without entries: got %q, %v, want the header", b.String(), err)
	}
}

func TestParseTimeBound(t *testing.T) {
	zone := time.FixedZone("EST", -5*3600)
	for _, row := range []struct {
		text string
		days int
		want string // "" means a usage error
	}{
		{"2026-05-29", 0, "2026-05-29T05:00:00.000000Z"}, {"2026-05-29", 1, "2026-05-30T04:59:59.999999Z"},
		{"2026-05-29T14:00:00Z", 1, "2026-05-29T14:00:00.000000Z"}, {"2026-05-29T14:00:00+02:00", 0, "2026-05-29T12:00:00.000000Z"},
		{"2026-02-30", 0, ""}, {"today", 0, ""}, {"2026-05-29 14:00", 0, ""},
	} {
		t.Run(fmt.Sprint(row.text, " plus days ", row.days), func(t *testing.T) {
			got, err := parseTimeBound("--from", row.text, row.days, zone)
			_, isUsage := errors.AsType[*usageError](err)
			if row.want == "" && !isUsage || row.want != "" && (err != nil || got.String() != row.want) {
				t.Errorf("parseTimeBound(%q, %d) = %v, %v, want %q", row.text, row.days, got, err, row.want)
			}
		})
	}
}

func FuzzExportReader(f *testing.F) {
	for _, text := range []string{
		"", "{", `{"seq":1,"hash":"ab"}`, "{\"seq\":1,\"hash\":\"ab\"}\n{\"seq\":2,\"hash\":\"cd\"}\n",
		apitypes.ByteOrderMark + "seq,at,hash\r\n1,x,ab\r\n2,y,cd\r\n",
		"hash,seq\nab,1\nab,1\n", "seq\n1\n", "seq,hash\n-1,a\n", "seq,hash\n1\n", `{"seq":9223372036854775808}`,
		apitypes.ByteOrderMark, apitypes.ByteOrderMark + `{"seq":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := newExportReader(bytes.NewReader(text))
		if err != nil {
			return
		}
		for last := int64(0); ; last = r.seq {
			if err := r.next(); err != nil {
				return
			}
			if r.seq == 0 {
				return
			}
			if r.seq <= last || r.hash == "" {
				t.Fatalf("entry after %d: got number %d and hash %q, want a higher number and a hash", last, r.seq, r.hash)
			}
		}
	})
}

// If an export fails, the command reports the error and leaves no partial file.
func TestExportWriteError(t *testing.T) {
	s := &shell{out: brokenPipe{}}
	path := filepath.Join(t.TempDir(), "export")
	errFull := errors.New("disk full")
	if err := s.withOutput(path, func(io.Writer) error { return errFull }); !errors.Is(err, errFull) {
		t.Errorf("withOutput: got %v, want %v", err, errFull)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat %s: got %v, want no file", path, err)
	}
	for _, format := range []string{"jsonl", "csv"} {
		out := newEventWriter(format, s.out)
		if err := errors.Join(out.write(apitypes.Event{At: apitypes.At(time.Unix(0, 0))}), out.flush()); !errors.Is(err, errBrokenPipe) {
			t.Errorf("write %s: got %v, want %v", format, err, errBrokenPipe)
		}
	}
}

var errBrokenPipe = errors.New("broken pipe")

// brokenPipe is a writer that always returns an error.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBrokenPipe }

// "events list --follow" prints the newest entries in sequence, and then new ones that match, until it is interrupted.
// It needs a server.
func TestEventsFollow(t *testing.T) {
	dir := shortDataDir(t)
	if _, err := seedVault(dir); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	got := runCLI(t.Context(), t, nil, "events", "list", "--follow", "--data", dir)
	if got.code != exitFailed || !strings.Contains(got.messages, "--follow requires one") {
		t.Errorf("without a server: got %+v, want exit code %d and that one is required", got, exitFailed)
	}
	p := startServer(t, dir)
	p.createKey(t, "first")
	p.createKey(t, "second")

	ctx, cancel := context.WithCancel(t.Context())
	out, w := io.Pipe()
	ended := make(chan int)
	go func() {
		s := newShell(strings.NewReader(""), w, io.Discard)
		ended <- s.run(ctx, []string{"--data", dir, "--json", "events", "list", "-f", "--kind", "key.created", "--limit", "2"})
	}()
	lines := json.NewDecoder(out)
	next := func() string {
		var e apitypes.Event
		if err := lines.Decode(&e); err != nil {
			t.Fatalf("read entry: %v", err)
		}
		return e.Kind + " " + e.Detail["name"]
	}
	for _, want := range []string{"key.created first", "key.created second"} {
		if e := next(); e != want {
			t.Errorf("newest entries: got %q, want %q", e, want)
		}
	}
	runCommand(t, dir, "keys", "revoke", "first")
	p.createKey(t, "third")
	if e, want := next(), "key.created third"; e != want {
		t.Errorf("new entry: got %q, want %q", e, want)
	}
	cancel()
	if code := <-ended; code != exitInterrupted {
		t.Errorf("exit code after an interruption = %d, want %d", code, exitInterrupted)
	}
}
