package api

import (
	"net/http"
	"strings"

	"deedkeep/app/secret"
	"deedkeep/app/vault"
)

// etagCodec encodes and decodes the entity tags of one record type. A tag is opaque and
// identifies one version of one record.
type etagCodec struct{ *secret.VersionTags }

// etags maps a record type to its codec.
type etags map[string]etagCodec

// header returns the ETag header for a version of a record.
func (e etagCodec) header(id, version uint64) map[string]string {
	return map[string]string{"ETag": `"` + e.Encode(id, version) + `"`}
}

// match parses the If-Match header (RFC 9110, section 13.1.1) and returns the versions of
// the record that it matches. Weak and unknown tags never match. A malformed header matches
// no version.
func (e etagCodec) match(h http.Header, id uint64) vault.Match {
	values := h.Values("If-Match")
	m := vault.Match{Given: len(values) > 0}
	joined := strings.Trim(strings.Join(values, ","), whitespace)
	if joined == "*" {
		m.Any = true
		return m
	}
	for _, tag := range entityTags(joined) {
		if version, ok := e.Decode(id, tag); ok {
			m.Versions = append(m.Versions, version)
		}
	}
	return m
}

const whitespace = " \t"

// entityTags parses a list of entity tags and returns the strong tags without their quotes.
// It returns nil if the list is malformed.
func entityTags(header string) (list []string) {
	for {
		header = strings.TrimLeft(header, whitespace+",")
		if header == "" {
			return list
		}
		tail, weak := strings.CutPrefix(header, "W/")
		tail, quoted := strings.CutPrefix(tail, `"`)
		tag, tail, closed := strings.Cut(tail, `"`)
		after := strings.TrimLeft(tail, whitespace)
		if !quoted || !closed || after != "" && after[0] != ',' {
			return nil
		}
		if !weak {
			list = append(list, tag)
		}
		header = after
	}
}
