package service

import (
	"crypto/sha1" // #nosec G505 -- Windows computes the SID of a service with it
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// SID returns the security identifier of the account NT SERVICE\NAME, which Windows derives from the
// name.
func SID(name string) string {
	h := sha1.New() // #nosec G401 -- see above
	for _, unit := range utf16.Encode([]rune(strings.ToUpper(name))) {
		_ = binary.Write(h, binary.LittleEndian, unit) // a hash doesn't fail
	}
	sid := "S-1-5-80"
	for sum := h.Sum(nil); len(sum) > 0; sum = sum[4:] {
		sid += fmt.Sprintf("-%d", binary.LittleEndian.Uint32(sum))
	}
	return sid
}
