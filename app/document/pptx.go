package document

// slides returns the slides of a presentation in its order (ISO/IEC 29500-1,
// 19.2.1.34).
func (p *ooxmlPackage) slides(doc *source) ([]string, error) {
	main, related, err := p.main(doc, "ppt/presentation.xml")
	if err != nil {
		return nil, err
	}
	var slides []string
	err = p.inOrder(doc, main, "sldId", related, func(_ element, part string) {
		slides = append(slides, part)
	})
	return slides, err
}

func pptxPages(doc *source, lim ExtractLimits) (int, error) {
	p, err := openPackage(doc, lim)
	if err != nil {
		return 0, err
	}
	slides, err := p.slides(doc)
	return len(slides), err
}

// pptxText reads each slide and what was noted on it.
func pptxText(doc *source, out *writer) error {
	p, err := openPackage(doc, out.lim)
	if err != nil {
		return err
	}
	slides, err := p.slides(doc)
	if err != nil {
		return err
	}
	for i, slide := range slides {
		if i >= out.lim.MaxPages || out.full() {
			out.cut = true
			return nil
		}
		if err := out.begin(i + 1); err != nil {
			return err
		}
		if err := p.prose(doc, slide, out); err != nil {
			return err
		}
		related, err := p.targets(doc, slide)
		if err != nil {
			return err
		}
		for _, notes := range of(related, "notesSlide") {
			if err := p.prose(doc, notes, out); err != nil {
				return err
			}
		}
	}
	return nil
}
