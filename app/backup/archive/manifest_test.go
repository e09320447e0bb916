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

// -fixture writes testdata/plain-1 and testdata/passphrase-1 if they don't exist:
//
//	go test ./app/backup/archive -run TestCreateFixtures -fixture
//
// Fixtures are created once for each format version and never change, because existing
// archives don't change either.
var writeFixtures = flag.Bool("fixture", false, "write the archives of testdata that don't exist")

// fixtureVault returns the vault from which the fixtures were created.
func fixtureVault() *testVault {
	h := newTestVault("the first deed", "the second deed", "")
	h.database = []byte("the records\n")
	return h
}

// fixtures returns the options of each fixture, by directory name.
func fixtures(h *testVault) map[string]Options {
	return map[string]Options{"plain-1": h.options(Encryption{}), "passphrase-1": h.options(Encryption{Passphrase: "correct horse battery"})}
}

func TestCreateFixtures(t *testing.T) {
	if !*writeFixtures {
		return
	}
	h := fixtureVault()
	for name, opts := range fixtures(h) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			h.backUp(t, dir, opts)
			for _, leftover := range []string{lockName, tmpDir} {
				if err := os.Remove(filepath.Join(dir, leftover)); err != nil {
					t.Fatalf("remove file: %v", err)
				}
			}
		})
	}
}

// TestReadFixtures restores an archive of every format version from a copy without locks,
// and then adds a snapshot to it.
func TestReadFixtures(t *testing.T) {
	h := fixtureVault()
	for name, opts := range fixtures(h) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "b")
			copyTree(t, filepath.Join("testdata", name), dir)
			if err := h.checkSnapshot(dir, opts, Latest); err != nil {
				t.Errorf("checkSnapshot: %v", err)
			}
			before := h.openCount
			h.backUp(t, dir, opts)
			if h.openCount != before {
				t.Error("documents were copied again, want existing blobs reused")
			}
			if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || r.Snapshots != 2 || r.Blobs != 3 {
				t.Errorf("Verify = %+v, want 2 snapshots of 3 documents and no findings", r)
			}
		})
	}
}

// TestPlainFormatBytes checks every byte of a plain archive. The package comment shows
// the lines of its files.
func TestPlainFormatBytes(t *testing.T) {
	h := fixtureVault()
	dir := filepath.Join(t.TempDir(), "b")
	h.backUp(t, dir, h.options(Encryption{}))
	got, want := readTree(t, dir), readTree(t, filepath.Join("testdata", "plain-1"))
	delete(got, lockName)
	delete(got, readingName)
	if want := `{"snapshots":["20261121T071500Z"]}` + "\n"; got[contentsName] != want {
		t.Errorf("%s = %q, want %q", contentsName, got[contentsName], want)
	}
	delete(got, contentsName)
	for name, content := range want {
		if strings.HasPrefix(name, snapsDir) || name == readmeName {
			continue // the compressed bytes and the wording of README.txt may change
		}
		if got[name] != content {
			t.Errorf("%s =\n%q\nwant\n%q", name, got[name], content)
		}
	}
	if len(got) != len(want) {
		t.Errorf("archive has %d files, want %d", len(got), len(want))
	}
	const headerLine = `{"archive":"c6c150a912520b1c7c69c20d48c464e3","vault":"0123456789abcdef","created_at":"2026-11-21T07:15:00Z","form":"plain","proof":"` +
		"71879a0a83187f43a825f22ee68f66e3e1a902b2cb2dfc1870ce45dfaa549736" + `"}` + "\n"
	if full := fmt.Sprintf("deedkeep-backup 1 %x\n%s", sha256.Sum256([]byte(headerLine)), headerLine); got[headerName] != full {
		t.Errorf("header =\n%s\nwant\n%s", got[headerName], full)
	}
	lines := decompress(t, firstFile(t, dir, "snapshots/*.manifest"))
	first, rest, _ := strings.Cut(lines, "\n")
	const info = `{"manifest":1,"archive":"c6c150a912520b1c7c69c20d48c464e3","snapshot":"20261121T071500Z","vault":"0123456789abcdef","created_at":"2026-11-21T07:15:00Z","schema":2,` +
		`"files":3,"abstracts":0,"orders":0,"folders":0,"events":0,"blobs":3,"bytes":29,"stored":29,"database":{"file":"20261121T071500Z.`
	if !strings.HasPrefix(first, info) || !strings.HasSuffix(first, `"secret":"`+testSecret+`"}`) {
		t.Errorf("first line of the manifest =\n%s\nwant prefix\n%s", first, info)
	}
	var wantLines strings.Builder
	for _, d := range h.digests() {
		fmt.Fprintf(&wantLines, `{"digest":"%s","size":%d}`+"\n", d, len(h.docs[d]))
	}
	fmt.Fprintf(&wantLines, `{"end":true,"blobs":3,"sum":"%x"}`+"\n", sha256.Sum256([]byte(first+"\n"+wantLines.String())))
	if rest != wantLines.String() {
		t.Errorf("lines =\n%s\nwant\n%s", rest, &wantLines)
	}
}

// decompress returns the decompressed content of a file.
func decompress(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	defer f.Close()
	zip, err := zstd.NewReader(f)
	if err != nil {
		t.Fatalf("NewReader: %v", err)
	}
	defer zip.Close()
	raw, err := io.ReadAll(zip)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(raw)
}

// TestFileNamesArePortable checks that no name contains a character that Windows, FAT, or
// a share rejects, and that no two names differ only in case.
func TestFileNamesArePortable(t *testing.T) {
	for form, opts := range allFormats(t) {
		dir := filepath.Join(t.TempDir(), "b")
		newTestVault("a deed", "another").backUp(t, dir, opts)
		for name := range readTree(t, dir) {
			for part := range strings.SplitSeq(name, "/") {
				if strings.ContainsAny(part, `<>:"\|?* `) || strings.HasSuffix(part, ".") || len(part) > 140 {
					t.Errorf("%s: file name %q has an illegal character or is too long", form, name)
				}
			}
			if strings.HasPrefix(name, blobsDir) && strings.ToLower(name) != name {
				t.Errorf("%s: file name %q has uppercase letters", form, name)
			}
		}
	}
}

// encodeManifest returns a manifest with the given entries.
func encodeManifest(t testing.TB, info Info, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := newManifestWriter(&b, info)
	if err != nil {
		t.Fatalf("new manifest writer: %v", err)
	}
	for _, e := range entries {
		if err := w.add(e); err != nil {
			t.Fatalf("add: %v", err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return b.Bytes()
}

// compress returns the compressed text.
func compress(t testing.TB, text string) []byte {
	t.Helper()
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatalf("NewWriter: %v", err)
	}
	return zip.EncodeAll([]byte(text), nil)
}

// validInfo returns the first line of a valid manifest.
func validInfo() Info {
	sum := strings.Repeat("ab", 32)
	return Info{
		Manifest: 1, Archive: strings.Repeat("0", 32), Snapshot: "20261121T071500Z", Vault: "0123456789abcdef",
		CreatedAt: time.Unix(1e9, 0).UTC(), Schema: 2, Blobs: 1, Bytes: 3,
		Database: Database{File: "20261121T071500Z." + sum + ".db", Size: 3, Digest: sum}, Secret: testSecret,
	}
}

// TestReadManifestRejects checks that invalid lines are rejected even if their checksum
// is correct.
func TestReadManifestRejects(t *testing.T) {
	info := validInfo()
	one, two := Entry{Digest: strings.Repeat("0a", 32), Size: 1}, Entry{Digest: strings.Repeat("0b", 32), Size: 2}
	newer := info
	newer.Manifest = 3
	first, err := json.Marshal(info)
	if err != nil {
		t.Fatalf("encode JSON: %v", err)
	}
	with := func(change func(*Info)) []byte {
		i := info
		change(&i)
		return encodeManifest(t, i, one)
	}
	rows := []struct {
		name string
		raw  []byte
		want error
	}{
		{"valid", encodeManifest(t, info, one), nil},
		{"newer", encodeManifest(t, newer, one), ErrNewerVersion},
		{"text in version 1", encodeManifest(t, info, one, Entry{Text: one.Digest, Digest: one.Digest}), ErrDamaged},
		{"newer with unknown fields", compress(t, `{"manifest":9,"unknown":1}`+"\n"), ErrNewerVersion},
		{"empty", nil, ErrDamaged},
		{"not compressed", []byte("words\n"), ErrDamaged},
		{"no lines", compress(t, ""), ErrDamaged},
		{"not JSON", compress(t, "words\n"), ErrDamaged},
		{"unknown field", compress(t, string(first[:len(first)-1])+`,"more":1}`+"\n"), ErrDamaged},
		{"no end", compress(t, string(first)+"\n"), ErrDamaged},
		{"wrong totals in the end line", compress(t, string(first)+"\n"+`{"end":true,"blobs":1,"sum":"00"}`+"\n"), ErrDamaged},
		{"fewer entries than stated", encodeManifest(t, info), ErrDamaged},
		{"more bytes than stated", encodeManifest(t, info, Entry{Digest: one.Digest, Size: info.Bytes + 1}), ErrDamaged},
		{"more entries than stated", encodeManifest(t, info, one, two), ErrDamaged},
		{"data after the end", append(encodeManifest(t, info, one), compress(t, "x\n")...), ErrDamaged},
		{"endless line", compress(t, strings.Repeat("x", 10<<20)), ErrDamaged},
		{"invalid snapshot", with(func(i *Info) { i.Snapshot = "now" }), ErrDamaged},
		{"no archive", with(func(i *Info) { i.Archive = "" }), ErrDamaged},
		{"no secret", with(func(i *Info) { i.Secret = "" }), ErrDamaged},
		{"invalid database", with(func(i *Info) { i.Database.File = "../vault.db" }), ErrDamaged},
		{"negative bytes", with(func(i *Info) { i.Bytes = -1 }), ErrDamaged},
		{"invalid digest", compress(t, string(first)+"\n"+`{"digest":"x","size":1}`+"\n"), ErrDamaged},
		{"negative size", compress(t, string(first)+"\n"+`{"digest":"`+one.Digest+`","size":-1}`+"\n"), ErrDamaged},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := readManifest(bytes.NewReader(row.raw), func(Entry) error { return nil })
			if !errors.Is(err, row.want) {
				t.Errorf("read manifest = %v, want %v", err, row.want)
			}
		})
	}
	m, err := newManifestWriter(io.Discard, info)
	if err != nil {
		t.Fatalf("new manifest writer: %v", err)
	}
	if err := errors.Join(m.add(two), m.add(one)); err == nil {
		t.Error("add of an entry out of sequence succeeded, want an error")
	}
}

func FuzzHeader(f *testing.F) {
	for _, h := range []header{
		{Archive: strings.Repeat("0", 32), Vault: "v", Form: formPlain},
		{Archive: strings.Repeat("f", 32), Vault: "v", Form: formEncrypted, Recipient: "age1", Key: "00", For: []string{"age1x"}},
	} {
		raw, err := encodeHeader(h)
		if err != nil {
			f.Fatalf("encode header: %v", err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)-2])
	}
	f.Add([]byte("deedkeep-backup 2 x\n{}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := decodeHeader(raw)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion) {
				t.Errorf("error = %v, want ErrDamaged or ErrNewerVersion", err)
			}
			return
		}
		if again, err := encodeHeader(h); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("encodeHeader = %q, %v; want %q", again, err, raw)
		}
	})
}

func FuzzManifest(f *testing.F) {
	info := validInfo()
	valid := encodeManifest(f, info, Entry{Digest: strings.Repeat("0a", 32), Size: 3})
	f.Add(valid)
	f.Add(valid[:len(valid)/2])
	f.Add(compress(f, `{"manifest":1}`+"\n"))
	f.Add(compress(f, `{"manifest":2}`+"\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		count, last := uint64(0), ""
		info, err := readManifest(bytes.NewReader(raw), func(e Entry) error {
			if e.Digest <= last || e.Size < 0 {
				t.Errorf("entry %+v follows %s, want ascending digests", e, last)
			}
			count, last = count+1, e.Digest
			return nil
		})
		switch {
		case err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion):
			t.Errorf("error = %v, want ErrDamaged or ErrNewerVersion", err)
		case err == nil && count != info.Blobs:
			t.Errorf("visited %d entries, want %d", count, info.Blobs)
		}
	})
}

// FuzzLines fuzzes the uncompressed lines of a manifest.
func FuzzLines(f *testing.F) {
	first, err := json.Marshal(validInfo())
	if err != nil {
		f.Fatalf("encode JSON: %v", err)
	}
	f.Add(string(first) + "\n" + `{"digest":"` + strings.Repeat("0a", 32) + `","size":1,"file":"x","stored":2}` + "\n" +
		`{"end":true,"blobs":1,"sum":""}` + "\n")
	f.Add(`{"manifest":1,"database":{}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := readManifest(bytes.NewReader(compress(t, text)), func(Entry) error { return nil })
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerVersion) {
			t.Errorf("error = %v, want ErrDamaged or ErrNewerVersion", err)
		}
	})
}
