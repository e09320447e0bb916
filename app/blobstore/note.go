package blobstore

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// A note of a partial:
//
//	at 0      slot, 60 bytes: "TURN OFFSET TIME CRC\n"
//	at 4096   slot
//	at 8192   CRC, 8 digits, and a line feed
//	          what the owner wrote down
//
// Numbers are hexadecimal with zeros in front: 16 digits each, TIME in microseconds
// since 1970; a CRC is the CRC-32C of what stands before it on its line, or behind it
// to the end, 8 digits. Slots are written in turn, each in a block of its own, so that
// the one before survives when the power fails on the way; the one of the highest turn
// counts.
const (
	slotSize  = 60
	slotBlock = 4096
	headAt    = 2 * slotBlock
	headOpens = 9
)

// settled is how far a partial is.
type settled struct {
	turn   uint64
	offset int64
	at     time.Time
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s settled) slot() []byte {
	line := fmt.Appendf(nil, "%016x %016x %016x ", s.turn, s.offset, s.at.UnixMicro())
	return fmt.Appendf(line, "%08x\n", crc32.Checksum(line, castagnoli))
}

// place is where its slot stands in the note.
func (s settled) place() int64 { return int64(s.turn%2) * slotBlock }

// note is a note as it begins.
func (s settled) note(head []byte) []byte {
	raw := make([]byte, headAt, headAt+headOpens+len(head))
	copy(raw[s.place():], s.slot())
	raw = fmt.Appendf(raw, "%08x\n", crc32.Checksum(head, castagnoli))
	return append(raw, head...)
}

var errNote = errors.New("the note of an upload cannot be read")

// parseNote reads a note.
func parseNote(raw []byte) (last settled, head []byte, err error) {
	if len(raw) < headAt+headOpens {
		return last, nil, errNote
	}
	var sum uint32
	head = raw[headAt+headOpens:]
	if n, err := fmt.Sscanf(string(raw[headAt:headAt+headOpens]), "%08x\n", &sum); n != 1 || err != nil || sum != crc32.Checksum(head, castagnoli) {
		return last, nil, errNote
	}
	for _, block := range [][]byte{raw[:slotSize], raw[slotBlock : slotBlock+slotSize]} {
		if s, ok := parseSlot(block); ok && s.turn >= last.turn {
			last = s
		}
	}
	if last.turn == 0 {
		return last, nil, errNote
	}
	return last, head, nil
}

func parseSlot(raw []byte) (s settled, ok bool) {
	var micros int64
	if _, err := fmt.Sscanf(string(raw), "%016x %016x %016x ", &s.turn, &s.offset, &micros); err != nil {
		return s, false
	}
	s.at = time.UnixMicro(micros).UTC()
	// Its one spelling: this checks the sum and every blank too.
	return s, s.offset >= 0 && bytes.Equal(s.slot(), raw)
}
