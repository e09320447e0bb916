package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// A sealed text is AES-256-GCM, as base64 without padding (RFC 4648, section 4):
//
//	0        12                n        n+16
//	+--------+--------- - - ---+--------+
//	| nonce  | text, encrypted |  tag   |
//	+--------+--------- - - ---+--------+
//
// The key is the subkey `sealed/` + purpose; the owner (such as `user:7`) is
// authenticated with it, so that no sealed text opens under another's record.
var sealCoding = base64.RawStdEncoding.Strict()

var errUnsealable = errors.New("the sealed text does not open")

// Encrypt encrypts a text for one purpose and owner.
func (r *Keys) Encrypt(chance io.Reader, purpose, owner, text string) (string, error) {
	gcm := r.gcm(purpose)
	nonce := make([]byte, gcm.NonceSize(), gcm.NonceSize()+len(text)+gcm.Overhead())
	if _, err := io.ReadFull(chance, nonce); err != nil {
		return "", fmt.Errorf("draw a nonce: %w", err)
	}
	return sealCoding.EncodeToString(gcm.Seal(nonce, nonce, []byte(text), []byte(owner))), nil
}

// Decrypt gives back what Seal took for the same purpose and owner; everything else is an error.
func (r *Keys) Decrypt(purpose, owner, sealed string) (string, error) {
	gcm := r.gcm(purpose)
	raw, ok := decode(sealCoding, sealed)
	if !ok || len(raw) < gcm.NonceSize() {
		return "", errUnsealable
	}
	text, err := gcm.Open(nil, raw[:gcm.NonceSize()], raw[gcm.NonceSize():], []byte(owner))
	if err != nil {
		return "", errUnsealable
	}
	return string(text), nil
}

func (r *Keys) gcm(purpose string) cipher.AEAD {
	key := r.Subkey("sealed/" + purpose)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // The only error is the length of the key.
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // The only error is the size of the block.
	}
	return gcm
}
