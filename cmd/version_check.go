package cmd

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

// releaseKey is the public key of the releases in minisign's format. The file is empty until there is a key.
//
//go:embed release.pub
var releaseKey string

const (
	sumsName      = "SHA256SUMS"
	signatureName = sumsName + ".minisig"
	maxSums       = 1 << 20
)

// checkedRelease is the result of checkRelease.
type checkedRelease struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Signed string `json:"signed"` // the comment that the signature covers, such as "deedkeep v1.4.0"
}

// checkRelease checks a file of a release. SHA256SUMS beside it must contain its sum and must be signed with a key.
func checkRelease(file, key string) (checkedRelease, error) {
	public, err := publicKey(key)
	if err != nil {
		return checkedRelease{}, err
	}
	if info, err := os.Stat(file); err != nil {
		return checkedRelease{}, err
	} else if !info.Mode().IsRegular() {
		return checkedRelease{}, fmt.Errorf("%s isn't a file", file)
	}
	sums, err := readBeside(file, sumsName)
	if err != nil {
		return checkedRelease{}, err
	}
	signature, err := readBeside(file, signatureName)
	if err != nil {
		return checkedRelease{}, err
	}
	comment, err := verifySums(public, sums, signature)
	if err != nil {
		return checkedRelease{}, err
	}
	want, err := listedSum(string(sums), filepath.Base(file))
	if err != nil {
		return checkedRelease{}, err
	}
	got, err := sumOf(file)
	if err != nil {
		return checkedRelease{}, err
	}
	if got != want {
		return checkedRelease{}, fmt.Errorf("%s is damaged or was changed: its SHA-256 is %s, and %s says %s; download it again",
			file, got, sumsName, want)
	}
	return checkedRelease{file, got, comment}, nil
}

// publicKey parses a public key. key is the name of a file, the text of a key, or "" for the key of this build.
func publicKey(key string) (minisign.PublicKey, error) {
	text := []byte(strings.TrimSpace(releaseKey))
	if key == "" && len(text) == 0 {
		return minisign.PublicKey{}, errors.New("this build has no public key; pass the key of the releases with --key")
	}
	if key != "" {
		content, err := os.ReadFile(key)
		switch {
		case err == nil:
			text = content
		case errors.Is(err, fs.ErrNotExist):
			text = []byte(key)
		default:
			return minisign.PublicKey{}, err
		}
	}
	var public minisign.PublicKey
	if err := public.UnmarshalText(text); err != nil {
		return public, fmt.Errorf("--key is neither a file nor a minisign public key (%w)", err)
	}
	return public, nil
}

// readBeside reads a small file in the directory of another one.
func readBeside(file, name string) ([]byte, error) {
	path := filepath.Join(filepath.Dir(file), name)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing; download it from the same release as %s", path, filepath.Base(file))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	content, err := io.ReadAll(io.LimitReader(f, maxSums+1))
	if err == nil && len(content) > maxSums {
		err = fmt.Errorf("%s is too large", path)
	}
	return content, err
}

// verifySums returns the comment that the signature of SHA256SUMS covers.
func verifySums(public minisign.PublicKey, sums, signature []byte) (string, error) {
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return "", fmt.Errorf("%s isn't a minisign signature (%w)", signatureName, err)
	}
	if s.KeyID != public.ID() {
		return "", fmt.Errorf("%s was signed with the key %X, not with %X", sumsName, s.KeyID, public.ID())
	}
	if !minisign.Verify(public, sums, signature) {
		return "", fmt.Errorf("%s or its signature was changed: the signature doesn't match; don't install the file", sumsName)
	}
	return s.TrustedComment, nil
}

// listedSum returns the sum of a file in SHA256SUMS.
func listedSum(sums, name string) (string, error) {
	for line := range strings.Lines(sums) {
		sum, listed, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if listed == " "+name || listed == "*"+name {
			return strings.ToLower(sum), nil
		}
	}
	return "", fmt.Errorf("%s doesn't list %s; if you renamed the file, give it back its name", sumsName, name)
}

// sumOf returns the SHA-256 of a file in hexadecimal.
func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
