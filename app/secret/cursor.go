package secret

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// A cursor is a position in a list, encrypted so that it is valid only for that list:
//
//	cursor = base64url without padding of: nonce (12 bytes), AES-256-GCM of the position (with its tag of 16 bytes)
//	nonce  = first 12 bytes of HMAC-SHA256(subkey `cursors/nonce`, length of scope (8 bytes, big-endian), scope, position)
//
// The key is the subkey `cursors`, and the scope is the additional data. The nonce is
// derived from the scope and the position. Therefore, encryption needs no random numbers,
// each position has exactly one cursor, and a nonce is reused only for the same
// plaintext.
const (
	cursorNonceSize = 12
	maxCursorSize   = 4096 // maximum number of characters; a position is a database key
)

// Cursors encrypts and decrypts cursors. It is safe for concurrent use.
type Cursors struct {
	aead     cipher.AEAD
	nonceKey [KeySize]byte
}

// Cursors returns a Cursors with keys derived from the secret.
func (k *Keys) Cursors() *Cursors {
	return &Cursors{aead: k.gcm("cursors"), nonceKey: k.Subkey("cursors/nonce")}
}

// Encode returns the cursor for a position in a list. scope identifies the list: its
// record type, filters, and sort order.
func (c *Cursors) Encode(scope string, position []byte) string {
	mac := hmac.New(sha256.New, c.nonceKey[:])
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(scope))))
	mac.Write([]byte(scope))
	mac.Write(position)
	nonce := mac.Sum(nil)[:cursorNonceSize:cursorNonceSize]
	return base64URL.EncodeToString(c.aead.Seal(nonce, nonce, position, []byte(scope)))
}

// Decode returns the position that Encode encrypted for this scope. ok is false for any
// other text, such as a changed cursor or a cursor of another list or installation.
func (c *Cursors) Decode(scope, text string) (position []byte, ok bool) {
	if len(text) > maxCursorSize {
		return nil, false
	}
	raw, ok := decodeBase64URL(text)
	if !ok || len(raw) < cursorNonceSize {
		return nil, false
	}
	position, err := c.aead.Open(nil, raw[:cursorNonceSize], raw[cursorNonceSize:], []byte(scope))
	return position, err == nil
}

var (
	base64Std = base64.RawStdEncoding.Strict()
	base64URL = base64.RawURLEncoding.Strict()
)

// decodeBase64URL decodes base64url without padding. ok is false if text isn't the exact
// encoding of raw.
func decodeBase64URL(text string) (raw []byte, ok bool) { return decodeBase64(base64URL, text) }

// decodeBase64 decodes text. It rejects line breaks, which the standard library would
// ignore.
func decodeBase64(coding *base64.Encoding, text string) (raw []byte, ok bool) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	raw, err := coding.DecodeString(text)
	return raw, err == nil
}
