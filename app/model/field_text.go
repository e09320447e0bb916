package model

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"deedkeep/app/errs"
)

// Limits for email, phone, and money fields.
const (
	MaxEmailLength = 254 // Unicode code points (RFC 5321)
	MaxPhoneLength = 64  // Unicode code points, including the extension

	maxMoneyDigits    = 13 // before the decimal point, so that a float64 can represent every cent
	minPhoneDigits    = 7  // without an extension
	maxPhoneDigits    = 15 // excluding the extension (E.164)
	maxEmailLocalPart = 64 // bytes before the @ (RFC 5321)
)

// Formats of these fields. An amount may have a dollar sign, commas between thousands, and up to
// two decimal places. "1.500" is rejected because some countries write 1,500 that way.
var (
	moneyText   = regexp.MustCompile(`^(?:\$\s*)?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.([0-9]{0,2}))?$`)
	phoneText   = regexp.MustCompile(`^(\+?[0-9(][0-9(). /-]*)(?:,? ?(?i:extension|ext\.?|x|#) ?[0-9]{1,8})?$`)
	emailDomain = regexp.MustCompile(`^(?:[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])?\.)+[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])$`)
	urlHost     = regexp.MustCompile(`^[\pL\pM\pN_](?:[\pL\pM\pN_.-]*[\pL\pM\pN_])?\.?$`)
	numericHost = regexp.MustCompile(`(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?$`)
)

// NormalizeMoney returns an amount as a decimal with two places: "1234.50" for "$1,234.5". It
// returns false if text isn't an amount.
func NormalizeMoney(text string) (string, bool) {
	m := moneyText.FindStringSubmatch(strings.TrimSpace(text))
	if len(m) == 0 || m[1]+m[2] == "" {
		return "", false
	}
	dollars := strings.TrimLeft(strings.ReplaceAll(m[1], ",", ""), "0")
	if dollars == "" {
		dollars = "0"
	}
	return dollars + "." + (m[2] + "00")[:2], true
}

// money validates an amount and normalizes it like NormalizeMoney. Negative amounts are
// rejected; the number type accepts them.
func (f *validation) money(field string, in Input) string {
	amount := f.formatted(field, in, MaxLineLength, errs.NotMoney, func(text string) string {
		amount, _ := NormalizeMoney(text)
		return amount
	})
	if len(amount) > maxMoneyDigits+len(".00") {
		f.Add(field, "The {field} field must not be greater than %s.99.", strings.Repeat("9", maxMoneyDigits))
		return ""
	}
	return amount
}

// email validates an email address and keeps it as sent.
func (f *validation) email(field string, in Input) string {
	return f.formatted(field, in, MaxEmailLength, errs.NotEmail, func(text string) string {
		// Accept only a bare address. ParseAddress drops names, comments, and quotes, so its result
		// would differ from text.
		parsed, err := mail.ParseAddress(text)
		if err != nil || parsed.Address != text || parsed.Name != "" || strings.ContainsFunc(text, isInvisible) {
			return ""
		}
		at := strings.LastIndexByte(text, '@')
		domain := text[at+1:]
		if at > maxEmailLocalPart || !emailDomain.MatchString(domain) || numericHost.MatchString(domain) || isDomainTooLong(domain) {
			return ""
		}
		return text
	})
}

// phone validates a phone number and keeps it as sent, with white space collapsed.
func (f *validation) phone(field string, in Input) string {
	return f.formatted(field, in, MaxPhoneLength, errs.NotPhone, func(text string) string {
		text = strings.Join(strings.Fields(text), " ")
		m := phoneText.FindStringSubmatch(text)
		if len(m) == 0 || countDigits(m[1]) < minPhoneDigits || countDigits(m[1]) > maxPhoneDigits {
			return ""
		}
		return text
	})
}

// url validates a web address and keeps it as sent.
func (f *validation) url(field string, in Input) string {
	return f.formatted(field, in, MaxLineLength, errs.NotURL, func(text string) string {
		if !isURL(text) {
			return ""
		}
		return text
	})
}

// formatted validates one-line text and returns the result of format, which is the value to
// store. It adds an error with the code if format returns "" or the input isn't a string.
func (f *validation) formatted(field string, in Input, limit int, code errs.Code,
	format func(text string) string) string {
	if in.Kind == InputNotString {
		f.Add(field, code)
		return ""
	}
	value := f.line(field, in, limit)
	if value == "" {
		return ""
	}
	stored := format(value)
	if stored == "" {
		f.Add(field, code)
	}
	return stored
}

// Accepts reports whether text is valid for the type and would be stored unchanged.
func (t FieldType) Accepts(text string) bool {
	var f validation
	raw := encodeJSON(text)
	return string(f.value("", Field{Type: t}, raw)) == string(raw)
}

// isURL reports whether text is an http or https address that every browser accepts, with a
// host and without a user name or password.
func isURL(text string) bool {
	if strings.ContainsFunc(text, isInvisible) {
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
	return urlHost.MatchString(host) && !strings.Contains(host, "..") && !isDomainTooLong(host)
}

// isInvisible reports whether a character is white space, a control character, or a format
// character, such as one that changes the text direction.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// isDomainTooLong reports whether a domain name or one of its labels exceeds the limits of DNS.
func isDomainTooLong(name string) bool {
	const maxLabel = 63 // bytes (RFC 1035)
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > maxLabel {
			return true
		}
	}
	return len(name) > 253
}
