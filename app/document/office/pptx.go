package office

import (
	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ooxml"
)

// PPTX writes a page for each slide, in the order of the presentation (ISO/IEC 29500-1,
// 19.2.1.34): its text, then its notes.
func PPTX(doc *docio.Reader, out *docio.TextWriter) error {
	p, err := ooxml.Open(doc, out.Limits.MaxUnpackedBytes)
	if err != nil {
		return err
	}
	main, related, err := p.Main("ppt/presentation.xml")
	if err != nil {
		return err
	}
	var slides []string
	err = p.WalkReferences(main, "sldId", related, func(_ ooxml.Element, part string) {
		slides = append(slides, part)
	})
	if err != nil {
		return err
	}
	return out.Pages(len(slides), func(i int) error {
		if err := paragraphs(p, slides[i], out); err != nil {
			return err
		}
		related, err := p.Relationships(slides[i])
		if err != nil {
			return err
		}
		for _, notes := range ooxml.Parts(related, "notesSlide") {
			if err := paragraphs(p, notes, out); err != nil {
				return err
			}
		}
		return nil
	})
}
