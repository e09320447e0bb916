package document

import "deedkeep/app/document/ooxml"

// pptxText writes a page for each slide, in the order of the presentation (ISO/IEC 29500-1,
// 19.2.1.34): its text, then its notes.
func pptxText(doc *source, out *writer) error {
	p, err := ooxml.Open(doc.Reader, out.lim.MaxUnpackedBytes)
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
	return out.pages(len(slides), func(i int) error {
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
