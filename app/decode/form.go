package decode

import (
	"fmt"
	"net/url"
	"strings"
)

// Pair is a decoded name and value from a urlencoded form. Both contain the bytes that the client sent, which may not
// be valid UTF-8 (see [Text]).
type Pair struct{ Name, Value string }

// ParseForm parses an application/x-www-form-urlencoded body and returns its pairs in order. Only & separates pairs,
// + means a space, and a name without = has an empty value. A % without two hexadecimal digits is a *MalformedError.
// More than 65,536 pairs are a *LimitError.
func ParseForm(b []byte) ([]Pair, error) {
	var pairs []Pair
	at := 0 // start of field
	for field := range strings.SplitSeq(string(b), "&") {
		if field != "" {
			if len(pairs) == maxMembers {
				return nil, &LimitError{Counted: "form fields", Limit: maxMembers}
			}
			name, value, _ := strings.Cut(field, "=")
			name, err1 := url.QueryUnescape(name)
			value, err2 := url.QueryUnescape(value)
			if err1 != nil || err2 != nil {
				return nil, &MalformedError{Reason: fmt.Sprintf(
					"The request body is not a valid form: %% without two hexadecimal digits at byte %d.", at+badEscape(field)+1)}
			}
			pairs = append(pairs, Pair{name, value})
		}
		at += len(field) + 1
	}
	return pairs, nil
}

// badEscape returns the position of the first % that is not followed by two hexadecimal digits.
func badEscape(field string) int {
	for i := range len(field) {
		if field[i] != '%' {
			continue
		}
		if _, err := url.QueryUnescape(field[i:min(i+3, len(field))]); err != nil {
			return i
		}
	}
	return len(field)
}
