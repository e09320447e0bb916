package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// -fixture writes testdata/plain-1 and testdata/passphrase-1, where there are none:
//
//	go test ./app/backup/archive -run TestMakeFixture -fixture
//
// They are made once for each version of the format and never again: what they hold is
// what archives in the world hold.
var makeFixture = flag.Bool("fixture", false, "write the archives of testdata, where there are none")

func fixtureHouse() *house {
	h := newHouse("the first deed", "the second deed", "")
	h.database = []byte("the records\n")
	return h
}

func fixtures(h *house) map[string]Options {
	return map[string]Options{"plain-1": h.options(Encryption{}), "passphrase-1": h.options(Encryption{Passphrase: "correct horse battery"})}
}

func TestMakeFixture(t *testing.T) {
	if !*makeFixture {
		return
	}
	h := fixtureHouse()
	for name, opts := range fixtures(h) {
		dir := filepath.Join("testdata", name)
		h.take(t, dir, opts)
		for _, leave := range []string{lockName, tmpDir} {
			if err := os.Remove(filepath.Join(dir, leave)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Every archive of every past version is read, on a copy without a lock, and goes on.
func TestEveryPastFormatIsRead(t *testing.T) {
	h := fixtureHouse()
	for name, opts := range fixtures(h) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "b")
			copyTree(t, filepath.Join("testdata", name), dir)
			if err := h.back(dir, opts, Latest); err != nil {
				t.Error(err)
			}
			opened := h.opened
			h.take(t, dir, opts)
			if h.opened != opened {
				t.Error("documents were copied again")
			}
			if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || r.Snapshots != 2 || r.Blobs != 3 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// The plain form, byte by byte; its lines are what the package comment draws.
func TestGolden(t *testing.T) {
	h := fixtureHouse()
	dir := filepath.Join(t.TempDir(), "b")
	h.take(t, dir, h.options(Encryption{}))
	got, want := tree(t, dir), tree(t, filepath.Join("testdata", "plain-1"))
	delete(got, lockName)
	delete(got, readingName)
	for name, content := range want {
		if strings.HasPrefix(name, snapsDir) || name == readmeName {
			continue // the compressor may pack in another way, and people be told in other words
		}
		if got[name] != content {
			t.Errorf("%s\n%q\nwant\n%q", name, got[name], content)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	const head = `{"archive":"c6c150a912520b1c7c69c20d48c464e3","vault":"0123456789abcdef","created_at":"2026-11-21T07:15:00Z","form":"plain","proof":"` +
		"71879a0a83187f43a825f22ee68f66e3e1a902b2cb2dfc1870ce45dfaa549736" + `"}` + "\n"
	if full := fmt.Sprintf("deedkeep-backup 1 %x\n%s", sha256.Sum256([]byte(head)), head); got[headName] != full {
		t.Errorf("head\n%s\nwant\n%s", got[headName], full)
	}
	lines := unzipped(t, only(t, dir, "snapshots/*.manifest"))
	first, rest, _ := strings.Cut(lines, "\n")
	const info = `{"manifest":1,"archive":"c6c150a912520b1c7c69c20d48c464e3","snapshot":"20261121T071500Z","vault":"0123456789abcdef","created_at":"2026-11-21T07:15:00Z","schema":2,` +
		`"files":3,"abstracts":0,"orders":0,"folders":0,"events":0,"blobs":3,"bytes":29,"stored":29,"database":{"file":"20261121T071500Z.`
	if !strings.HasPrefix(first, info) || !strings.HasSuffix(first, `"secret":"`+testSecret+`"}`) {
		t.Errorf("first line\n%s", first)
	}
	var want3 strings.Builder
	for _, d := range h.digests() {
		fmt.Fprintf(&want3, `{"digest":"%s","size":%d}`+"\n", d, len(h.docs[d]))
	}
	fmt.Fprintf(&want3, `{"end":true,"blobs":3,"sum":"%x"}`+"\n", sha256.Sum256([]byte(first+"\n"+want3.String())))
	if rest != want3.String() {
		t.Errorf("lines\n%s\nwant\n%s", rest, &want3)
	}
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	raw, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// No name that Windows, FAT or a share refuses, or tells from another by case alone.
func TestNamesAreLegalEverywhere(t *testing.T) {
	for form, opts := range forms(t) {
		dir := filepath.Join(t.TempDir(), "b")
		newHouse("a deed", "another").take(t, dir, opts)
		for name := range tree(t, dir) {
			for part := range strings.SplitSeq(name, "/") {
				if strings.ContainsAny(part, `<>:"\|?* `) || strings.HasSuffix(part, ".") || len(part) > 140 {
					t.Errorf("%s: %s", form, name)
				}
			}
			if strings.HasPrefix(name, blobsDir) && strings.ToLower(name) != name {
				t.Errorf("%s: %s has capitals", form, name)
			}
		}
	}
}

func manifestOf(t testing.TB, info Info, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := newManifestWriter(&b, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return zip.EncodeAll([]byte(text), nil)
}

func goodInfo() Info {
	sum := strings.Repeat("ab", 32)
	return Info{
		Manifest: 1, Archive: strings.Repeat("0", 32), Snapshot: "20261121T071500Z", Vault: "0123456789abcdef", CreatedAt: time.Unix(1e9, 0).UTC(), Schema: 2, Blobs: 1, Bytes: 3,
		Database: Database{File: "20261121T071500Z." + sum + ".db", Size: 3, Digest: sum}, Secret: testSecret,
	}
}

// Lines that nobody wrote are refused, whatever their sums say.
func TestManifestRefuses(t *testing.T) {
	info := goodInfo()
	one, two := Entry{Digest: strings.Repeat("0a", 32), Size: 1}, Entry{Digest: strings.Repeat("0b", 32), Size: 2}
	newer := info
	newer.Manifest = 2
	first, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*Info)) []byte {
		i := info
		change(&i)
		return manifestOf(t, i, one)
	}
	rows := []struct {
		name string
		raw  []byte
		want error
	}{
		{"good", manifestOf(t, info, one), nil},
		{"newer", manifestOf(t, newer, one), ErrNewerVersion},
		{"newer with unknown fields", zipped(t, `{"manifest":9,"unknown":1}`+"\n"), ErrNewerVersion},
		{"nothing", nil, ErrDamaged},
		{"no zstd", []byte("words\n"), ErrDamaged},
		{"no lines", zipped(t, ""), ErrDamaged},
		{"no JSON", zipped(t, "words\n"), ErrDamaged},
		{"an unknown field", zipped(t, string(first[:len(first)-1])+`,"more":1}`+"\n"), ErrDamaged},
		{"no end", zipped(t, string(first)+"\n"), ErrDamaged},
		{"an end that does not add up", zipped(t, string(first)+"\n"+`{"end":true,"blobs":1,"sum":"00"}`+"\n"), ErrDamaged},
		{"fewer entries than it says", manifestOf(t, info), ErrDamaged},
		{"more bytes than it says", manifestOf(t, info, Entry{Digest: one.Digest, Size: info.Bytes + 1}), ErrDamaged},
		{"more entries than it says", manifestOf(t, info, one, two), ErrDamaged},
		{"something behind the end", append(manifestOf(t, info, one), zipped(t, "x\n")...), ErrDamaged},
		{"a line that never ends", zipped(t, strings.Repeat("x", 10<<20)), ErrDamaged},
		{"no snapshot", with(func(i *Info) { i.Snapshot = "now" }), ErrDamaged},
		{"no archive", with(func(i *Info) { i.Archive = "" }), ErrDamaged},
		{"no secret", with(func(i *Info) { i.Secret = "" }), ErrDamaged},
		{"no database", with(func(i *Info) { i.Database.File = "../vault.db" }), ErrDamaged},
		{"less than nothing", with(func(i *Info) { i.Bytes = -1 }), ErrDamaged},
		{"no digest", zipped(t, string(first)+"\n"+`{"digest":"x","size":1}`+"\n"), ErrDamaged},
		{"a size below zero", zipped(t, string(first)+"\n"+`{"digest":"`+one.Digest+`","size":-1}`+"\n"), ErrDamaged},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := readManifest(bytes.NewReader(row.raw), func(Entry) error { return nil })
			if !errors.Is(err, row.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	m, err := newManifestWriter(io.Discard, info)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.add(two), m.add(one)); err == nil {
		t.Error("an entry out of order was written")
	}
}

func FuzzHead(f *testing.F) {
	for _, h := range []head{
		{Archive: strings.Repeat("0", 32), Vault: "v", Form: formPlain},
		{Archive: strings.Repeat("f", 32), Vault: "v", Form: formEncrypted, Recipient: "age1", Key: "00", For: []string{"age1x"}},
	} {
		raw, err := encodeHead(h)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)-2])
	}
	f.Add([]byte("deedkeep-backup 2 x\n{}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := decodeHead(raw)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion) {
				t.Errorf("%v", err)
			}
			return
		}
		if again, err := encodeHead(h); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%q is read as %q", raw, again)
		}
	})
}

func FuzzManifest(f *testing.F) {
	info := goodInfo()
	good := manifestOf(f, info, Entry{Digest: strings.Repeat("0a", 32), Size: 3})
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(zipped(f, `{"manifest":1}`+"\n"))
	f.Add(zipped(f, `{"manifest":2}`+"\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		count, last := uint64(0), ""
		info, err := readManifest(bytes.NewReader(raw), func(e Entry) error {
			if e.Digest <= last || e.Size < 0 {
				t.Errorf("entry %+v after %s", e, last)
			}
			count, last = count+1, e.Digest
			return nil
		})
		switch {
		case err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion):
			t.Errorf("%v", err)
		case err == nil && count != info.Blobs:
			t.Errorf("%d entries of %d", count, info.Blobs)
		}
	})
}

// FuzzLines is FuzzManifest behind the compression.
func FuzzLines(f *testing.F) {
	first, err := json.Marshal(goodInfo())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(first) + "\n" + `{"digest":"` + strings.Repeat("0a", 32) + `","size":1,"file":"x","stored":2}` + "\n" + `{"end":true,"blobs":1,"sum":""}` + "\n")
	f.Add(`{"manifest":1,"database":{}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := readManifest(bytes.NewReader(zipped(t, text)), func(Entry) error { return nil })
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion) {
			t.Errorf("%v", err)
		}
	})
}
