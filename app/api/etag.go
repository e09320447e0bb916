package api

import (
	"net/http"
	"strings"

	"deedkeep/app/secret"
	"deedkeep/app/vault"
)

// tags are the entity tags of one noun (API.md, "Ours"): opaque, and of one record
// in one version.
type tags struct{ *secret.VersionTags }

// etags are those of each noun.
type etags map[string]tags

// header is the header of a record in a version.
func (t tags) header(id, version uint64) map[string]string {
	return map[string]string{"ETag": `"` + t.Encode(id, version) + `"`}
}

// match reads If-Match (RFC 9110, section 13.1.1) for one record. A weak tag never
// matches, nor does one that was never given out; a header that cannot be read names
// no version, and so matches none.
func (t tags) match(h http.Header, id uint64) vault.Match {
	values := h.Values("If-Match")
	m := vault.Match{Given: len(values) > 0}
	joined := strings.Trim(strings.Join(values, ","), blanks)
	if joined == "*" {
		m.Any = true
		return m
	}
	for _, tag := range entityTags(joined) {
		if version, ok := t.Decode(id, tag); ok {
			m.Versions = append(m.Versions, version)
		}
	}
	return m
}

const blanks = " \t"

// entityTags splits a list of entity tags and gives the text of the strong ones;
// none of a list that cannot be read.
func entityTags(rest string) (list []string) {
	for {
		rest = strings.TrimLeft(rest, blanks+",")
		if rest == "" {
			return list
		}
		tail, weak := strings.CutPrefix(rest, "W/")
		tail, quoted := strings.CutPrefix(tail, `"`)
		tag, tail, closed := strings.Cut(tail, `"`)
		after := strings.TrimLeft(tail, blanks)
		if !quoted || !closed || after != "" && after[0] != ',' {
			return nil
		}
		if !weak {
			list = append(list, tag)
		}
		rest = after
	}
}
