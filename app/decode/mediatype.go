package decode

import "strings"

// maxBoundary is the maximum length of a boundary in bytes. RFC 2046 allows only 70 bytes.
const maxBoundary = 256

// Boundary parses a Content-Type header. It returns the media type in lower case, the boundary as sent, and the
// charset in lower case ("utf8" becomes "utf-8"). For an empty header, all of them are empty. Names are
// case-insensitive, values may be quoted, and other parameters are ignored even if they are malformed. Boundary
// returns a *MalformedError if the header doesn't start with type/subtype or if a multipart type doesn't have exactly
// one valid boundary. The media type is returned even in case of an error.
func Boundary(contentType string) (mediaType, boundary, charset string, err error) {
	head, rest, _ := strings.Cut(contentType, ";")
	mediaType = strings.ToLower(strings.Trim(head, blanks))
	if mediaType == "" && strings.Trim(rest, blanks+";") == "" {
		return "", "", "", nil
	}
	if kind, sub, ok := strings.Cut(mediaType, "/"); !ok || !isToken(kind) || !isToken(sub) {
		return mediaType, "", "", &MalformedError{Reason: "The Content-Type header is malformed."}
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
			// If there are two charsets, return the one that is not UTF-8 so that the caller can reject it.
			if c := normalCharset(p.value); charset == "" || charset == "utf-8" {
				charset = c
			}
		}
	}
	if strings.HasPrefix(mediaType, "multipart/") && (boundaries != 1 || !validBoundary(boundary)) {
		return mediaType, "", charset, &MalformedError{
			Reason: "The Content-Type header has no valid boundary."}
	}
	return mediaType, boundary, charset, nil
}

// IsJSON reports whether mediaType is application/json or application/*+json. mediaType must be in lower case.
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

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
