package office

import (
	"crypto/md5"  // #nosec G501 -- prescribed by the format; nothing is protected by it here
	"crypto/rc4"  // #nosec G503 -- prescribed by the format; nothing is protected by it here
	"crypto/sha1" // #nosec G505 -- prescribed by the format; nothing is protected by it here
	"crypto/subtle"
	"encoding/binary"
	"unicode/utf16"
)

// excelPassword is the password with which Excel encrypts a workbook if only its structure is
// protected. When opening a workbook, Excel tries this password before it asks the user
// (OpenOffice.org's documentation of the Excel format, 4.18.3).
const excelPassword = "VelvetSweatshop"

// Values that the XOR method derives from excelPassword ([MS-OFFCRYPTO] 2.3.7.1, 2.3.7.2).
const (
	excelXORKey      = 0xB359
	excelXORVerifier = 0x9A0A
)

// opensWithExcelPassword reports whether excelPassword matches the verifier in a FilePass record
// ([MS-XLS] 2.4.117). These are the formats of the record. All numbers are little-endian.
//
//	Excel 5     key:2 verifier:2
//	XOR         0:2 key:2 verifier:2
//	RC4         1:2 1:2 1:2 salt:16 verifier:16 hash:16
//	CryptoAPI   1:2 2..4:2 2:2 flags:4 n:4 header:n (key bits at 16) 16:4 salt:16 verifier:16 20:4 hash:20
func opensWithExcelPassword(pass []byte) bool {
	le := binary.LittleEndian
	if len(pass) == 4 {
		pass = append([]byte{0, 0}, pass...)
	}
	switch {
	case len(pass) < 6:
		return false
	case le.Uint16(pass) == 0:
		return le.Uint16(pass[2:]) == excelXORKey && le.Uint16(pass[4:]) == excelXORVerifier
	case le.Uint16(pass[4:]) == 1:
		return len(pass) >= 54 && verifiesRC4(pass[6:22], pass[22:54])
	}
	if len(pass) < 14 {
		return false
	}
	header := pass[14:]
	n := le.Uint32(pass[10:])
	if n < 20 || int64(n)+60 > int64(len(header)) {
		return false
	}
	verifier := header[n:]
	return verifiesCryptoAPI(verifier[4:20], append(verifier[20:36:36], verifier[40:60]...), le.Uint32(header[16:]))
}

// excelPasswordUTF16 returns the password in UTF-16, the encoding in which it is hashed.
func excelPasswordUTF16() (p []byte) {
	for _, unit := range utf16.Encode([]rune(excelPassword)) {
		p = binary.LittleEndian.AppendUint16(p, unit)
	}
	return p
}

// verifiesRC4 checks the password for block 0 as described in [MS-OFFCRYPTO] 2.3.6.2 to 2.3.6.4.
// encrypted contains the verifier and its hash.
func verifiesRC4(salt, encrypted []byte) bool {
	first := md5.Sum(excelPasswordUTF16()) // #nosec G401 -- see the import
	var mixed []byte
	for range 16 {
		mixed = append(append(mixed, first[:5]...), salt...)
	}
	second := md5.Sum(mixed)                         // #nosec G401 -- see the import
	key := md5.Sum(append(second[:5:5], 0, 0, 0, 0)) // #nosec G401 -- see the import
	plain := decryptRC4(key[:], encrypted)
	hash := md5.Sum(plain[:16]) // #nosec G401 -- see the import
	return subtle.ConstantTimeCompare(hash[:], plain[16:]) == 1
}

// verifiesCryptoAPI checks the password for block 0 as described in [MS-OFFCRYPTO] 2.3.5.2 and
// 2.3.5.6. bits is the key size.
func verifiesCryptoAPI(salt, encrypted []byte, bits uint32) bool {
	if bits == 0 {
		bits = 40
	}
	if bits%8 != 0 || bits < 40 || bits > 128 {
		return false
	}
	first := sha1.Sum(append(salt[:len(salt):len(salt)], excelPasswordUTF16()...)) // #nosec G401 -- see the import
	second := sha1.Sum(append(first[:], 0, 0, 0, 0))                               // #nosec G401 -- see the import
	key := second[:bits/8]
	if bits == 40 {
		key = append(key[:5:5], make([]byte, 11)...)
	}
	plain := decryptRC4(key, encrypted)
	hash := sha1.Sum(plain[:16]) // #nosec G401 -- see the import
	return subtle.ConstantTimeCompare(hash[:], plain[16:]) == 1
}

// decryptRC4 returns the plaintext of encrypted.
func decryptRC4(key, encrypted []byte) []byte {
	plain := make([]byte, len(encrypted))
	cipher, err := rc4.NewCipher(key) // #nosec G405 -- see the import
	if err != nil {
		return plain // not reached, because keys have 1 to 256 bytes
	}
	cipher.XORKeyStream(plain, encrypted)
	return plain
}
