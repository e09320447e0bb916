// Package archive writes, reads, verifies, and prunes backups of one vault. An archive is
// a directory, which can be on any disk, share, or synchronized folder.
//
// # Directory
//
//	backup/
//	    deedkeep-backup              the header, see below
//	    README.txt                   describes the backup, who can read it, and how to restore
//	    key.age                      encrypted format only: the key of the archive, encrypted for the recipients or with a passphrase
//	    snapshots/
//	        20261121T071500Z.<sum>.db         the database
//	        20261121T071500Z.<sum>.manifest   the content of the snapshot; written last
//	    blobs/ab/
//	        ab12….                   plain format: <digest>
//	        ab12….<sum>              encrypted format: <name>.<sum>
//	    contents.json                the names of all snapshots, and other directories with backups of the vault
//	    tmp/                         files being written; may be deleted
//	    lock, reading                locks of writers and readers
//
// <sum> is the SHA-256 of the bytes in the file, and <digest> is the SHA-256 of a
// document. Both are written as 64 lower-case hex digits. In the plain format, the digest
// of a blob is also its sum. Every file except the header, README.txt, contents.json, and
// key.age has its sum in its name, so sha256sum can check it without a key. A snapshot is named after
// its time in UTC, so names sort by time. File names don't contain characters that FAT,
// NTFS, or SMB reject. All paths are relative, so the directory may be moved, copied, or
// renamed.
//
// The name of an encrypted blob is the first 16 bytes of HMAC-SHA-256(blob name key,
// digest) in hex. The blob name key is derived from the vault's secret, so a document has
// the same name in every snapshot, and the name reveals nothing to anyone without the
// secret. Folders of blobs/ are named after the first two digits of the blob names.
//
// # Header
//
//	deedkeep-backup 1 <sum of everything after this line>\n
//	{"archive":"<32 hex digits>","vault":"<fingerprint of its secret>","created_at":"…",
//	 "form":"plain" or "encrypted","recipient":"age1…","key":"<sum of key.age>","for":["age1…"] or ["passphrase"],
//	 "proof":"<HMAC-SHA-256(header key, the line without proof)>"}\n
//
// The header is written once. Only the encrypted format has recipient, key, and for. An
// archive belongs to one vault: the vault whose secret has this fingerprint. The header
// key is derived from that secret. The vault verifies the proof, and key.age with it,
// before it writes anything. An attacker who can write to the directory but doesn't have
// the secret can't make the vault write plain files or encrypt for another key.
//
// # Content of files
//
//	                plain format            encrypted format
//	blob            the document or text    age(document or text)
//	database        zstd(file)              age(zstd(file))
//	manifest        zstd(lines)             age(zstd(lines))
//	key.age         -                       age("AGE-SECRET-KEY-1…\n")
//
// age is the format described at age-encryption.org/v1. key.age contains an X25519
// identity that is created with the archive. Everything else is encrypted for that
// identity. Its public key is in the header, so a vault that has only public keys can add
// snapshots. A manifest has an additional stanza, which lets the vault list and prune
// snapshots:
//
//	-> deedkeep <base64 of 16 random bytes, the salt>
//	<base64 of ChaCha20-Poly1305(HKDF-SHA-256(manifest key, salt, "deedkeep/1/stanza"), nonce 0, file key)>
//
// The manifest key is also derived from the vault's secret. Other programs ignore the
// stanza.
//
// The lines of a manifest are JSON. The first line describes the snapshot (type Info).
// Then there is one line for each document, in ascending order of digest (type Entry). A
// manifest of version 2 continues with one line for each document with OCR results, in
// ascending order of the document's digest, which is the field "text"; "digest" is the
// SHA-256 of the results. The last line marks the end:
//
//	{"manifest":1,"archive":"…","snapshot":"20261121T071500Z","vault":"…","created_at":"…","schema":3,
//	 "files":2,"blobs":1,"bytes":19,…,"database":{"file":"….db","stored":…,"size":…,"digest":"…"},"secret":"deedkeep-secret-1 …"}
//	{"digest":"…","size":19,"file":"….<sum>","stored":235}
//	{"end":true,"blobs":1,"sum":"<SHA-256 of all lines before>"}
//
// # Guarantees
//
// A snapshot is either complete or invisible, because its manifest is renamed last, after
// all files that it references were synced. Existing blobs are not written again. All
// content is checked against its digest while it is read. Missing reports snapshots that
// vanished, unless contents.json vanished with them. A crash can leave unreferenced
// files, which the next writer removes, but it can't leave a lock.
//
// # Limits
//
// The package doesn't write to a directory that contains other files or the archive of
// another vault, or if the vault didn't write the header and key.age. It doesn't follow a
// link that replaces one of its folders, and doesn't open pipes or devices. It can miss a
// link that is created while it is running, so only the service account may have write
// access to the directory. A restore without the vault's secret can't verify who wrote
// the archive: anyone who can write to the directory can replace the archive or delete
// snapshots. A plain archive contains the vault's secret.
package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Errors to test for with errors.Is. Their texts are shown to users.
var (
	// ErrNotFound means that there is no archive in the directory, or no such snapshot in
	// the archive.
	ErrNotFound = errors.New("no backup found")
	// ErrForeign means that the directory contains other files or the archive of another
	// vault.
	ErrForeign = errors.New("not a backup directory of this server")
	// ErrMissing means that the expected archive is not in the directory.
	ErrMissing = errors.New("the expected backups are missing")
	// ErrVanished means that a snapshot is no longer in the archive although it wasn't pruned.
	ErrVanished = errors.New("the backup is missing, and deedkeep didn't delete it; if you deleted it, " +
		`run "deedkeep backup prune --forget-missing"`)
	// ErrLocked means that another process is writing to the archive, or is reading files
	// that should be removed.
	ErrLocked = errors.New("the backup is in use")
	// ErrDecrypt means that no key was given, or that the given keys can't decrypt the
	// archive.
	ErrDecrypt = errors.New("the backup can't be decrypted")
	// ErrDamaged means that data is missing or differs from the data that was written.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrDiskFull means that the disk with the archive is full.
	ErrDiskFull = errors.New("the backup disk is full")
	// ErrSourceDamaged means that a document of the vault doesn't match its digest, so it
	// can't be copied.
	ErrSourceDamaged = errors.New("stored documents are damaged")
	// ErrNewerVersion means that a later version of deedkeep wrote the archive.
	ErrNewerVersion = errors.New("the backup was created by a newer version of deedkeep; install that version or a later one")
)

// Options are the options of Open and OpenOrCreate.
type Options struct {
	Vault       string     // fingerprint of the vault's secret; "" to read the archive of any vault
	BlobNameKey [32]byte   // derives names of encrypted blobs; only needed for writing
	ManifestKey [32]byte   // decrypts manifests; zero if the secret isn't available
	HeaderKey   [32]byte   // verifies the header if Vault is set
	ExpectedID  string     // ID of the archive that must be in the directory; "" if any archive, or none, is fine
	Existing    bool       // there must be an archive in the directory, even if ExpectedID is ""
	Encryption  Encryption // for a new archive
	Decryption  Decryption // opens key.age
	Rand        io.Reader  // for the ID of a new archive
	Now         func() time.Time
	FreeSpace   func(path string) (uint64, error) // free bytes on a disk; nil: not checked
	Reserve     uint64                            // number of bytes that must stay free
}

// Archive is an open archive. It keeps no files open, so it doesn't need to be closed.
type Archive struct {
	dir    string
	header header
	format format
	opts   Options
}

// Open opens the archive in dir for reading or writing. It writes nothing. It returns
// ErrNotFound, ErrForeign if the archive belongs to another vault, ErrDamaged, or
// ErrNewerVersion.
func Open(dir string, opts Options) (*Archive, error) {
	raw, err := readLimited(filepath.Join(dir, headerName), maxHeaderSize)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read backup header: %w", err)
	}
	h, err := decodeHeader(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, headerName), err)
	}
	if opts.Vault != "" && opts.Vault != h.Vault {
		return nil, fmt.Errorf("%s: %w: the backups belong to server %s, but this server is %s; choose another directory",
			dir, ErrForeign, h.Vault, opts.Vault)
	}
	if opts.Vault != "" && !h.verifySignature(opts.HeaderKey) {
		return nil, fmt.Errorf("%s: %w: the file was not written by this server, or someone changed the encryption recipients. "+
			"No backup was created. Check who can write to that directory, and choose another directory for new backups",
			filepath.Join(dir, headerName), ErrDamaged)
	}
	if err := checkFolders(dir); err != nil {
		return nil, err
	}
	a := &Archive{dir: dir, header: h, opts: opts}
	if a.format, err = h.newFormat(opts); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, headerName), err)
	}
	return a, nil
}

// OpenOrCreate opens the archive in dir, or creates one in a missing or empty directory.
// It returns ErrForeign if the encryption of an existing archive differs from
// opts.Encryption, so that no one relies on encryption that isn't there. It returns
// ErrMissing if opts.ExpectedID is set and the directory contains another archive or
// none, or if opts.Existing is set and it contains none.
func OpenOrCreate(dir string, opts Options) (*Archive, error) {
	a, err := Open(dir, opts)
	if err == nil && (opts.ExpectedID == "" || opts.ExpectedID == a.ID()) {
		err = a.checkEncryption()
		return a, err
	}
	if opts.ExpectedID != "" && (err == nil || errors.Is(err, ErrNotFound)) || opts.Existing && errors.Is(err, ErrNotFound) {
		return nil, missingError(dir, opts.ExpectedID, a)
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if err := create(dir, opts); err != nil {
		return nil, err
	}
	return Open(dir, opts)
}

// missingError returns ErrMissing for the expected archive with this ID, or for any archive
// if id is "". found is the archive in the directory, or nil. An empty mount point looks
// like a directory for a new archive.
func missingError(dir, id string, found *Archive) error {
	instead := "the directory is empty"
	if found != nil {
		instead = "the directory contains archive " + found.ID()
	}
	expected := "archive " + id
	if id == "" {
		expected = "earlier backups"
	}
	return fmt.Errorf("%s: %w: expected %s, but %s. No backup was created. Check that the disk or share is mounted. "+
		`To start new backups there, run "deedkeep backup create --new --to DIR", or change backup.to`, dir, ErrMissing, expected, instead)
}

// Dir returns the directory of the archive.
func (a *Archive) Dir() string { return a.dir }

// ID returns the ID of the archive, 32 hex digits.
func (a *Archive) ID() string { return a.header.Archive }

// Vault returns the fingerprint of the secret of the vault to which the archive belongs.
func (a *Archive) Vault() string { return a.header.Vault }

// Encrypted reports whether the archive is encrypted.
func (a *Archive) Encrypted() bool { return a.header.Form == formEncrypted }

func (a *Archive) path(parts ...string) string {
	return filepath.Join(append([]string{a.dir}, parts...)...)
}
