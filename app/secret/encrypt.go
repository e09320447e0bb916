package secret

import (
	"errors"
	"fmt"
	"io"
)

// An encrypted text is encrypted with AES-256-GCM and encoded as base64 without padding
// (RFC 4648, section 4):
//
//	0        12                n        n+16
//	+--------+--------- - - ---+--------+
//	| nonce  | text, encrypted |  tag   |
//	+--------+--------- - - ---+--------+
//
// The key is the subkey `sealed/` + purpose. The owner (such as `user:7`) is the
// additional data, so an encrypted text is invalid if it is moved to the record of
// another owner.
var errDecrypt = errors.New("decryption failed")

// Encrypt encrypts a text for one purpose and one owner.
func (k *Keys) Encrypt(rand io.Reader, purpose, owner, text string) (string, error) {
	gcm := k.gcm("sealed/" + purpose)
	nonce := make([]byte, gcm.NonceSize(), gcm.NonceSize()+len(text)+gcm.Overhead())
	if _, err := io.ReadFull(rand, nonce); err != nil {
		return "", fmt.Errorf("generate nonce: %w", err)
	}
	return base64Std.EncodeToString(gcm.Seal(nonce, nonce, []byte(text), []byte(owner))), nil
}

// Decrypt returns the text that Encrypt encrypted for the same purpose and owner. It
// returns an error for any other input.
func (k *Keys) Decrypt(purpose, owner, sealed string) (string, error) {
	gcm := k.gcm("sealed/" + purpose)
	raw, ok := decodeBase64(base64Std, sealed)
	if !ok || len(raw) < gcm.NonceSize() {
		return "", errDecrypt
	}
	text, err := gcm.Open(nil, raw[:gcm.NonceSize()], raw[gcm.NonceSize():], []byte(owner))
	if err != nil {
		return "", errDecrypt
	}
	return string(text), nil
}
