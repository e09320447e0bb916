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
	maxIgnored     = 20 // names listed; more are only counted
	maxIgnoredName = 64 // bytes of a name
	// maxIgnoredBytes bounds the encoded names together: by default nginx accepts a
	// response only if all its headers fit into 4 KB.
	maxIgnoredBytes = 2 << 10
)

// ignoredFields collects the names of inputs that an operation does not accept: query
// parameters, members of a JSON object, form fields, multipart parts, and keys of
// custom_fields. It keeps the first few names and counts the others.
type ignoredFields struct {
	mu           sync.Mutex // custom is set by the goroutine that validates the record
	sent, custom boundedNames
}

// boundedNames is the first few names of a list and the number of further ones.
type boundedNames struct {
	first []string
	more  int
}

// add adds a name. A name that is already listed is not added again. An empty name is
// only counted.
func (n *boundedNames) add(name string) {
	switch {
	case name != "" && slices.Contains(n.first, name):
	case name == "" || len(n.first) == maxIgnored:
		n.more++
	default:
		n.first = append(n.first, name)
	}
}

// addQuery adds the query parameters that are not known, after dropping the names added
// before. It adds none from a malformed query.
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

// addUnknown adds name unless it is known.
func (i *ignoredFields) addUnknown(name string, known []string) {
	if !slices.Contains(known, name) {
		i.sent.add(name)
	}
}

// addMembers adds the members of a JSON object that are not known, sorted by name.
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

// setCustomKeys sets the keys of custom_fields that have no definition.
func (i *ignoredFields) setCustomKeys(keys []string) {
	var n boundedNames
	for _, key := range keys {
		n.add("custom_fields." + key)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.custom = n
}

// header returns the value of X-Ignored-Fields: the names, percent-encoded and separated
// by commas, then a plus sign and the number of further names. It is "" if nothing was
// ignored. An encoded name contains no plus sign, comma, or line break.
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

// encodeName percent-encodes every byte of name except letters, digits, "-", "_", ".",
// and "~". It cuts a long name and appends an ellipsis.
func encodeName(name string) string {
	if len(name) > maxIgnoredName {
		name = strings.ToValidUTF8(name[:maxIgnoredName], "") + "…"
	}
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// addTo returns header with X-Ignored-Fields added. It is for responses that are stored
// for replay.
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
