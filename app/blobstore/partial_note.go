package blobstore

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// The note of a partial upload is a file with this layout:
//
//	at 0      slot, 60 bytes: "SEQUENCE OFFSET TIME CRC\n"
//	at 4096   slot
//	at 8192   CRC, 8 digits, and a line feed
//	          data of the owner
//
// Numbers are hexadecimal with leading zeros, 16 digits each. TIME is in microseconds
// since 1970. A CRC is a CRC-32C of 8 digits. The CRC in a slot covers the text before it
// in the slot. The CRC before the owner's data covers that data. Checkpoints alternate
// between the slots. Each slot has its own disk block, so a power failure during a write
// leaves the other slot intact. The valid slot with the higher sequence number is the
// current one.
const (
	slotSize        = 60
	slotBlock       = 4096
	ownerDataAt     = 2 * slotBlock
	ownerDataHeader = 9
)

// checkpoint records how many bytes of a partial upload are durable.
type checkpoint struct {
	sequence uint64
	offset   int64
	at       time.Time
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the content of the checkpoint's slot.
func (c checkpoint) encode() []byte {
	line := fmt.Appendf(nil, "%016x %016x %016x ", c.sequence, c.offset, c.at.UnixMicro())
	return fmt.Appendf(line, "%08x\n", crc32.Checksum(line, castagnoli))
}

// slotOffset returns the position of the checkpoint's slot in the note.
func (c checkpoint) slotOffset() int64 { return int64(c.sequence%2) * slotBlock }

// newNote returns the content of a new note that contains this checkpoint.
func (c checkpoint) newNote(ownerData []byte) []byte {
	raw := make([]byte, ownerDataAt, ownerDataAt+ownerDataHeader+len(ownerData))
	copy(raw[c.slotOffset():], c.encode())
	raw = fmt.Appendf(raw, "%08x\n", crc32.Checksum(ownerData, castagnoli))
	return append(raw, ownerData...)
}

var errNote = errors.New("upload metadata is damaged")

// parseNote returns the latest checkpoint and the owner's data from a note.
func parseNote(raw []byte) (last checkpoint, ownerData []byte, err error) {
	if len(raw) < ownerDataAt+ownerDataHeader {
		return last, nil, errNote
	}
	var sum uint32
	header, ownerData := string(raw[ownerDataAt:ownerDataAt+ownerDataHeader]), raw[ownerDataAt+ownerDataHeader:]
	n, err := fmt.Sscanf(header, "%08x\n", &sum)
	if n != 1 || err != nil || sum != crc32.Checksum(ownerData, castagnoli) {
		return last, nil, errNote
	}
	for _, slot := range [][]byte{raw[:slotSize], raw[slotBlock : slotBlock+slotSize]} {
		if c, ok := parseSlot(slot); ok && c.sequence >= last.sequence {
			last = c
		}
	}
	if last.sequence == 0 {
		return last, nil, errNote
	}
	return last, ownerData, nil
}

func parseSlot(raw []byte) (c checkpoint, ok bool) {
	var micros int64
	if _, err := fmt.Sscanf(string(raw), "%016x %016x %016x ", &c.sequence, &c.offset, &micros); err != nil {
		return c, false
	}
	c.at = time.UnixMicro(micros).UTC()
	// Comparing with the encoded form also verifies the checksum and every space.
	return c, c.offset >= 0 && bytes.Equal(c.encode(), raw)
}
