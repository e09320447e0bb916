package config

import (
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// invalidValues checks each value separately.
func (c Config) invalidValues() (problems Problems) {
	reasons := c.invalidTexts()
	for _, f := range fields(&c) {
		reason := reasons[f.key]
		if f.value.CanInt() {
			reason = f.checkBounds()
		}
		if reason != "" {
			problems = append(problems, Problem{Key: f.key, Reason: reason})
		}
	}
	return problems
}

// checkBounds compares a number with the tags of its field.
func (f field) checkBounds() string {
	smallest, largest := reflect.ValueOf(f.parseTag("min")), reflect.ValueOf(f.parseTag("max"))
	if f.value.Int() >= smallest.Int() && f.value.Int() <= largest.Int() {
		return ""
	}
	return fmt.Sprintf("must be between %s and %s, not %s", formatValue(smallest), formatValue(largest), formatValue(f.value))
}

// invalidTexts checks the values that aren't numbers. It returns the problem with each value by its key, or "" if there
// is none.
func (c Config) invalidTexts() map[string]string {
	redirect := ""
	if c.TLS.RedirectListen != "" {
		redirect = checkListen(c.TLS.RedirectListen)
	}
	return map[string]string{
		"data":                   checkPath(c.Data, "must be a directory"),
		"listen":                 checkListen(c.Listen),
		"public_url":             checkPublicURL(c.PublicURL),
		"allowed_hosts":          checkHosts(c.AllowedHosts),
		"time_zone":              checkTimeZone(c.TimeZone),
		"trusted_proxies":        checkProxies(c.TrustedProxies),
		"firm.name":              checkLine(c.Firm.Name, 100),
		"firm.address":           checkLine(c.Firm.Address, 300),
		"firm.phone":             checkLine(c.Firm.Phone, 50),
		"firm.email":             checkEmail(c.Firm.Email),
		"tls.cert":               checkPath(c.TLS.Cert, ""),
		"tls.key":                checkPath(c.TLS.Key, ""),
		"tls.redirect_listen":    redirect,
		"tls.email":              checkEmail(c.TLS.Email),
		"tls.acme_directory":     checkDirectory(c.TLS.ACMEDirectory),
		"log.format":             checkOneOf(c.Log.Format, "text", "json"),
		"log.level":              checkOneOf(c.Log.Level, "debug", "info", "warn", "error"),
		"reader.cache":           checkPath(c.Reader.Cache, ""),
		"ocr.hours":              errorText(checkHours(c.OCR)),
		"ocr.languages":          errorText(CheckLanguages(c.OCR.Languages)),
		"ocr.dir":                checkPath(c.OCR.Dir, ""),
		"cors.origins":           checkOrigins(c.CORS.Origins),
		"retention.templates":    checkRetention(c.Retention),
		"backup.to":              checkPath(c.Backup.To, ""),
		"backup.recipients":      checkRecipients(c.Backup.Recipients),
		"backup.passphrase_file": checkPath(c.Backup.PassphraseFile, ""),
		"backup.passphrase":      checkPassphrase(c.Backup.Passphrase),
	}
}

func checkLine(text string, longest int) string {
	switch {
	case utf8.RuneCountInString(text) > longest:
		return fmt.Sprintf("must have at most %d characters", longest)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }):
		return "must be one line of text"
	}
	return ""
}

func checkPath(path, ifEmpty string) string {
	if path == "" {
		return ifEmpty
	}
	if strings.ContainsAny(path, "\x00\r\n") {
		return fmt.Sprintf("%q is not a valid path", path)
	}
	return ""
}

// minPassphrase is the minimum length of a passphrase. The passphrase protects all documents if a backup is stolen.
const minPassphrase = 8

func checkPassphrase(phrase string) string {
	if phrase != "" && len(phrase) < minPassphrase {
		return fmt.Sprintf("must have at least %d characters; five random words are better", minPassphrase)
	}
	return ""
}

// checkRecipients checks only the format of the keys. They are parsed when a backup is created.
func checkRecipients(recipients []string) string {
	for _, recipient := range recipients {
		if !strings.HasPrefix(recipient, "age1") || strings.Trim(recipient, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return fmt.Sprintf("%q is not a valid age recipient; create one with age-keygen (age1…)", recipient)
		}
	}
	return ""
}

func checkOneOf(value string, allowed ...string) string {
	if slices.Contains(allowed, value) {
		return ""
	}
	return fmt.Sprintf("must be one of %s, not %q", strings.Join(allowed, ", "), value)
}

func checkListen(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if _, notIP := netip.ParseAddr(host); err != nil || host != "" && notIP != nil && !isHostName(host) {
		return fmt.Sprintf("%q is not an address with a port; use 127.0.0.1:8080, or :8080 for all addresses of this machine", listen)
	}
	return ""
}

func isHostName(host string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
	return host != "" && strings.Trim(host, allowed) == ""
}

func checkPublicURL(text string) string {
	if text == "" || isBareURL(text) {
		return ""
	}
	return fmt.Sprintf(
		"%q must be a URL without a path or a slash at the end, such as https://vault.example.com", text)
}

// isBareURL reports whether text is a URL that consists of only a scheme, host, and port, in canonical form.
func isBareURL(text string) bool {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" {
		return false
	}
	if port := address.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	host := address.Hostname()
	_, notIP := netip.ParseAddr(host)
	return (isHostName(host) || notIP == nil) && text == address.Scheme+"://"+address.Host && !strings.HasSuffix(text, ":")
}

// isPublicName reports whether the host of an https URL can be a name that is looked up in public.
func isPublicName(text string) bool {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" {
		return false
	}
	_, notIP := netip.ParseAddr(address.Hostname())
	return notIP != nil && strings.Contains(strings.Trim(address.Hostname(), "."), ".")
}

func checkEmail(text string) string {
	if address, err := mail.ParseAddress(text); text == "" || err == nil && address.Address == text {
		return ""
	}
	return fmt.Sprintf("%q is not an email address", text)
}

func checkDirectory(text string) string {
	if address, err := url.Parse(text); err == nil && address.Scheme == "https" && address.Host != "" {
		return ""
	}
	return fmt.Sprintf("%q must be a URL that begins with https://", text)
}

func checkHosts(hosts []string) string {
	for _, host := range hosts {
		if _, notIP := netip.ParseAddr(host); notIP != nil && !isHostName(host) {
			return fmt.Sprintf("%q is not a host name; use a name such as vault.example.com, without https:// and without a port", host)
		}
	}
	return ""
}

func checkProxies(networks []netip.Prefix) string {
	for _, network := range networks {
		if !network.IsValid() {
			return "contains an empty network"
		}
		if network.Bits() == 0 {
			return fmt.Sprintf("%s includes all addresses, so any client could fake its address; list only your proxies", network)
		}
	}
	return ""
}

// checkOrigins checks that the origins have the form that browsers send (RFC 6454, section 6.2), because origins are
// compared as text.
func checkOrigins(origins []string) string {
	for _, origin := range origins {
		scheme, _, _ := strings.Cut(origin, ":")
		usual := map[string]string{"http": ":80", "https": ":443"}[scheme]
		if !isBareURL(origin) || origin != strings.ToLower(origin) || strings.HasSuffix(origin, usual) {
			return fmt.Sprintf(
				"%q is not a valid origin; use a value such as https://portal.example.com, in lower case, without a path, "+
					"the default port, or *", origin)
		}
	}
	return ""
}

// conflicts reports values that are valid separately but not in combination.
func (c Config) conflicts() (problems Problems) {
	l, b, t := c.Limits, c.Backup, c.TLS
	for _, rule := range []struct {
		broken      bool
		key, reason string
	}{
		{l.RequestBody != 0 && l.RequestBody < l.minRequestBody(), "limits.request_body",
			fmt.Sprintf("must be 0 or at least %s (limits.files_per_request, %d, times limits.file_size, %s, plus 64 MB); the current value is %s",
				l.minRequestBody(), l.FilesPerRequest, l.FileSize, l.RequestBody)},
		{l.Parts <= l.FilesPerRequest, "limits.parts",
			fmt.Sprintf("must be greater than limits.files_per_request (%d), not %d", l.FilesPerRequest, l.Parts)},
		{len(b.Recipients) > 0 && (b.Passphrase != "" || b.PassphraseFile != ""), "backup.recipients",
			"can't be combined with a passphrase; set only one"},
		{b.Passphrase != "" && b.PassphraseFile != "", "backup.passphrase_file", "can't be combined with backup.passphrase; set only one"},
		{b.To != "" && filepath.Clean(b.To) == filepath.Clean(c.Data), "backup.to", "must not be the data directory itself"},
		{c.Users.SessionMax < c.Users.SessionIdle, "users.session_max", fmt.Sprintf("must be at least users.session_idle (%s), not %s",
			FormatDuration(c.Users.SessionIdle), FormatDuration(c.Users.SessionMax))},
		{l.BodiesInMemory < 2*max(l.JSONBody, l.FormFields), "limits.bodies_in_memory",
			fmt.Sprintf("must be at least twice the larger of limits.json_body (%s) and limits.form_fields (%s); the current value is %s", l.JSONBody, l.FormFields, l.BodiesInMemory)},
		{c.Reader.Cache != "" && filepath.Clean(c.Reader.Cache) == filepath.Clean(c.Data), "reader.cache", "must not be the data directory itself"},
		{t.Cert == "" && t.Key != "", "tls.key", "requires a certificate; set tls.cert, too"},
		{t.Cert != "" && t.Key == "", "tls.cert", "requires a key; set tls.key, too"},
		{t.Cert != "" && t.Key != "" && t.SelfSigned, "tls.self_signed", "can't be combined with tls.cert; set only one"},
		{t.Automatic && (t.Cert != "" || t.SelfSigned), "tls.automatic", "can't be combined with tls.cert or tls.self_signed; set only one"},
		{t.Automatic && !isPublicName(c.PublicURL), "tls.automatic",
			"requires public_url with https:// and a name that everyone on the Internet can look up, such as https://vault.example.com"},
		{!t.Enabled() && t.RedirectListen != "", "tls.redirect_listen",
			"requires TLS; set tls.cert and tls.key, tls.self_signed, or tls.automatic"},
		{t.Enabled() && t.RedirectListen == c.Listen, "tls.redirect_listen", "is the same as listen, which already redirects; remove this setting"},
		{t.Enabled() && strings.HasPrefix(c.PublicURL, "http://"), "public_url", "must begin with https://, because TLS is on"},
	} {
		if rule.broken {
			problems = append(problems, Problem{Key: rule.key, Reason: rule.reason})
		}
	}
	return problems
}
