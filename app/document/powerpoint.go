package document

import (
	"encoding/binary"
	"strings"
)

// Records of a PowerPoint Document stream ([MS-PPT] 2.13.24): version and
// instance:2, type:2, length:4, content; version 15 is a container of records.
const (
	pptDocument    = 0x03E8
	pptSlide       = 0x03EE
	pptNotes       = 0x03F0
	pptNotesAtom   = 0x03F1
	pptSlideRef    = 0x03F3
	pptChars       = 0x0FA0
	pptBytes       = 0x0FA8
	pptSlideList   = 0x0FF0
	pptUserEdit    = 0x0FF5
	pptDirectory   = 0x1772
	pptHead        = 8
	pptDepth       = 32
	pptEdits       = 1000
	slidesInstance = 0
	notesInstance  = 2
)

// pptShow is a .ppt: where its parts stand, and its slides.
type pptShow struct {
	stream records
	at     map[int]int // of persistent parts by their numbers
	slides []pptPage
	notes  map[int]string // by the id of the slide
	budget int            // bytes of records that may still be read
	room   int            // bytes of text that may still be kept
}

type pptPage struct {
	ref, id int
	outline strings.Builder // text that the list of slides holds
}

func openPPT(doc *source, lim ExtractLimits) (*pptShow, error) {
	streams, err := openOLE(doc)
	if err != nil {
		return nil, err
	}
	stream, err := streams.read(lim, "powerpoint document")
	if err != nil {
		return nil, err
	}
	user, err := streams.read(lim, "current user")
	if err != nil {
		return nil, err
	}
	return readShow(stream, user, lim), nil
}

// readShow reads a PowerPoint Document stream; the stream Current User says
// where its last edit stands.
func readShow(stream, user records, lim ExtractLimits) *pptShow {
	s := &pptShow{
		stream: stream, at: make(map[int]int), notes: make(map[int]string),
		budget: 4 * len(stream), room: int(lim.MaxTextBytes),
	}
	s.lists(s.directory(user.u32(16)))
	return s
}

func pptPages(doc *source, lim ExtractLimits) (int, error) {
	s, err := openPPT(doc, lim)
	if err != nil {
		return 0, err
	}
	return len(s.slides), nil
}

// pptText gives each slide: titles and bodies, other shapes, notes.
func pptText(doc *source, out *writer) error {
	s, err := openPPT(doc, out.lim)
	if err != nil {
		return err
	}
	return s.text(out)
}

func (s *pptShow) text(out *writer) error {
	for i := range s.slides {
		if i >= out.lim.MaxPages || out.full() || s.budget <= 0 {
			out.cut = true
			return nil
		}
		if err := out.begin(i + 1); err != nil {
			return err
		}
		slide := &s.slides[i]
		out.text(slide.outline.String())
		if at, known := s.at[slide.ref]; known {
			if r, ok := s.stream.ppt(at); ok && r.kind == pptSlide {
				s.texts(r.content, 0, out.text)
			}
		}
		out.text(s.notes[slide.id])
	}
	return nil
}

// pptRecord is one record and where the next one stands.
type pptRecord struct {
	container      bool
	instance, kind int
	content        records
	next           int
}

func (r records) ppt(at int) (pptRecord, bool) {
	if r.span(at, pptHead) == nil {
		return pptRecord{}, false
	}
	head, length := r.u16(at), r.u32(at+4)
	length = min(length, len(r)-at-pptHead)
	return pptRecord{
		container: head&15 == 15, instance: head >> 4, kind: r.u16(at + 2),
		content: r.span(at+pptHead, length), next: at + pptHead + length,
	}, true
}

// each calls visit with the records of a container.
func (s *pptShow) each(content records, visit func(pptRecord)) {
	for at := 0; s.budget > 0; {
		r, ok := content.ppt(at)
		if !ok {
			return
		}
		s.budget -= pptHead
		if !r.container {
			s.budget -= len(r.content)
		}
		visit(r)
		at = r.next
	}
}

// directory follows the edits from the last to the first, each with its list of
// parts ([MS-PPT] 2.1.2), and returns where the document stands. The newest
// place of a part counts.
func (s *pptShow) directory(edit int) (document int) {
	ref := -1
	for range pptEdits {
		r, ok := s.stream.ppt(edit)
		if !ok || r.kind != pptUserEdit {
			break
		}
		if ref < 0 {
			ref = r.content.u32(16)
		}
		if list, ok := s.stream.ppt(r.content.u32(12)); ok && list.kind == pptDirectory {
			s.parts(list.content)
		}
		before := r.content.u32(8)
		if before == 0 || before >= edit {
			break // the first edit; or a ring
		}
		edit = before
	}
	return s.at[ref]
}

// parts reads runs of part numbers: the first in 20 bits, how many in 12 bits,
// then an offset for each ([MS-PPT] 2.3.5).
func (s *pptShow) parts(list records) {
	for at := 0; at+4 <= len(list); {
		head := list.u32(at)
		at += 4
		for i := range head >> 20 {
			if at+4 > len(list) {
				return
			}
			ref := head&0xFFFFF + i
			if _, newer := s.at[ref]; !newer {
				s.at[ref] = list.u32(at)
			}
			at += 4
		}
	}
}

// lists reads the lists of slides and of notes out of the document.
func (s *pptShow) lists(document int) {
	r, ok := s.stream.ppt(document)
	if !ok || r.kind != pptDocument {
		return
	}
	s.each(r.content, func(list pptRecord) {
		switch {
		case list.kind != pptSlideList:
		case list.instance == slidesInstance:
			s.outline(list.content)
		case list.instance == notesInstance:
			s.readNotes(list.content)
		}
	})
}

func (s *pptShow) outline(list records) {
	s.each(list, func(r pptRecord) {
		switch {
		case r.kind == pptSlideRef && len(s.slides) < relations:
			s.slides = append(s.slides, pptPage{ref: r.content.u32(0), id: r.content.u32(12)})
		case len(s.slides) > 0:
			s.keep(r, func(text string) { s.slides[len(s.slides)-1].outline.WriteString(text) })
		}
	})
}

func (s *pptShow) readNotes(list records) {
	s.each(list, func(ref pptRecord) {
		at, known := s.at[ref.content.u32(0)]
		if ref.kind != pptSlideRef || !known {
			return
		}
		notes, ok := s.stream.ppt(at)
		if !ok || notes.kind != pptNotes {
			return
		}
		slide := 0
		s.each(notes.content, func(r pptRecord) {
			if r.kind == pptNotesAtom {
				slide = r.content.u32(0)
			}
		})
		var text strings.Builder
		s.texts(notes.content, 0, func(t string) { text.WriteString(t) })
		s.notes[slide] += text.String()
	})
}

// texts finds the texts of shapes, however deep.
func (s *pptShow) texts(content records, depth int, write func(string)) {
	s.each(content, func(r pptRecord) {
		if r.container && depth < pptDepth {
			s.texts(r.content, depth+1, write)
			return
		}
		s.keep(r, write)
	})
}

// keep writes the text of an atom, if it is one of text, as a line.
func (s *pptShow) keep(r pptRecord, write func(string)) {
	var text string
	switch r.kind {
	case pptChars:
		text = decodeUTF16(r.content, binary.LittleEndian)
	case pptBytes:
		text = latin1(r.content)
	default:
		return
	}
	if s.room -= len(text); s.room < 0 {
		return
	}
	write(strings.ReplaceAll(text, "\v", "\n") + "\n")
}
