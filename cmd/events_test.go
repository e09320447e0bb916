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

// runCommand runs a command on a data directory and gives its exit code.
func runCommand(t *testing.T, dir string, args ...string) (code int, out string) {
	t.Helper()
	var said, messages bytes.Buffer
	code = Run(context.Background(), append([]string{"--data", dir}, args...), strings.NewReader(""), &said, &messages)
	if code != exitDone && code != exitDamage {
		t.Fatalf("%q: exit code %d: %s", args, code, messages.String())
	}
	return code, said.String()
}

// A log that was sealed anew from an entry on, to its end, holds in itself. Held
// against an export from before, every entry since shows; so does a log that was
// cut, with everything that could tell of it.
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
			t.Errorf("%s: alone: exit code %d, %s", name, code, out)
		}
		for _, format := range []string{"jsonl", "csv"} {
			code, out := runCommand(t, dir, "events", "verify", "--json", "--export", filepath.Join(exports, format))
			var r apitypes.EventVerify
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatalf("decode JSON: %v", err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Kind+" "+f.Subject)
			}
			if code != exitDamage || r.OK || !slices.Equal(got, want) {
				t.Errorf("%s, against %s: exit code %d, found %q, want %q", name, format, code, got, want)
			}
		}
	}
	rewriteEvents(t, dir, 7)
	verify("sealed anew", "changed 7", "changed 8", "changed 9", "changed 10")
	truncateEvents(t, dir, 9)
	verify("cut", "changed 7", "changed 8", "missing 9", "missing 10")
}

func alterEvents(t *testing.T, dir string, change func(b *bolt.Bucket) error) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, "vault.db"), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatalf("open database: %v", err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket([]byte("events"))) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// rewriteEvents gives somebody else's name to what was done from an entry on, and makes
// every hash and checksum right again.
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
				e.Actor.Name = "somebody else"
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

// truncateEvents takes away the end of the log, and the number of entries there were.
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

// No cell of a CSV is taken for a formula, and a reader of CSV gets every cell back.
func TestEventCSVEscapesFormulas(t *testing.T) {
	var b bytes.Buffer
	out := newEventWriter("csv", &b)
	names := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "a,b", `say "x"`, "Ünal", "plain", ""}
	for i, name := range names {
		e := apitypes.Event{Seq: int64(i + 1), At: apitypes.At(time.Unix(0, 0)), Kind: name, Actor: apitypes.Actor{Kind: "user", Name: &name, Address: &name},
			Record: &name, Detail: apitypes.Detail{"=x": name}, RequestID: &name, Hash: fmt.Sprintf("%064x", i)}
		if err := out.write(e); err != nil {
			t.Fatalf("write event: %v", err)
		}
	}
	if err := out.flush(); err != nil {
		t.Fatalf("flush: %v", err)
	}
	text, marked := strings.CutPrefix(b.String(), apitypes.ByteOrderMark)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !marked || len(rows) != len(names)+1 || !slices.Equal(rows[0], apitypes.EventColumns()) {
		t.Fatalf("%v: %q", err, rows)
	}
	for i, row := range rows[1:] {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
				t.Errorf("row %d has the cell %q", i, cell)
			}
		}
		if name := strings.TrimPrefix(row[4], "'"); name != names[i] {
			t.Errorf("row %d: %q, want %q", i, name, names[i])
		}
	}
	empty := newEventWriter("csv", &b)
	b.Reset()
	if err := empty.flush(); err != nil || !strings.Contains(b.String(), "seq,at,") {
		t.Errorf("no entry: %q, %v", b.String(), err)
	}
}

func TestParseTimeBound(t *testing.T) {
	here := time.FixedZone("EST", -5*3600)
	for _, row := range []struct {
		text string
		days int
		want string // "" is a usage error
	}{
		{"2026-05-29", 0, "2026-05-29T05:00:00.000000Z"}, {"2026-05-29", 1, "2026-05-30T04:59:59.999999Z"},
		{"2026-05-29T14:00:00Z", 1, "2026-05-29T14:00:00.000000Z"}, {"2026-05-29T14:00:00+02:00", 0, "2026-05-29T12:00:00.000000Z"},
		{"2026-02-30", 0, ""}, {"today", 0, ""}, {"2026-05-29 14:00", 0, ""},
	} {
		at, err := parseTimeBound("--from", row.text, row.days, here)
		if _, usage := errors.AsType[*usageError](err); row.want == "" && !usage || row.want != "" && (err != nil || at.String() != row.want) {
			t.Errorf("%s: %v, %v, want %q", row.text, at, err, row.want)
		}
	}
}

func FuzzExportReader(f *testing.F) {
	for _, text := range []string{"", "{", `{"seq":1,"hash":"ab"}`, "{\"seq\":1,\"hash\":\"ab\"}\n{\"seq\":2,\"hash\":\"cd\"}\n", apitypes.ByteOrderMark + "seq,at,hash\r\n1,x,ab\r\n2,y,cd\r\n",
		"hash,seq\nab,1\nab,1\n", "seq\n1\n", "seq,hash\n-1,a\n", "seq,hash\n1\n", `{"seq":9223372036854775808}`, apitypes.ByteOrderMark, apitypes.ByteOrderMark + `{"seq":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kept, err := newExportReader(bytes.NewReader(text))
		if err != nil {
			return
		}
		for last := int64(0); ; last = kept.seq {
			if err := kept.next(); err != nil {
				return
			}
			if kept.seq == 0 {
				return
			}
			if kept.seq <= last || kept.hash == "" {
				t.Fatalf("entry %d (%q) after %d", kept.seq, kept.hash, last)
			}
		}
	})
}

// What cannot be written is told, and no half of an export stays behind.
func TestExportWriteError(t *testing.T) {
	s := &shell{out: brokenPipe{}}
	path := filepath.Join(t.TempDir(), "kept")
	full := errors.New("full")
	if err := s.withOutput(path, func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	for _, format := range []string{"jsonl", "csv"} {
		out := newEventWriter(format, s.out)
		if err := errors.Join(out.write(apitypes.Event{At: apitypes.At(time.Unix(0, 0))}), out.flush()); !errors.Is(err, errBrokenPipe) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

var errBrokenPipe = errors.New("the pipe is gone")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBrokenPipe }
