package decode

import (
	"bytes"
	"fmt"
)

// Pair is a decoded name and value from a urlencoded form. Both contain the bytes that the client sent, which may not
// be valid UTF-8 (see [Text]).
type Pair struct{ Name, Value string }

// ParseForm parses an application/x-www-form-urlencoded body and returns its pairs in order. If a name is repeated,
// the last value counts (see [Last]). Only & separates pairs, + means a space, and a name without = has an empty
// value. A % without two hexadecimal digits is a *MalformedError. More than 65,536 pairs are a *LimitError.
func ParseForm(b []byte) ([]Pair, error) {
	var pairs []Pair
	for at := 0; at < len(b); {
		end := bytes.IndexByte(b[at:], '&')
		if end < 0 {
			end = len(b)
		} else {
			end += at
		}
		if end > at {
			if len(pairs) == maxMembers {
				return nil, &LimitError{Counted: "form fields", Limit: maxMembers}
			}
			p, err := pair(b[:end], at)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, p)
		}
		at = end + 1
	}
	return pairs, nil
}

// Last returns the value of the last pair with this name.
func Last(pairs []Pair, name string) (value string, present bool) {
	for i := len(pairs) - 1; i >= 0; i-- {
		if pairs[i].Name == name {
			return pairs[i].Value, true
		}
	}
	return "", false
}

func pair(b []byte, at int) (Pair, error) {
	equals := bytes.IndexByte(b[at:], '=')
	if equals < 0 {
		name, err := unplus(b, at)
		return Pair{Name: name}, err
	}
	name, err := unplus(b[:at+equals], at)
	if err != nil {
		return Pair{}, err
	}
	value, err := unplus(b, at+equals+1)
	return Pair{name, value}, err
}

// unplus decodes b from at to its end. Errors report positions relative to the start of b.
func unplus(b []byte, at int) (string, error) {
	if !bytes.ContainsAny(b[at:], "%+") {
		return string(b[at:]), nil
	}
	out := make([]byte, 0, len(b)-at)
	for i := at; i < len(b); i++ {
		switch c := b[i]; c {
		case '+':
			out = append(out, ' ')
		case '%':
			d, ok := hexByte(b[i:])
			if !ok {
				return "", &MalformedError{Reason: fmt.Sprintf(
					"The request body is not a valid form: %% without two hexadecimal digits at byte %d.", i+1)}
			}
			out = append(out, d)
			i += 2
		default:
			out = append(out, c)
		}
	}
	return string(out), nil
}

// hexByte parses %XX at the start of b.
func hexByte[T string | []byte](b T) (byte, bool) {
	if len(b) < 3 || b[0] != '%' {
		return 0, false
	}
	high, ok1 := hexDigit(b[1])
	low, ok2 := hexDigit(b[2])
	return high<<4 | low, ok1 && ok2
}
