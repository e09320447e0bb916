package decode

import "strings"

// maxBoundary is the longest boundary that is accepted; RFC 2046 allows 70 bytes.
const maxBoundary = 256

// Boundary parses a Content-Type: the media type in lower case, the boundary as sent, and the charset in lower case
// ("utf8" as "utf-8"). All are empty for an empty header. Names are case-insensitive, values may be quoted, and other
// parameters are ignored even if malformed. A header that doesn't start with type/subtype, and a multipart type
// without exactly one valid boundary, is a *MalformedError; the media type is returned even then.
func Boundary(contentType string) (mediaType, boundary, charset string, err error) {
	head, rest, _ := strings.Cut(contentType, ";")
	mediaType = strings.ToLower(strings.Trim(head, blanks))
	if mediaType == "" && strings.Trim(rest, blanks+";") == "" {
		return "", "", "", nil
	}
	if kind, sub, ok := strings.Cut(mediaType, "/"); !ok || !isToken(kind) || !isToken(sub) {
		return mediaType, "", "", &MalformedError{Reason: "The Content-Type header cannot be read."}
	}
	boundaries := 0
	for rest != "" {
		p, tail, ok := cutParameter(rest, true)
		if !ok {
			break
		}
		switch rest = tail; p.key {
		case "boundary":
			if boundaries == 0 || p.value != boundary {
				boundaries++
			}
			boundary = p.value
		case "charset":
			// Of two charsets the one other than UTF-8 counts, so that the caller can reject it.
			if c := normalCharset(p.value); charset == "" || charset == "utf-8" {
				charset = c
			}
		}
	}
	if strings.HasPrefix(mediaType, "multipart/") && (boundaries != 1 || !validBoundary(boundary)) {
		return mediaType, "", charset, &MalformedError{
			Reason: "The Content-Type header has no usable boundary."}
	}
	return mediaType, boundary, charset, nil
}

// IsJSON reports whether a media type, in lower case, is application/json or application/*+json.
func IsJSON(mediaType string) bool {
	sub, ok := strings.CutPrefix(mediaType, "application/")
	if !ok {
		return false
	}
	stem, suffixed := strings.CutSuffix(sub, "+json")
	return sub == "json" || suffixed && stem != ""
}

func normalCharset(s string) string {
	if s = strings.ToLower(strings.Trim(s, blanks)); s == "utf8" {
		return "utf-8"
	}
	return s
}

func validBoundary(b string) bool {
	if b == "" || len(b) > maxBoundary {
		return false
	}
	for i := range len(b) {
		if b[i] < ' ' || b[i] == 0x7f {
			return false
		}
	}
	return true
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
