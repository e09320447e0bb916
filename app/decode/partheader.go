package decode

import (
	"bufio"
	"errors"
	"strings"
)

// Limits of the header of a part.
const (
	maxHeaderBytes = 16 << 10
	maxHeaderLines = 64
)

// header reads the header of the next part. The boundary line of the part must already have been read.
func (r *Reader) header() (*Part, error) {
	fields, err := r.headerFields()
	if err != nil {
		return nil, err
	}
	var dispositions []string
	for _, field := range fields {
		name, value, ok := strings.Cut(field, ":")
		name = strings.TrimRight(name, " \t")
		if !ok || !isToken(name) {
			return nil, r.malformed("A header line of part %d is malformed.")
		}
		if strings.EqualFold(name, "Content-Disposition") {
			dispositions = append(dispositions, strings.ReplaceAll(value, "\n", ""))
		}
	}
	switch len(dispositions) {
	case 0:
		return nil, r.malformed("Part %d has no Content-Disposition.")
	case 1:
	default:
		return nil, r.malformed("Part %d has more than one Content-Disposition.")
	}
	d, ok := parseDisposition(strings.Trim(dispositions[0], blanks))
	if !ok {
		return nil, r.malformed("The Content-Disposition of part %d is malformed.")
	}
	if d.name == "" {
		return nil, r.malformed("The Content-Disposition of part %d has no name.")
	}
	return &Part{Number: r.parts, Name: d.name, Filename: d.filename, HasFilename: d.hasFilename, r: r}, nil
}

// headerFields reads all lines up to and including the first empty line. It returns the header fields. A field that
// is continued on the next lines (RFC 5322, section 2.2.3) contains "\n" between them.
func (r *Reader) headerFields() ([]string, error) {
	var fields []string
	for size, lines := 0, 0; ; {
		line, err := r.src.ReadSlice('\n')
		size += len(line)
		switch {
		case size > maxHeaderBytes || errors.Is(err, bufio.ErrBufferFull):
			return nil, r.malformed("The header of part %d is larger than %d bytes.", maxHeaderBytes)
		case err != nil:
			return nil, r.readError(err)
		}
		text := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
		if text == "" {
			return fields, nil
		}
		if lines++; lines > maxHeaderLines {
			return nil, r.malformed("The header of part %d has more than %d lines.", maxHeaderLines)
		}
		if last := len(fields) - 1; last >= 0 && (text[0] == ' ' || text[0] == '\t') {
			fields[last] += "\n" + text
		} else {
			fields = append(fields, text)
		}
	}
}
