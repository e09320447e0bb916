package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deedkeep/app/search/index/segment"
)

// The manifest is what belongs to the index. It is written under another name, synced
// and renamed, so that it is the old one or the new one, whole. What else lies in the
// folder is removed when the index is opened.
//
//	manifest := "dkindex\n", format u32, number of the next segment u64,
//	            mark, segments, sum u32 of all before
//	mark     := its length, its bytes
//	segments := how many, of each: number u64, size u64, sum of the footer u32,
//	            documents u32, gone (app/search/index/segment/gone.go)
//
// Segments stand in the order in which their documents came. Lengths and counts are
// varints, the other numbers little-endian, the sums CRC-32C.
const (
	manifestName       = "manifest"
	manifestNew        = "manifest.new"
	manifestMagic      = "dkindex\n"
	manifestFormat     = 2 // 1 had every position
	listedSegmentBytes = 8 + 8 + 4 + 4
	maxManifestBytes   = 64 << 20 // bytes: a bit for each of half a billion documents
)

type manifest struct {
	nextSegment uint64
	checkpoint  []byte
	segments    []listedSegment
}

// listedSegment is a segment as the manifest has it.
type listedSegment struct {
	segment.Meta
	tombstones *segment.Tombstones
}

func (m *manifest) encode() []byte {
	p := []byte(manifestMagic)
	p = binary.LittleEndian.AppendUint32(p, manifestFormat)
	p = binary.LittleEndian.AppendUint64(p, m.nextSegment)
	p = binary.AppendUvarint(p, uint64(len(m.checkpoint)))
	p = append(p, m.checkpoint...)
	p = binary.AppendUvarint(p, uint64(len(m.segments)))
	for _, l := range m.segments {
		p = binary.LittleEndian.AppendUint64(p, l.Number)
		p = binary.LittleEndian.AppendUint64(p, uint64(l.Size))
		p = binary.LittleEndian.AppendUint32(p, l.Sum)
		p = binary.LittleEndian.AppendUint32(p, l.Docs)
		p = l.tombstones.Append(p, l.Docs)
	}
	return binary.LittleEndian.AppendUint32(p, segment.Checksum(p))
}

var errManifest = fmt.Errorf("manifest: %w", ErrDamaged)

// parseManifest reads what encode wrote. Of each segment it takes memory for the documents
// that its file has room for: size tells how many bytes that has.
func parseManifest(p []byte, size func(number uint64) (int64, error)) (*manifest, error) {
	const head = len(manifestMagic) + 4 + 8
	if len(p) < head+4 || string(p[:len(manifestMagic)]) != manifestMagic {
		return nil, errManifest
	}
	if f := binary.LittleEndian.Uint32(p[len(manifestMagic):]); f != manifestFormat {
		return nil, fmt.Errorf("manifest: %w: %d, not %d", ErrOtherFormat, f, manifestFormat)
	}
	body := p[:len(p)-4]
	if segment.Checksum(body) != binary.LittleEndian.Uint32(p[len(body):]) {
		return nil, fmt.Errorf("%w: checksum", errManifest)
	}
	m := &manifest{nextSegment: binary.LittleEndian.Uint64(p[head-8:])}
	body = body[head:]
	length, n := readUvarint32(body)
	if n == 0 || int64(length) > int64(len(body)-n) {
		return nil, fmt.Errorf("%w: mark", errManifest)
	}
	m.checkpoint, body = bytes.Clone(body[n:n+int(length)]), body[n+int(length):]
	if err := m.parseSegments(body, size); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *manifest) parseSegments(body []byte, size func(number uint64) (int64, error)) error {
	count, n := readUvarint32(body)
	if n == 0 || int64(count) > int64(len(body)/listedSegmentBytes) {
		return fmt.Errorf("%w: segments", errManifest)
	}
	body = body[n:]
	known := make(map[uint64]bool)
	for range count {
		if len(body) < listedSegmentBytes {
			return fmt.Errorf("%w: segments", errManifest)
		}
		l := listedSegment{Meta: segment.Meta{
			Number: binary.LittleEndian.Uint64(body),
			Size:   int64(binary.LittleEndian.Uint64(body[8:])),
			Sum:    binary.LittleEndian.Uint32(body[16:]),
			Docs:   binary.LittleEndian.Uint32(body[20:]),
		}}
		if !l.Plausible() || l.Number >= m.nextSegment || known[l.Number] {
			return fmt.Errorf("%w: segment %d", errManifest, l.Number)
		}
		known[l.Number] = true
		there, err := size(l.Number)
		if err != nil {
			return err
		}
		if there != l.Size {
			return fmt.Errorf("%w: %s is %d bytes long, not %d", ErrDamaged, segmentName(l.Number), there, l.Size)
		}
		if l.tombstones, body, err = segment.ParseTombstones(body[listedSegmentBytes:], l.Docs); err != nil {
			return fmt.Errorf("manifest: segment %d: %w", l.Number, err)
		}
		m.segments = append(m.segments, l)
	}
	if len(body) > 0 {
		return fmt.Errorf("%w: bytes behind the end", errManifest)
	}
	return nil
}

// readUvarint32 reads a varint of 32 bits and returns its bytes, 0 where there is none.
func readUvarint32(p []byte) (uint32, int) {
	v, n := binary.Uvarint(p)
	if n <= 0 || v > 1<<32-1 {
		return 0, 0
	}
	return uint32(v), n
}

const segmentSuffix = ".segment"

func segmentName(number uint64) string { return fmt.Sprintf("%06d%s", number, segmentSuffix) }

// writeManifest puts m in the place of the manifest. Where it fails, inDoubt tells
// whether m may be there all the same, now or after a power cut.
func (x *Index) writeManifest(m *manifest) (inDoubt bool, err error) {
	raw := m.encode()
	if len(raw) > maxManifestBytes {
		return false, fmt.Errorf("manifest of %d bytes, more than %d", len(raw), maxManifestBytes)
	}
	fresh := filepath.Join(x.dir, manifestNew)
	f, err := x.files.Create(fresh)
	if err != nil {
		return false, err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	if err := x.files.Rename(fresh, filepath.Join(x.dir, manifestName)); err != nil {
		return true, err
	}
	return true, x.files.SyncDir(x.dir)
}

// removeUnlisted removes what the manifest does not list.
func (x *Index) removeUnlisted(m *manifest) error {
	keep := map[string]bool{manifestName: true}
	for _, l := range m.segments {
		keep[segmentName(l.Number)] = true
	}
	names, err := os.ReadDir(x.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		ours := n.Name() == manifestNew || strings.HasSuffix(n.Name(), segmentSuffix)
		if ours && !n.Type().IsRegular() {
			return fmt.Errorf("%w: %s is no file", ErrDamaged, n.Name())
		}
		if ours && !keep[n.Name()] {
			if err := x.files.Remove(filepath.Join(x.dir, n.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
