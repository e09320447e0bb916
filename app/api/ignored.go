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

// Limits of the X-Ignored-Fields header.
const (
	maxIgnored     = 20 // max names in the header; further names are only counted
	maxIgnoredName = 64 // max bytes of a name
	// maxIgnoredBytes limits the total size of the encoded names. By default, nginx rejects
	// a response whose headers don't fit into 4 KB.
	maxIgnoredBytes = 2 << 10
)

// ignoredFields collects the names of inputs that an operation does not accept: query
// parameters, members of a JSON object, form fields, multipart parts, and keys of
// custom_fields. It keeps the first maxIgnored names and counts the rest.
type ignoredFields struct {
	mu           sync.Mutex // needed because another goroutine validates the record and sets custom
	sent, custom boundedNames
}

// boundedNames contains the first names of a list and the number of names that didn't fit.
type boundedNames struct {
	first []string
	more  int
}

// add adds name unless it is already in the list. An empty name is only counted.
func (n *boundedNames) add(name string) {
	switch {
	case name != "" && slices.Contains(n.first, name):
	case name == "" || len(n.first) == maxIgnored:
		n.more++
	default:
		n.first = append(n.first, name)
	}
}

// addQuery replaces the collected names with the query parameters that are not in known. It
// adds no names if the query is malformed.
func (i *ignoredFields) addQuery(raw string, known ...string) {
	i.sent = boundedNames{}
	if raw == "" {
		return
	}
	pairs, err := queryPairs(raw)
	if err != nil {
		return
	}
	for _, p := range pairs {
		i.addUnknown(p.Name, known)
	}
}

// addUnknown adds name unless it is in known.
func (i *ignoredFields) addUnknown(name string, known []string) {
	if !slices.Contains(known, name) {
		i.sent.add(name)
	}
}

// addMembers adds the members of a JSON object that are not in known, sorted by name.
func (i *ignoredFields) addMembers(sent map[string]json.RawMessage, known []string) {
	var left []string
	for name := range sent {
		if !slices.Contains(known, name) {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	for _, name := range left {
		i.sent.add(name)
	}
}

// setCustomKeys replaces the ignored keys of custom_fields, which are keys that the
// template doesn't define.
func (i *ignoredFields) setCustomKeys(keys []string) {
	var n boundedNames
	for _, key := range keys {
		n.add("custom_fields." + key)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.custom = n
}

// header returns the value of the X-Ignored-Fields header: the percent-encoded names
// separated by commas, followed by a plus sign and the number of names left out, if any. It
// returns "" if no inputs were ignored. Encoded names can't contain plus signs, commas, or
// line breaks.
func (i *ignoredFields) header() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := boundedNames{first: slices.Clone(i.sent.first), more: i.sent.more + i.custom.more}
	for _, name := range i.custom.first {
		all.add(name)
	}
	list, left := make([]string, 0, len(all.first)+1), maxIgnoredBytes
	for at, name := range all.first {
		text := encodeName(name)
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

// encodeName percent-encodes every byte of name except letters, digits, "-", "_", ".", and
// "~". A name longer than maxIgnoredName is shortened and ends with an ellipsis.
func encodeName(name string) string {
	if len(name) > maxIgnoredName {
		name = strings.ToValidUTF8(name[:maxIgnoredName], "") + "…"
	}
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// addTo returns a copy of header with X-Ignored-Fields added. It is used for responses that
// are stored for replay.
func (i *ignoredFields) addTo(header map[string]string) map[string]string {
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
