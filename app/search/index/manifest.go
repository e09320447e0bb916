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

// The manifest lists the segments of the index. It is written to a temporary file, synced, and
// renamed, so that either the old or the new manifest is on disk. Files that it does not list are
// removed when the index is opened.
//
//	manifest   := "dkindex\n", format u32, number of the next segment u64,
//	              checkpoint, segments, sum u32 of everything before
//	checkpoint := its length, its bytes
//	segments   := count, for each: number u64, size u64, sum of the footer u32,
//	              documents u32, tombstones (app/search/index/segment/tombstones.go)
//
// Segments are ordered from the oldest to the newest. Lengths and counts are varints. Other numbers
// are little-endian. Checksums (sum) are CRC-32C.
const (
	manifestName       = "manifest"
	manifestNew        = "manifest.new"
	manifestMagic      = "dkindex\n"
	manifestFormat     = 2 // format 1 stored all positions
	listedSegmentBytes = 8 + 8 + 4 + 4
	maxManifestBytes   = 64 << 20 // enough for one bit for each of half a billion documents
)

type manifest struct {
	nextSegment uint64
	checkpoint  []byte
	segments    []listedSegment
}

// listedSegment is a segment that the manifest lists.
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
		p, _ = binary.Append(p, binary.LittleEndian, l.Meta) // fails only for other types
		p = l.tombstones.Append(p, l.Docs)
	}
	return binary.LittleEndian.AppendUint32(p, segment.Checksum(p))
}

var errManifest = fmt.Errorf("manifest: %w", ErrDamaged)

// parseManifest decodes a manifest. size returns the size of a segment file, which limits the
// number of documents in the segment and therefore the memory allocated for its tombstones.
func parseManifest(p []byte, size func(number uint64) (int64, error)) (*manifest, error) {
	const header = len(manifestMagic) + 4 + 8
	if len(p) < header+4 || string(p[:len(manifestMagic)]) != manifestMagic {
		return nil, errManifest
	}
	if f := binary.LittleEndian.Uint32(p[len(manifestMagic):]); f != manifestFormat {
		return nil, fmt.Errorf("manifest: %w: version %d, expected %d", ErrOtherFormat, f, manifestFormat)
	}
	body := p[:len(p)-4]
	if segment.Checksum(body) != binary.LittleEndian.Uint32(p[len(body):]) {
		return nil, fmt.Errorf("%w: checksum mismatch", errManifest)
	}
	m := &manifest{nextSegment: binary.LittleEndian.Uint64(p[header-8:])}
	body = body[header:]
	length, n := segment.Uvarint32(body)
	if n == 0 || int64(length) > int64(len(body)-n) {
		return nil, fmt.Errorf("%w: invalid checkpoint", errManifest)
	}
	m.checkpoint, body = bytes.Clone(body[n:n+int(length)]), body[n+int(length):]
	if err := m.parseSegments(body, size); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *manifest) parseSegments(body []byte, size func(number uint64) (int64, error)) error {
	count, n := segment.Uvarint32(body)
	if n == 0 || int64(count) > int64(len(body)/listedSegmentBytes) {
		return fmt.Errorf("%w: invalid segment list", errManifest)
	}
	body = body[n:]
	seen := make(map[uint64]bool)
	for range count {
		var l listedSegment
		if _, err := binary.Decode(body, binary.LittleEndian, &l.Meta); err != nil {
			return fmt.Errorf("%w: invalid segment list", errManifest)
		}
		if !l.Plausible() || l.Number >= m.nextSegment || seen[l.Number] {
			return fmt.Errorf("%w: invalid entry for segment %d", errManifest, l.Number)
		}
		seen[l.Number] = true
		actual, err := size(l.Number)
		if err != nil {
			return err
		}
		if actual != l.Size {
			return fmt.Errorf("%w: size of %s is %d bytes, expected %d", ErrDamaged, segmentName(l.Number), actual, l.Size)
		}
		if l.tombstones, body, err = segment.ParseTombstones(body[listedSegmentBytes:], l.Docs); err != nil {
			return fmt.Errorf("manifest: segment %d: %w", l.Number, err)
		}
		m.segments = append(m.segments, l)
	}
	if len(body) > 0 {
		return fmt.Errorf("%w: unexpected data after the end", errManifest)
	}
	return nil
}

const segmentSuffix = ".segment"

func segmentName(number uint64) string { return fmt.Sprintf("%06d%s", number, segmentSuffix) }

// writeManifest replaces the manifest on disk. If it returns an error, maybeWritten reports whether
// the new manifest may be on disk now or after a power failure.
func (in *Index) writeManifest(m *manifest) (maybeWritten bool, err error) {
	raw := m.encode()
	if len(raw) > maxManifestBytes {
		return false, fmt.Errorf("manifest size is %d bytes, limit %d", len(raw), maxManifestBytes)
	}
	temp := filepath.Join(in.dir, manifestNew)
	f, err := in.files.Create(temp)
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
	if err := in.files.Rename(temp, filepath.Join(in.dir, manifestName)); err != nil {
		return true, err
	}
	return true, in.files.SyncDir(in.dir)
}

// removeUnlisted removes segment files that the manifest does not list.
func (in *Index) removeUnlisted(m *manifest) error {
	listed := map[string]bool{manifestName: true}
	for _, l := range m.segments {
		listed[segmentName(l.Number)] = true
	}
	names, err := os.ReadDir(in.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		ownName := n.Name() == manifestNew || strings.HasSuffix(n.Name(), segmentSuffix)
		if ownName && !n.Type().IsRegular() {
			return fmt.Errorf("%w: %s is not a regular file", ErrDamaged, n.Name())
		}
		if ownName && !listed[n.Name()] {
			if err := in.files.Remove(filepath.Join(in.dir, n.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
