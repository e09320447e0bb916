package document

import "encoding/binary"

// maxTIFFPages is where counting stops: as many directories as libtiff counts.
const maxTIFFPages = 65535

// inspectTIFFLayout is the shape of one of the two TIFF formats. A file is a header
// that points to a chain of directories (TIFF 6.0, section 2; BigTIFF):
//
//	TIFF     "II*\0" | "MM\0*"   offset:4
//	BigTIFF  "II+\0" | "MM\0+"   8:2 0:2   offset:8
//	directory   count:2|8   count × entry:12|20   offset of the next:4|8, 0 at the end
type inspectTIFFLayout struct {
	order        binary.ByteOrder
	big          bool
	first        int64 // where the first offset stands
	count, entry int64 // bytes of a directory's count, of an entry
}

// checkTIFF accepts a TIFF whose first directory lies whole within the file,
// and counts the directories of the main chain as tiffinfo does. A first
// directory that cannot be read leaves eight magic bytes and no image: another
// kind. A chain that breaks, turns back or never ends later counts what was
// found until there.
func checkTIFF(src *inspectSource, mime string, _ InspectLimits) Report {
	layout, ok := inspectTIFFHeader(src.head(8))
	if !ok {
		return Report{}
	}
	pages := 0
	seen := make(map[int64]bool)
	for off := layout.offset(src, layout.first); off > 0 && !seen[off] && pages < maxTIFFPages; pages++ {
		seen[off] = true
		next, ok := layout.directory(src, off)
		if !ok {
			break
		}
		off = next
	}
	if pages == 0 {
		return Report{}
	}
	return Report{MIME: mime, Pages: &pages}
}

func inspectTIFFHeader(h []byte) (inspectTIFFLayout, bool) {
	if len(h) < 8 {
		return inspectTIFFLayout{}, false
	}
	layout := inspectTIFFLayout{order: binary.LittleEndian, first: 4, count: 2, entry: 12}
	switch string(h[:2]) {
	case "II":
	case "MM":
		layout.order = binary.BigEndian
	default:
		return inspectTIFFLayout{}, false
	}
	switch layout.order.Uint16(h[2:]) {
	case 42:
		return layout, true
	case 43:
		layout.big, layout.first, layout.count, layout.entry = true, 8, 8, 20
		return layout, layout.order.Uint16(h[4:]) == 8 && layout.order.Uint16(h[6:]) == 0
	}
	return inspectTIFFLayout{}, false
}

// directory returns the offset of the directory after the one at off (0: none,
// or not to be had), and whether the one at off has entries and holds them all.
func (l inspectTIFFLayout) directory(src *inspectSource, off int64) (next int64, ok bool) {
	var b [8]byte
	if !src.at(b[:l.count], off) {
		return 0, false
	}
	count := int64(l.order.Uint16(b[:]))
	if l.big {
		n := l.order.Uint64(b[:])
		if n > uint64(src.size) {
			return 0, false
		}
		count = int64(n)
	}
	end := off + l.count + count*l.entry
	if count == 0 || end > src.size {
		return 0, false
	}
	return l.offset(src, end), true
}

// offset returns the offset that stands at off, 0 where none can be read.
func (l inspectTIFFLayout) offset(src *inspectSource, off int64) int64 {
	var b [8]byte
	if l.big {
		if !src.at(b[:], off) {
			return 0
		}
		return max(0, int64(l.order.Uint64(b[:])))
	}
	if !src.at(b[:4], off) {
		return 0
	}
	return int64(l.order.Uint32(b[:]))
}
