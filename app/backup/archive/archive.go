// Package archive writes, reads, checks and thins out backups of one vault: a
// directory that any disk, share or sync tool can hold.
//
// # The directory
//
//	backup/
//	    deedkeep-backup              the head, below
//	    README.txt                   for people: what this is, who can read it, how to get back
//	    key.age                      encrypted form only: the archive's own key, for its recipients or a passphrase
//	    snapshots/
//	        20261121T071500Z.<sum>.db         the database of that moment
//	        20261121T071500Z.<sum>.manifest   what the snapshot is made of; written last
//	    blobs/ab/
//	        ab12….                   plain form: <digest>
//	        ab12….<sum>              encrypted form: <name>.<sum>
//	    tmp/                         what is being written; worth nothing afterward
//	    lock, reading                for those who write, and for those who read
//
// <sum> is the SHA-256 of the very bytes of the file, <digest> that of a document,
// both 64 lower-case hex digits. A plain blob's digest is its sum. So every file but
// the head, the page for people and the key names its own sum, and can be checked
// without any key, by sha256sum alone. A snapshot's name is its moment in UTC, so
// names sort by time; no name has a character that FAT, NTFS or SMB refuses. All paths
// are relative: the directory may be moved, copied, renamed, written to a disc.
//
// The name of an encrypted blob is the first 16 bytes of HMAC-SHA-256(names, digest)
// in hex, where names is a subkey of the vault's secret: the same document gets the
// same name in every snapshot, and whoever does not have the secret learns nothing
// from it. Folders of blobs/ are the first two digits.
//
// # The head
//
//	deedkeep-backup 1 <sum of all that follows this line>\n
//	{"archive":"<32 hex digits>","vault":"<fingerprint of its secret>","created_at":"…",
//	 "form":"plain" or "encrypted","recipient":"age1…","key":"<sum of key.age>","for":["age1…"] or ["passphrase"],
//	 "proof":"<HMAC-SHA-256(heads, the line without proof)>"}\n
//
// It is written once; recipient, key and for stand in the encrypted form alone. An
// archive belongs to one vault: that of the secret with this fingerprint. heads is
// a subkey of that secret: the proof, and with it key.age, is held against it before
// anything is written, so that nobody who can write in the directory, and does not
// have the secret, can make the vault write in clear or for a key of theirs.
//
// # What is inside the files
//
//	                plain form              encrypted form
//	blob            the document            age(document)
//	database        zstd(file)              age(zstd(file))
//	manifest        zstd(lines)             age(zstd(lines))
//	key.age         -                       age("AGE-SECRET-KEY-1…\n")
//
// age is the format of age-encryption.org/v1. key.age holds an X25519 identity made
// with the archive and encrypted for the recipients, or under the passphrase; all
// else is encrypted for that identity, whose public half stands in the head: a vault
// that knows public keys only can go on adding snapshots. A manifest has one more
// stanza, so that the vault itself can list and thin out:
//
//	-> deedkeep <base64 of 16 random bytes, the salt>
//	<base64 of ChaCha20-Poly1305(HKDF-SHA-256(manifests, salt, "deedkeep/1/stanza"), nonce 0, file key)>
//
// where manifests is another subkey of the vault's secret. Other programs skip it.
//
// The lines of a manifest are JSON, one for the snapshot (type Info), one for each
// blob in ascending order of digest (type Entry), and the end:
//
//	{"manifest":1,"archive":"…","snapshot":"20261121T071500Z","vault":"…","created_at":"…","schema":3,
//	 "files":2,"blobs":1,"bytes":19,…,"database":{"file":"….db","stored":…,"size":…,"digest":"…"},"secret":"deedkeep-secret-1 …"}
//	{"digest":"…","size":19,"file":"….<sum>","stored":235}
//	{"end":true,"blobs":1,"sum":"<SHA-256 of all lines before>"}
//
// # Promises
//
// A snapshot is complete or invisible: its manifest gets its name last, after every
// file that it names was synced. Bytes that are there already are not written again.
// Whatever is handed out was held against its digest. A crash leaves files that no
// manifest names, and no lock; the next writer takes them away.
//
// # Refusals
//
// It writes into no directory that holds something else, and adds no second vault; into
// none whose head or key.age the vault did not write, for that would be a loss of
// secrecy. It goes through no link that stands in the place of one of its folders, and
// opens no pipe or device; a link that is laid while it works it may miss, so the
// directory belongs to the user of the service alone. It does not prove to whoever restores without the vault's secret who wrote
// an archive: whoever may write in the directory can put another one in its place, and
// can take away snapshots. A plain archive holds the vault's secret itself: whoever
// reads it can prove anything.
package archive

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Kinds of errors, for errors.Is. Their text and what is wrapped around it is for
// people.
var (
	// ErrNotFound: there is no archive in the directory.
	ErrNotFound = errors.New("there is no backup here")
	// ErrForeign: the directory holds something else, or the archive of another vault.
	ErrForeign = errors.New("it is not this vault's")
	// ErrMissing: the archive that is expected in the directory is not there.
	ErrMissing = errors.New("the backups that were there are not there")
	// ErrLocked: another process writes to the archive, or reads what is to be removed.
	ErrLocked = errors.New("the backup is in use")
	// ErrDecrypt: what opens the archive was not given, or does not open it.
	ErrDecrypt = errors.New("it cannot be decrypted")
	// ErrDamaged: bytes are missing, or are not those that were written.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrDiskFull: the disk of the archive has no room.
	ErrDiskFull = errors.New("the disk of the backup is full")
	// ErrSourceDamaged: a document is not what its digest says, before it was copied.
	ErrSourceDamaged = errors.New("the vault's own bytes are damaged")
	// ErrNewerVersion: a later version of this program wrote it.
	ErrNewerVersion = errors.New("it was written by a newer deedkeep: install that version or a later one")
)

// Digest is the SHA-256 of a document's content.
type Digest [32]byte

// String is the digest as 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Options of Open and Create.
type Options struct {
	Vault       string     // fingerprint of the secret of the vault that asks; "": of any
	BlobNameKey [32]byte   // subkey that names encrypted blobs; only for writing
	ManifestKey [32]byte   // subkey that opens manifests; zero where the secret is not at hand
	HeaderKey   [32]byte   // subkey that proves heads; looked at where Vault is given
	ExpectedID  string     // the ID of the archive that must be there; "": any, or a new one
	Encryption  Encryption // whom a new archive is encrypted for
	Decryption  Decryption // what opens key.age
	Rand        io.Reader  // for names
	Now         func() time.Time
	FreeSpace   func(path string) (uint64, error) // room on a disk, in bytes; nil: not looked at
	Reserve     uint64                            // bytes that stay free
}

// Archive is an opened directory. It holds no files open and needs no closing.
type Archive struct {
	dir  string
	head head
	form form
	opts Options
}

// Open opens the archive in dir: ErrNotFound where there is none, ErrForeign for another
// vault's, ErrDamaged, ErrNewerVersion. Nothing is written.
func Open(dir string, opts Options) (*Archive, error) {
	raw, err := readSmall(filepath.Join(dir, headName), headMost)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	h, err := decodeHead(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, headName), err)
	}
	if opts.Vault != "" && opts.Vault != h.Vault {
		return nil, fmt.Errorf("%s: %w: it holds the backups of another vault (%s; this one is %s): choose another directory",
			dir, ErrForeign, h.Vault, opts.Vault)
	}
	if opts.Vault != "" && !h.proven(opts.HeaderKey) {
		return nil, fmt.Errorf("%s: %w: it is not what this vault wrote: somebody may have changed whom the backups are encrypted for. "+
			"Nothing is written there: find out who can write in that directory, and choose another one for new backups", filepath.Join(dir, headName), ErrDamaged)
	}
	if err := ownFolders(dir); err != nil {
		return nil, err
	}
	a := &Archive{dir: dir, head: h, opts: opts}
	if a.form, err = h.form(opts); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, headName), err)
	}
	return a, nil
}

// OpenOrCreate is Open, and makes an archive in an absent or empty directory. An
// archive there whose form or recipients are not those of opts.For is refused with
// ErrForeign: nobody should believe that it is encrypted when it is not. ErrMissing where
// another one, or none, is there than opts.Expect.
func OpenOrCreate(dir string, opts Options) (*Archive, error) {
	a, err := Open(dir, opts)
	if err == nil && (opts.ExpectedID == "" || opts.ExpectedID == a.ID()) {
		err = a.agrees()
		return a, err
	}
	if opts.ExpectedID != "" && (err == nil || errors.Is(err, ErrNotFound)) {
		return nil, gone(dir, opts.ExpectedID, a)
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if err := create(dir, opts); err != nil {
		return nil, err
	}
	return Open(dir, opts)
}

// gone says that the archive is not where it was; there is the one found instead, or
// nil. An empty mount point looks just like a directory in which all may begin.
func gone(dir, id string, there *Archive) error {
	instead := "none is there now"
	if there != nil {
		instead = "another one (" + there.ID() + ") is there now"
	}
	return fmt.Errorf("%s: %w: archive %s was there, and %s: is the disk or share mounted? Nothing was written. "+
		`To go on there all the same: deedkeep backup create --new --to DIR, or another directory in backup.to`, dir, ErrMissing, id, instead)
}

// Dir is where the archive lies.
func (a *Archive) Dir() string { return a.dir }

// ID names the archive, in 32 hex digits.
func (a *Archive) ID() string { return a.head.Archive }

// Vault is the fingerprint of the secret of the vault whose backups these are.
func (a *Archive) Vault() string { return a.head.Vault }

// Encrypted reports whether it is the encrypted form.
func (a *Archive) Encrypted() bool { return a.head.Form == formEncrypted }

func (a *Archive) path(parts ...string) string {
	return filepath.Join(append([]string{a.dir}, parts...)...)
}
