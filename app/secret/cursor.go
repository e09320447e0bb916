package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// A cursor is a place in a list, sealed for the list it was made for:
//
//	cursor = base64url without padding of: nonce (12 bytes), AES-256-GCM of the position (with its tag of 16 bytes)
//	nonce  = first 12 bytes of HMAC-SHA256(subkey `cursors/nonce`, length of scope (8 bytes, big-endian), scope, position)
//
// The key is the subkey `cursors`, the scope is the additional data. The nonce is made of what it protects, so that no
// chance is needed, one place has one cursor, and a nonce comes back with the same text only.
const (
	cursorNonce = 12
	cursorMax   = 4096 // characters; a position is a key of the store
)

// Cursors seals places in lists and opens them; safe for concurrent use.
type Cursors struct {
	aead  cipher.AEAD
	nonce [KeySize]byte
}

// Cursors gives the sealer of cursors.
func (r *Keys) Cursors() *Cursors {
	key := r.Subkey("cursors")
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // The only error is the length of the key.
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // The only error is a block of another length than AES has.
	}
	return &Cursors{aead: aead, nonce: r.Subkey("cursors/nonce")}
}

// Encode gives the cursor of a position in the list that scope names: its noun, filters and sort.
func (c *Cursors) Encode(scope string, position []byte) string {
	mac := hmac.New(sha256.New, c.nonce[:])
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(scope))))
	mac.Write([]byte(scope))
	mac.Write(position)
	nonce := mac.Sum(nil)[:cursorNonce:cursorNonce]
	return urlCoding.EncodeToString(c.aead.Seal(nonce, nonce, position, []byte(scope)))
}

// Decode gives the position that Seal sealed under that scope; ok is false for every other text: changed, of another
// list, or of another installation.
func (c *Cursors) Decode(scope, text string) (position []byte, ok bool) {
	if len(text) > cursorMax {
		return nil, false
	}
	raw, ok := decodeURL(text)
	if !ok || len(raw) < cursorNonce {
		return nil, false
	}
	position, err := c.aead.Open(nil, raw[:cursorNonce], raw[cursorNonce:], []byte(scope))
	return position, err == nil
}

var urlCoding = base64.RawURLEncoding.Strict()

// decodeURL takes the one spelling of base64url without padding.
func decodeURL(text string) (raw []byte, ok bool) { return decode(urlCoding, text) }

// decode takes the one spelling of raw; the library by itself skips line ends.
func decode(coding *base64.Encoding, text string) (raw []byte, ok bool) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	raw, err := coding.DecodeString(text)
	return raw, err == nil
}
