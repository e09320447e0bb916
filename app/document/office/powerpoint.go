package office

import (
	"encoding/binary"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ole"
)

// Types of records in a PowerPoint Document stream ([MS-PPT] 2.13.24). A record consists of version
// and instance:2, type:2, length:4, content. Version 15 is a container of records.
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

// pptShow holds the text and the structure of a .ppt file.
type pptShow struct {
	stream   records
	at       map[int]int // offset of each persistent object, by object number
	slides   []pptPage
	notes    map[int]string // by slide ID
	budget   int            // number of bytes of records that may still be read
	textLeft int            // number of bytes of text that may still be kept
}

type pptPage struct {
	ref, id int
	outline strings.Builder // the slide's text in the list of slides
}

// PPT writes a page for each slide: titles and bodies, then other shapes, then notes.
func PPT(doc *docio.Reader, out *docio.TextWriter) error {
	file, err := ole.Open(doc, ole.StreamBytes(doc.Size()))
	if err != nil {
		return err
	}
	stream, err := file.Read(out.Limits.MaxUnpackedBytes, streamPowerPoint)
	if err != nil {
		return err
	}
	user, err := file.Read(out.Limits.MaxUnpackedBytes, streamCurrentUser)
	if err != nil {
		return err
	}
	return readShow(stream, user, out.Limits).text(out)
}

// readShow reads a PowerPoint Document stream. user is the Current User stream, which contains the
// offset of the last edit.
func readShow(stream, user records, lim docio.ExtractLimits) *pptShow {
	s := &pptShow{
		stream: stream, at: make(map[int]int), notes: make(map[int]string),
		budget: 4 * len(stream), textLeft: int(lim.MaxTextBytes),
	}
	s.lists(s.directory(user.u32(16)))
	return s
}

func (s *pptShow) text(out *docio.TextWriter) error {
	return out.Pages(len(s.slides), func(i int) error {
		if s.budget <= 0 {
			out.Truncated = true
			return nil
		}
		slide := &s.slides[i]
		out.WriteText(slide.outline.String())
		if at, known := s.at[slide.ref]; known {
			if r, ok := s.stream.ppt(at); ok && r.recordType == pptSlide {
				s.texts(r.content, 0, out.WriteText)
			}
		}
		out.WriteText(s.notes[slide.id])
		return nil
	})
}

// pptRecord is a record and the offset of the next one.
type pptRecord struct {
	container            bool
	instance, recordType int
	content              records
	next                 int
}

// ppt returns the record at the offset at. It returns false if there is none.
func (r records) ppt(at int) (pptRecord, bool) {
	if r.span(at, pptHead) == nil {
		return pptRecord{}, false
	}
	head, length := r.u16(at), r.u32(at+4)
	length = min(length, len(r)-at-pptHead)
	return pptRecord{
		container: head&15 == 15, instance: head >> 4, recordType: r.u16(at + 2),
		content: r.span(at+pptHead, length), next: at + pptHead + length,
	}, true
}

// each calls visit for each record of a container.
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

// directory follows the edits from the last to the first. Each edit has a list of objects ([MS-PPT]
// 2.1.2). If an object is in several lists, its newest offset is used. directory returns the offset
// of the document.
func (s *pptShow) directory(edit int) (document int) {
	ref := -1
	for range pptEdits {
		r, ok := s.stream.ppt(edit)
		if !ok || r.recordType != pptUserEdit {
			break
		}
		if ref < 0 {
			ref = r.content.u32(16)
		}
		if list, ok := s.stream.ppt(r.content.u32(12)); ok && list.recordType == pptDirectory {
			s.parts(list.content)
		}
		before := r.content.u32(8)
		if before == 0 || before >= edit {
			break
		}
		edit = before
	}
	return s.at[ref]
}

// parts reads runs of object numbers. Each run contains the first number in 20 bits, the count in
// 12 bits, and an offset for each object ([MS-PPT] 2.3.5).
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

// lists reads the lists of slides and notes of a document. document is the offset of its record.
func (s *pptShow) lists(document int) {
	r, ok := s.stream.ppt(document)
	if !ok || r.recordType != pptDocument {
		return
	}
	s.each(r.content, func(list pptRecord) {
		switch {
		case list.recordType != pptSlideList:
		case list.instance == slidesInstance:
			s.outline(list.content)
		case list.instance == notesInstance:
			s.readNotes(list.content)
		}
	})
}

// outline reads the list of slides. The text of each slide follows the slide's entry.
func (s *pptShow) outline(list records) {
	s.each(list, func(r pptRecord) {
		switch {
		case r.recordType == pptSlideRef && len(s.slides) < maxParts:
			s.slides = append(s.slides, pptPage{ref: r.content.u32(0), id: r.content.u32(12)})
		case len(s.slides) > 0:
			s.writeText(r, func(text string) { s.slides[len(s.slides)-1].outline.WriteString(text) })
		}
	})
}

// readNotes reads the text of each notes page in the list.
func (s *pptShow) readNotes(list records) {
	s.each(list, func(ref pptRecord) {
		at, known := s.at[ref.content.u32(0)]
		if ref.recordType != pptSlideRef || !known {
			return
		}
		notes, ok := s.stream.ppt(at)
		if !ok || notes.recordType != pptNotes {
			return
		}
		slide := 0
		s.each(notes.content, func(r pptRecord) {
			if r.recordType == pptNotesAtom {
				slide = r.content.u32(0)
			}
		})
		var text strings.Builder
		s.texts(notes.content, 0, func(t string) { text.WriteString(t) })
		s.notes[slide] += text.String()
	})
}

// texts calls write with each text in content. Shapes may be nested.
func (s *pptShow) texts(content records, depth int, write func(string)) {
	s.each(content, func(r pptRecord) {
		if r.container && depth < pptDepth {
			s.texts(r.content, depth+1, write)
			return
		}
		s.writeText(r, write)
	})
}

// writeText calls write with the text of a text atom as a line. It ignores other atoms.
func (s *pptShow) writeText(r pptRecord, write func(string)) {
	var text string
	switch r.recordType {
	case pptChars:
		text = docio.DecodeUTF16(r.content, binary.LittleEndian)
	case pptBytes:
		text = docio.DecodeCharmap(r.content, charmap.ISO8859_1) // UTF-16 without the upper bytes, which are zero
	default:
		return
	}
	if s.textLeft -= len(text); s.textLeft < 0 {
		return
	}
	write(strings.ReplaceAll(text, "\v", "\n") + "\n")
}
