package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deedkeep/app/durable"
)

// The key file is one line of text:
//
//	deedkeep-secret-1 <43 characters> <8 digits>\n
//	|                 |               CRC-32 (IEEE) of what stands before the second blank, lower-case hex
//	|                 the 32 bytes of the secret, base64 without padding (RFC 4648, section 4)
//	name and version of the format
//
// White space at its end is ignored, so that an editor that adds a line end does no harm.
const (
	keyFileHeader = "deedkeep-secret-1 "
	keyFileMax    = 4096
)

var keyFileCoding = base64.RawStdEncoding.Strict()

// ErrKeyFileDamaged is wrapped by Load when a key file is there but does not hold what was written.
var ErrKeyFileDamaged = errors.New("the key file is damaged")

// LoadKeys reads the key file at path, and where there is none creates it from chance: 0600 (on Windows with the
// directory's access list), synced with its directory, and never over one that appeared meanwhile. It wraps
// ErrKeyFileDamaged for a file that cannot be read as one.
func LoadKeys(path string, chance io.Reader) (ring *Keys, created bool, err error) {
	ring, err = read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return ring, false, err
	}
	ring, err = NewKeys(chance)
	if err != nil {
		return nil, false, err
	}
	err = create(path, keyLine(ring.secret[:]))
	if errors.Is(err, fs.ErrExist) {
		ring, err = read(path)
		return ring, false, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("create key file: %w", err)
	}
	return ring, true, nil
}

func read(path string) (*Keys, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	defer func() { _ = file.Close() }() // Nothing was written.
	text, err := io.ReadAll(io.LimitReader(file, keyFileMax+1))
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	secret, err := parseKeyLine(string(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; put the file back from a backup (a new one would make every id and link that was handed out void)", ErrKeyFileDamaged, path, err)
	}
	return ringOf(secret)
}

func keyLine(secret []byte) string {
	line := keyFileHeader + keyFileCoding.EncodeToString(secret)
	return fmt.Sprintf("%s %08x\n", line, crc32.ChecksumIEEE([]byte(line)))
}

func parseKeyLine(text string) ([]byte, error) {
	if len(text) > keyFileMax {
		return nil, errors.New("it is too long")
	}
	line := strings.TrimRight(text, " \t\r\n")
	if line == "" {
		return nil, errors.New("it is empty")
	}
	rest, ok := strings.CutPrefix(line, keyFileHeader)
	if !ok {
		return nil, fmt.Errorf("it does not begin with %q", strings.TrimSpace(keyFileHeader))
	}
	coded, _, ok := strings.Cut(rest, " ")
	if !ok {
		return nil, errors.New("its checksum is missing")
	}
	secret, err := keyFileCoding.DecodeString(coded)
	if err != nil || len(secret) != KeySize {
		return nil, errors.New("the key in it is not 43 characters of base64")
	}
	if line+"\n" != keyLine(secret) {
		return nil, errors.New("its checksum does not match")
	}
	return secret, nil
}

// create writes the whole file under another name first, so that a crash leaves either no key file or a good one.
func create(path, line string) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*.tmp") // 0600 from its first moment
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // Gone already after a rename.
	if err := fill(temp, line); err != nil {
		return err
	}
	if err := place(temp.Name(), path); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

func fill(file *os.File, line string) error {
	_, err := file.WriteString(line)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// place prefers a hard link, which unlike a rename never replaces the key another process has just created.
func place(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(temp, path) // FAT and some shares know no links.
}
