package document_test

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha1"
	"encoding/binary"
	"testing"

	"deedkeep/app/document"
)

// TestWorkbookWithDefaultPassword checks that a workbook doesn't need a password if Excel encrypted
// it with its default password to protect only the structure.
func TestWorkbookWithDefaultPassword(t *testing.T) {
	const defaultPassword, locked = "VelvetSweatshop", document.ReasonDocumentPassword
	book := func(pass []byte) []byte {
		return buildOLE(stream("Workbook", biff(record{0x0809, bof}, record{0x002F, pass})))
	}
	var rows []row
	for _, password := range []struct{ name, password, want string }{
		{"default password", defaultPassword, ""}, {"other password", "opensesame", locked}} {
		rows = append(rows,
			row{password.name + ", RC4", "xls", book(passRC4(password.password)), password.want},
			row{password.name + ", CryptoAPI of 40 bits", "xls", book(passCryptoAPI(password.password, 40)), password.want},
			row{password.name + ", CryptoAPI of 128 bits", "xls", book(passCryptoAPI(password.password, 128)), password.want},
		)
	}
	oddBits := passCryptoAPI(defaultPassword, 128)
	binary.LittleEndian.PutUint32(oddBits[14+16:], 999)
	longHeader := passCryptoAPI(defaultPassword, 128)
	binary.LittleEndian.PutUint32(longHeader[10:], 1<<31)
	checkInspections(t, append(rows, []row{
		{"default password, XOR", "xls", book([]byte{0, 0, 0x59, 0xB3, 0x0A, 0x9A}), ""},
		{"default password, XOR of Excel 5", "xls", book([]byte{0x59, 0xB3, 0x0A, 0x9A}), ""},
		{"other password, XOR", "xls", book([]byte{0, 0, 0x4A, 0x51, 0x1A, 0xCC}), locked},
		{"empty", "xls", book(nil), locked},
		{"RC4, truncated", "xls", book(passRC4(defaultPassword)[:50]), locked},
		{"CryptoAPI, truncated", "xls", book(passCryptoAPI(defaultPassword, 128)[:80]), locked},
		{"CryptoAPI with an odd number of bits", "xls", book(oddBits), locked},
		{"CryptoAPI of a long header", "xls", book(longHeader), locked},
	}...))
}

var salt = []byte("0123456789abcdef")

// passRC4 returns the FilePass data that Excel 97 writes.
func passRC4(password string) []byte {
	secret := md5.Sum(wide(password))
	mixed := md5.Sum(bytes.Repeat(append(bytes.Clone(secret[:5]), salt...), 16))
	key := md5.Sum(append(bytes.Clone(mixed[:5]), 0, 0, 0, 0))
	hash := md5.Sum([]byte("a verifier of 16"))
	return append(append([]byte{1, 0, 1, 0, 1, 0}, salt...), encrypt(key[:], []byte("a verifier of 16"), hash[:])...)
}

// passCryptoAPI returns the FilePass data that Excel 2002 writes.
func passCryptoAPI(password string, bits uint32) []byte {
	le := binary.LittleEndian
	secret := sha1.Sum(append(bytes.Clone(salt), wide(password)...))
	hashed := sha1.Sum(append(bytes.Clone(secret[:]), 0, 0, 0, 0))
	key := bytes.Clone(hashed[:bits/8])
	if bits == 40 {
		key = append(key, make([]byte, 11)...)
	}
	hash := sha1.Sum([]byte("a verifier of 16"))
	encrypted := encrypt(key, []byte("a verifier of 16"), hash[:])

	pass := []byte{1, 0, 4, 0, 2, 0, 12, 0, 0, 0}
	pass = le.AppendUint32(pass, 34)
	for _, field := range []uint32{12, 0, 0x6801, 0x8004, bits, 1, 0, 0} {
		pass = le.AppendUint32(pass, field)
	}
	pass = append(pass, 0, 0) // provider without a name
	pass = append(le.AppendUint32(pass, 16), salt...)
	pass = append(pass, encrypted[:16]...)
	return append(le.AppendUint32(pass, 20), encrypted[16:]...)
}

func wide(password string) (p []byte) {
	for _, b := range []byte(password) {
		p = append(p, b, 0)
	}
	return p
}

func encrypt(key []byte, parts ...[]byte) []byte {
	p := bytes.Join(parts, nil)
	cipher, err := rc4.NewCipher(key)
	if err != nil {
		panic(err) // the keys above have a valid length
	}
	cipher.XORKeyStream(p, p)
	return p
}
