package api

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"deedkeep/app/apitypes"
)

// Bounds of what X-Ignored-Fields names.
const (
	maxIgnored     = 20 // names; the others are counted
	maxIgnoredName = 64 // bytes of a name
	// maxIgnoredText is how many bytes the names have together once they are encoded: nginx
	// takes a response only when all its headers fit into 4 KB.
	maxIgnoredText = 2 << 10
)

// ignored gathers the names of what a request sends and its operation does not take:
// query parameters, members of a JSON object, fields of a form, parts of a multipart
// body, and keys of custom_fields. They are bounded: the first few are kept, the rest
// is a number.
type ignored struct {
	mu           sync.Mutex // custom comes from the goroutine that applies the rules
	sent, custom names
}

// names are the first few of a list, and how many more there are.
type names struct {
	first []string
	more  int
}

// add adds a name. One that is listed already is not listed or counted twice; an empty
// one can only be counted.
func (n *names) add(name string) {
	switch {
	case name != "" && slices.Contains(n.first, name):
	case name == "" || len(n.first) == maxIgnored:
		n.more++
	default:
		n.first = append(n.first, name)
	}
}

// query notes the parameters of a query that are not taken, in place of what was noted
// before. A query that cannot be read has no names.
func (i *ignored) query(raw string, taken ...string) {
	i.sent = names{}
	if raw == "" {
		return
	}
	pairs, err := queryPairs(raw)
	if err != nil {
		return
	}
	for _, p := range pairs {
		i.note(p.Name, taken)
	}
}

// note notes a name that is not taken.
func (i *ignored) note(name string, taken []string) {
	if !slices.Contains(taken, name) {
		i.sent.add(name)
	}
}

// object notes the members of a JSON object that are not taken, by name.
func (i *ignored) object(sent map[string]json.RawMessage, taken []string) {
	var left []string
	for name := range sent {
		if !slices.Contains(taken, name) {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	for _, name := range left {
		i.sent.add(name)
	}
}

// keys takes the keys of custom_fields that no definition names.
func (i *ignored) keys(keys []string) {
	var n names
	for _, key := range keys {
		n.add("custom_fields." + key)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.custom = n
}

// header is the value of X-Ignored-Fields: the names, percent-encoded and separated by
// commas, then a plus sign and how many more there are. It is "" when nothing was
// ignored. No name holds a plus sign, a comma or a line break once it is encoded.
func (i *ignored) header() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := names{first: slices.Clone(i.sent.first), more: i.sent.more + i.custom.more}
	for _, name := range i.custom.first {
		all.add(name)
	}
	list, left := make([]string, 0, len(all.first)+1), maxIgnoredText
	for at, name := range all.first {
		text := encodedName(name)
		if left -= len(text) + 1; left < 0 {
			all.more += len(all.first) - at
			break
		}
		list = append(list, text)
	}
	if all.more > 0 {
		list = append(list, "+"+strconv.Itoa(all.more))
	}
	return strings.Join(list, ",")
}

// encodedName is a name with every byte but letters, digits, "-", "_", "." and "~"
// percent-encoded. A long one is cut and ends in an ellipsis.
func encodedName(name string) string {
	if len(name) > maxIgnoredName {
		name = strings.ToValidUTF8(name[:maxIgnoredName], "") + "…"
	}
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// withIgnored adds X-Ignored-Fields to the headers of a response that is kept for a
// repeated request.
func (i *ignored) withIgnored(header map[string]string) map[string]string {
	text := i.header()
	if text == "" {
		return header
	}
	out := map[string]string{apitypes.IgnoredFields: text}
	for name, value := range header {
		out[name] = value
	}
	return out
}
