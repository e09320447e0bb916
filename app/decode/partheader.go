package decode

import (
	"bytes"
	"strings"
)

// header parses the header block of the next part. The boundary line of the part must already have been read.
func (r *Reader) header() (*Part, error) {
	block, err := r.headerBlock()
	if err != nil {
		return nil, err
	}
	p := &Part{Number: r.parts, r: r}
	var dispositions []string
	for len(block) > 0 {
		var name, value string
		var ok bool
		if name, value, block, ok = cutHeader(block); !ok {
			return nil, r.malformed("A header line of part %d cannot be read.", r.parts)
		}
		switch {
		case strings.EqualFold(name, "Content-Disposition"):
			dispositions = append(dispositions, value)
		case strings.EqualFold(name, "Content-Type"):
			p.ContentType = value
		}
	}
	switch {
	case len(dispositions) == 0:
		return nil, r.malformed("Part %d has no Content-Disposition.", r.parts)
	case len(dispositions) > 1:
		return nil, r.malformed("Part %d has more than one Content-Disposition.", r.parts)
	}
	d, ok := parseDisposition(dispositions[0])
	if !ok {
		return nil, r.malformed("The Content-Disposition of part %d cannot be read.", r.parts)
	}
	if d.name == "" {
		return nil, r.malformed("The Content-Disposition of part %d has no name.", r.parts)
	}
	p.Name, p.Filename, p.HasFilename = d.name, d.filename, d.hasFilename
	p.isFile = IsFileField(p.Name)
	return p, nil
}

// headerBlock consumes all lines up to and including the first empty line. It returns them without the empty line.
func (r *Reader) headerBlock() ([]byte, error) {
	limit := min(r.lim.Header, len(r.buf)/2)
	lines, start, searched := 0, 0, 0 // start is the start of the current line, and searched is the number of bytes searched for a line break
	for {
		buf := r.buf[r.pos:r.end]
		i := bytes.IndexByte(buf[searched:], '\n')
		if i < 0 {
			if searched = len(buf); searched > limit {
				return nil, r.malformed("The header of part %d is larger than %d bytes.", r.parts, limit)
			}
			if err := r.fill(); err != nil {
				return nil, err
			}
			continue
		}
		next := searched + i + 1
		if next > limit {
			return nil, r.malformed("The header of part %d is larger than %d bytes.", r.parts, limit)
		}
		if line := buf[start:next]; len(line) == 1 || len(line) == 2 && line[0] == '\r' {
			r.pos += next
			return buf[:start], nil
		}
		if lines++; lines > r.lim.Headers {
			return nil, r.malformed("The header of part %d has more than %d lines.", r.parts, r.lim.Headers)
		}
		start, searched = next, next
	}
}

// cutHeader cuts the first header field off block, which must consist of complete lines. It joins the continuation
// lines of the field (RFC 5322, section 2.2.3). ok is false if the field is malformed.
func cutHeader(block []byte) (name, value string, rest []byte, ok bool) {
	end := bytes.IndexByte(block, '\n') + 1
	for end < len(block) && (block[end] == ' ' || block[end] == '\t') {
		end += bytes.IndexByte(block[end:], '\n') + 1
	}
	field := string(block[:end])
	name, value, ok = strings.Cut(field, ":")
	if strings.IndexByte(value, '\n') < len(value)-1 {
		value = folds.Replace(value)
	}
	return strings.TrimRight(name, " \t"), strings.Trim(value, blanks), block[end:], ok && isToken(strings.TrimRight(name, " \t"))
}

// folds removes line breaks from a folded field.
var folds = strings.NewReplacer("\r\n", "", "\n", "")
