package secret

import (
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
//	|                 |               CRC-32 (IEEE) of everything before the second space, lower-case hex
//	|                 the 32 bytes of the secret, base64 without padding (RFC 4648, section 4)
//	name and version of the format
//
// Trailing white space is ignored, because editors add line breaks.
const (
	keyFileHeader  = "deedkeep-secret-1 "
	maxKeyFileSize = 4096
)

// ErrKeyFileDamaged is the error from LoadKeys for a key file with invalid content.
var ErrKeyFileDamaged = errors.New("the key file is damaged")

// LoadKeys reads the key file at path. If the file doesn't exist, LoadKeys creates it
// with a new secret from rand and with mode 0600 (on Windows, with the directory's access
// list). It syncs the file and its directory. It doesn't replace a file that another
// process has created in the meantime. It returns ErrKeyFileDamaged if the content of the
// file is invalid.
func LoadKeys(path string, rand io.Reader) (keys *Keys, created bool, err error) {
	keys, err = readKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, false, err
	}
	keys, err = NewKeys(rand)
	if err != nil {
		return nil, false, err
	}
	err = createKeyFile(path, encodeKeyLine(keys.secret[:]))
	if errors.Is(err, fs.ErrExist) {
		keys, err = readKeyFile(path)
		return keys, false, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("create key file: %w", err)
	}
	return keys, true, nil
}

func readKeyFile(path string) (*Keys, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	secret, err := parseKeyLine(string(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; restore the file from a backup "+
			"(with a new key file, existing IDs and links stop working)", ErrKeyFileDamaged, path, err)
	}
	return &Keys{secret: [KeySize]byte(secret)}, nil
}

func encodeKeyLine(secret []byte) string {
	line := keyFileHeader + base64Std.EncodeToString(secret)
	return fmt.Sprintf("%s %08x\n", line, crc32.ChecksumIEEE([]byte(line)))
}

func parseKeyLine(text string) ([]byte, error) {
	if len(text) > maxKeyFileSize {
		return nil, errors.New("file is too long")
	}
	line := strings.TrimRight(text, " \t\r\n")
	if line == "" {
		return nil, errors.New("file is empty")
	}
	rest, ok := strings.CutPrefix(line, keyFileHeader)
	if !ok {
		return nil, fmt.Errorf("file doesn't start with %q", strings.TrimSpace(keyFileHeader))
	}
	coded, _, ok := strings.Cut(rest, " ")
	if !ok {
		return nil, errors.New("checksum is missing")
	}
	secret, err := base64Std.DecodeString(coded)
	if err != nil || len(secret) != KeySize {
		return nil, errors.New("key is not 43 base64 characters")
	}
	if line+"\n" != encodeKeyLine(secret) {
		return nil, errors.New("checksum mismatch")
	}
	return secret, nil
}

// createKeyFile creates the key file. It writes a temporary file first, so that a crash
// leaves either no key file or a complete one.
func createKeyFile(path, line string) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*.tmp") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // fails if the file was renamed
	if err := writeAndSync(temp, line); err != nil {
		return err
	}
	if err := linkOrRename(temp.Name(), path); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

func writeAndSync(file *os.File, line string) error {
	_, err := file.WriteString(line)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// linkOrRename moves a temporary file to path. It uses a hard link if possible, because a
// hard link never replaces a key file that another process has just created. A rename
// could.
func linkOrRename(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(temp, path) // FAT and some shares don't support links
}
