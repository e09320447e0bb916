package vaulttest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
)

// OldText returns the text of a one-page document as an older version of package blobstore stored it.
func OldText(t testing.TB, version int, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	page := fmt.Appendf(nil, "deedkeep-text-%d\n\x01", version)
	page = binary.AppendUvarint(page, uint64(len(text)))
	if version > 1 {
		page = binary.BigEndian.AppendUint32(page, crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)))
	}
	_, err := z.Write(append(page, text...))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatalf("compress the text: %v", err)
	}
	return b.Bytes()
}
