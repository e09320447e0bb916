package pagecache

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
)

// Sizes and numbers of the pages of a bbolt file. See checkPages in app/kv/boltkv for its format.
const (
	PageHeader  = 16
	MetaSize    = 64
	MetaMagic   = 0xED0CDAED
	MinPageSize = 1 << 10
	MaxPageSize = 1 << 16
)

// Meta is one of the two meta pages, which contain the root of the bucket tree.
type Meta struct {
	Offset, PageSize          int64 // offset of the meta page in the file, and size of all pages
	Root, Freelist, PageCount uint64
	Transaction, Checksum     uint64
}

// ReadMetas returns the meta pages whose checksum is correct. There are at most two.
func ReadMetas(file io.ReaderAt) (valid []Meta, err error) {
	raw := make([]byte, MetaSize)
	for offset := int64(0); offset <= MaxPageSize; offset = max(MinPageSize, 2*offset) {
		if _, err := file.ReadAt(raw, offset+PageHeader); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		size := int64(u32(raw[8:]))
		sum := fnv.New64a()
		_, _ = sum.Write(raw[:56]) // a hash never returns an error
		if u32(raw) != MetaMagic || u64(raw[56:]) != sum.Sum64() || offset != 0 && offset != size {
			continue
		}
		valid = append(valid, Meta{Offset: offset, PageSize: size, Root: u64(raw[16:]), Freelist: u64(raw[32:]), PageCount: u64(raw[40:]),
			Transaction: u64(raw[48:]), Checksum: u64(raw[56:])})
	}
	return valid, nil
}

// NewestMeta returns the current meta page, or the zero value if there is none.
func NewestMeta(valid []Meta) (newest Meta) {
	for i, m := range valid {
		if i == 0 || m.Transaction > newest.Transaction {
			newest = m
		}
	}
	return newest
}

func u32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }

func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }
