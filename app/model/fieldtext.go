package model

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of the types of text that have a form of their own.
const (
	MaxEmailLength = 254 // Unicode code points; RFC 5321 allows no longer address
	MaxPhoneLength = 64  // Unicode code points, with an extension

	moneyDigits = 13 // before the point: a double still holds every cent
	leastPhone  = 7  // digits without an extension
	mostPhone   = 15 // the same (E.164)
	mostLocal   = 64 // bytes of an address before the @ (RFC 5321)
)

// The forms of these types. An amount has a dollar sign and commas between the
// thousands, or not, and at most two decimals: 1.500 is a thousand in other countries.
var (
	moneyText   = regexp.MustCompile(`^(?:\$\s*)?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.([0-9]{0,2}))?$`)
	phoneText   = regexp.MustCompile(`^(\+?[0-9(][0-9(). /-]*)(?:,? ?(?i:extension|ext\.?|x|#) ?[0-9]{1,8})?$`)
	emailDomain = regexp.MustCompile(`^(?:[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])?\.)+[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])$`)
	urlHost     = regexp.MustCompile(`^[\pL\pM\pN_](?:[\pL\pM\pN_.-]*[\pL\pM\pN_])?\.?$`)
	numericHost = regexp.MustCompile(`(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?$`)
)

// NormalizeMoney gives an amount of money as a decimal with two places: 1234.50 of $1,234.5.
// It is false for what is none.
func NormalizeMoney(text string) (string, bool) {
	m := moneyText.FindStringSubmatch(strings.TrimSpace(text))
	if len(m) == 0 || m[1]+m[2] == "" {
		return "", false
	}
	whole := strings.TrimLeft(strings.ReplaceAll(m[1], ",", ""), "0")
	if whole == "" {
		whole = "0"
	}
	return whole + "." + (m[2] + "00")[:2], true
}

// money stores an amount as Amount gives it. There is none below zero: a field of type
// number takes that.
func (f *validation) money(field string, in Input) string {
	amount := f.formed(field, in, MaxLineLength, notMoney, func(text string) string {
		amount, _ := NormalizeMoney(text)
		return amount
	})
	if len(amount) > moneyDigits+len(".00") {
		f.Add(field, tooMuch(field))
		return ""
	}
	return amount
}

// email is kept as sent.
func (f *validation) email(field string, in Input) string {
	return f.formed(field, in, MaxEmailLength, notEmail, func(text string) string {
		// An address alone; parsing takes apart what has a name, a comment, or quotes.
		parsed, err := mail.ParseAddress(text)
		if err != nil || parsed.Address != text || parsed.Name != "" || strings.ContainsFunc(text, unseen) {
			return ""
		}
		at := strings.LastIndexByte(text, '@')
		domain := text[at+1:]
		if at > mostLocal || !emailDomain.MatchString(domain) || numericHost.MatchString(domain) || longLabel(domain) {
			return ""
		}
		return text
	})
}

// phone is kept as sent, with one blank for any white space inside.
func (f *validation) phone(field string, in Input) string {
	return f.formed(field, in, MaxPhoneLength, notPhone, func(text string) string {
		text = strings.Join(strings.Fields(text), " ")
		m := phoneText.FindStringSubmatch(text)
		if len(m) == 0 || digits(m[1]) < leastPhone || digits(m[1]) > mostPhone {
			return ""
		}
		return text
	})
}

// url is kept as sent.
func (f *validation) url(field string, in Input) string {
	return f.formed(field, in, MaxLineLength, notURL, func(text string) string {
		if !isURL(text) {
			return ""
		}
		return text
	})
}

// formed applies the rules of a one-line text and gives its stored form. A text that has
// none gets the sentence, and so does JSON of another type.
func (f *validation) formed(field string, in Input, most int, sentence func(field string) string, form func(text string) string) string {
	if in.Kind == InputNotString {
		f.Add(field, sentence(field))
		return ""
	}
	value := f.line(field, in, most)
	if value == "" {
		return ""
	}
	stored := form(value)
	if stored == "" {
		f.Add(field, sentence(field))
	}
	return stored
}

// Accepts reports a text that a field of the type stores as it is.
func (t FieldType) Accepts(text string) bool {
	var f validation
	raw := quote(text)
	return string(f.value("", Field{Type: t}, raw)) == string(raw)
}

// isURL reports an address of the web that every browser takes: http or https, a host,
// and no password for all to read.
func isURL(text string) bool {
	if strings.ContainsFunc(text, unseen) {
		return false
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return false
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
	}
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") || numericHost.MatchString(host) {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Zone() == ""
	}
	return urlHost.MatchString(host) && !strings.Contains(host, "..") && !longLabel(host)
}

// unseen is a character that shows as none, or turns others around.
func unseen(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// longLabel reports a name of the network with a part that is too long for one.
func longLabel(name string) bool {
	const most = 63 // bytes (RFC 1035)
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > most {
			return true
		}
	}
	return len(name) > 253
}
