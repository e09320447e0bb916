// Package tifffile builds TIFF files for tests.
package tifffile

import (
	"encoding/binary"
	"sort"
)

// Tags of the places of blocks, which Build sets, and of the width of tiles.
const (
	stripOffsets = 273
	stripCounts  = 279
	tileWidth    = 322
	tileOffsets  = 324
	tileCounts   = 325
)

// Tags contains the entries of a directory. The value of an entry is numbers (LONG, or LONG8 for
// offsets in a BigTIFF), bytes (UNDEFINED), or a fraction (RATIONAL).
type Tags map[uint16]any

// Build returns a TIFF with the given pages. Entry 0 of a page contains its blocks. Build adds their
// offsets and lengths.
func Build(order binary.AppendByteOrder, big bool, pages ...Tags) []byte {
	word, head := 4, 8
	if big {
		word, head = 8, 16
	}
	put := func(b []byte, size int, v uint64) []byte {
		switch size {
		case 2:
			return order.AppendUint16(b, uint16(v))
		case 4:
			return order.AppendUint32(b, uint32(v))
		}
		return order.AppendUint64(b, v)
	}
	var body []byte
	link := head - word // position of the offset of the next directory
	file := append([]byte("II"), make([]byte, head-2)...)
	if order.String() == "BigEndian" {
		copy(file, "MM")
	}
	var links [][2]int
	for _, page := range pages {
		entries := Tags{}
		for tag, value := range page {
			entries[tag] = value
		}
		if blocks, ok := entries[0].([][]byte); ok {
			delete(entries, 0)
			var offsets, counts []int
			for _, block := range blocks {
				offsets, counts = append(offsets, head+len(body)), append(counts, len(block))
				body = append(body, block...)
			}
			at := [2]uint16{stripOffsets, stripCounts}
			if _, tiled := entries[tileWidth]; tiled {
				at = [2]uint16{tileOffsets, tileCounts}
			}
			entries[at[0]], entries[at[1]] = offsets, counts
		}
		var numbers []int
		for tag := range entries {
			numbers = append(numbers, int(tag))
		}
		sort.Ints(numbers)
		var dir []byte
		dir = put(dir, map[bool]int{false: 2, true: 8}[big], uint64(len(numbers)))
		for _, tag := range numbers {
			var value []byte
			kind, count := 4, 1
			switch v := entries[uint16(tag)].(type) {
			case int:
				value = put(nil, 4, uint64(v))
			case []int:
				count = len(v)
				for _, n := range v {
					value = put(value, 4, uint64(n))
				}
			case []byte:
				kind, count, value = 7, len(v), v
			case [2]uint32:
				kind = 5
				value = put(put(nil, 4, uint64(v[0])), 4, uint64(v[1]))
			}
			dir = put(put(put(dir, 2, uint64(tag)), 2, uint64(kind)), word, uint64(count))
			if len(value) > word {
				dir = put(dir, word, uint64(head+len(body)))
				body = append(body, value...)
			} else {
				dir = append(dir, append(value, make([]byte, word-len(value))...)...)
			}
		}
		links = append(links, [2]int{link, head + len(body)})
		link = head + len(body) + len(dir)
		body = append(put(append(body, dir...), word, 0), 0)
	}
	file = append(file, body...)
	version := 42
	if big {
		version = 43
		copy(file[4:], put(put(nil, 2, 8), 2, 0))
	}
	copy(file[2:], put(nil, 2, uint64(version)))
	for _, l := range links {
		copy(file[l[0]:], put(nil, word, uint64(l[1])))
	}
	return file
}
