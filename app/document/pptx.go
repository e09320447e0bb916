package document

import "deedkeep/app/document/ooxml"

// slideParts returns the names of the slide parts in the order of the presentation (ISO/IEC
// 29500-1, 19.2.1.34).
func slideParts(p *ooxml.Package) ([]string, error) {
	main, related, err := p.Main("ppt/presentation.xml")
	if err != nil {
		return nil, err
	}
	var slides []string
	err = p.WalkReferences(main, "sldId", related, func(_ ooxml.Element, part string) {
		slides = append(slides, part)
	})
	return slides, err
}

func pptxPages(doc *source, lim ExtractLimits) (int, error) {
	p, err := ooxml.Open(doc.Reader, lim.MaxUnpackedBytes)
	if err != nil {
		return 0, err
	}
	slides, err := slideParts(p)
	return len(slides), err
}

// pptxText writes a page for each slide: its text, then its notes.
func pptxText(doc *source, out *writer) error {
	p, err := ooxml.Open(doc.Reader, out.lim.MaxUnpackedBytes)
	if err != nil {
		return err
	}
	slides, err := slideParts(p)
	if err != nil {
		return err
	}
	for i, slide := range slides {
		if i >= out.lim.MaxPages || out.full() {
			out.truncated = true
			return nil
		}
		if err := out.begin(i + 1); err != nil {
			return err
		}
		if err := paragraphs(p, slide, out); err != nil {
			return err
		}
		related, err := p.Relationships(slide)
		if err != nil {
			return err
		}
		for _, notes := range ooxml.Parts(related, "notesSlide") {
			if err := paragraphs(p, notes, out); err != nil {
				return err
			}
		}
	}
	return nil
}
