package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bounds is the minimum and maximum of a setting. Sizes are in bytes and durations in nanoseconds.
type bounds struct{ min, max int64 }

func sizeBounds(smallest, largest Size) bounds { return bounds{int64(smallest), int64(largest)} }
func durationBounds(smallest, largest time.Duration) bounds {
	return bounds{int64(smallest), int64(largest)}
}

// allBounds returns the bounds of every numeric setting by its key.
func allBounds() map[string]bounds { //nolint:funlen // a table
	return map[string]bounds{
		"limits.file_size":          sizeBounds(1, 4*GB),
		"limits.files_per_request":  {1, 10_000},
		"limits.pdf_pages":          {1, 100_000},
		"limits.image_heavy_size":   sizeBounds(1, 4*GB),
		"limits.image_heavy_pages":  {1, 100_000},
		"limits.picture_pixels":     {100_000, 2_000_000_000},
		"limits.picture_width":      {100, 10_000},
		"limits.text":               sizeBounds(KB, GB),
		"limits.json_body":          sizeBounds(KB, 32*MB),
		"limits.form_fields":        sizeBounds(KB, 32*MB), // well below bodySlack
		"limits.parts":              {2, 100_000},
		"limits.bodies_in_memory":   sizeBounds(MB, 4*GB),
		"limits.request_body":       sizeBounds(0, 64*TB),
		"limits.page":               sizeBounds(64*KB, 64*MB),
		"limits.files_per_abstract": {1, 100_000},
		"limits.connections":        {8, 100_000},
		"limits.header_bytes":       sizeBounds(4*KB, MB),
		"rate.failing_keys":         {1, 100_000},
		"rate.requests":             {0, 1_000_000},
		"links.ttl":                 durationBounds(time.Second, day),
		"users.session_idle":        durationBounds(time.Minute, 90*day),
		"users.session_max":         durationBounds(time.Minute, 365*day),
		"users.known_address":       durationBounds(0, 365*day),
		"users.sign_in_queue":       {1, 100_000},
		"users.sign_in_wait":        durationBounds(100*time.Millisecond, 5*time.Minute),
		"uploads.keep":              durationBounds(time.Minute, 30*day),
		"uploads.per_user":          {1, 10_000},
		"uploads.bytes_per_user":    sizeBounds(1, 64*TB),
		"timeouts.header":           durationBounds(100*time.Millisecond, 10*time.Minute),
		"timeouts.stall":            durationBounds(100*time.Millisecond, 10*time.Minute),
		"timeouts.stall_in_memory":  durationBounds(100*time.Millisecond, 10*time.Minute),
		"timeouts.idle":             durationBounds(100*time.Millisecond, time.Hour),
		"timeouts.grace":            durationBounds(0, time.Hour),
		"timeouts.min_rate":         sizeBounds(0, 32*KB), // legitimate clients may be as slow as 256 kbit/s
		"reader.processes":          {0, 256},
		"reader.memory":             sizeBounds(64*MB, 4*GB),
		"reader.deadline":           durationBounds(100*time.Millisecond, 10*time.Minute),
		"reader.picture":            durationBounds(100*time.Millisecond, 10*time.Minute),
		"reader.text":               durationBounds(100*time.Millisecond, 10*time.Minute),
		"previews.size":             sizeBounds(MB, 64*TB),
		"search.deadline":           durationBounds(100*time.Millisecond, time.Minute),
		"search.cache_size":         sizeBounds(MB, 4*GB),
		"search.batch_size":         sizeBounds(64*KB, 64*MB),
		"search.most_words":         {2, 256},
		"search.at_once":            {0, 1024},
		"disk.reserve":              sizeBounds(MB, TB),
		"disk.spare":                sizeBounds(0, GB),
		"trash.keep":                durationBounds(time.Hour, 3650*day),
		"retention.keep":            durationBounds(0, maxRetention),
		"idempotency.keep":          durationBounds(time.Minute, 30*day),
		"sweep.every":               durationBounds(time.Minute, 30*day),
		"scrub.every":               durationBounds(0, 366*day),
		"scrub.verified_for":        durationBounds(time.Minute, 366*day),
		"scrub.verify_first":        sizeBounds(64*KB, 64*MB),
		"backup.every":              durationBounds(0, 366*day),
		"backup.keep_daily":         {0, 10_000},
		"backup.keep_weekly":        {0, 10_000},
		"backup.keep_monthly":       {0, 10_000},

		"limits.connections_per_address": {1, 100_000},
		"limits.connections_trusted":     {0, 100_000},
		"tls.hsts":                       durationBounds(0, 730*day),
	}
}

// Validate checks each value separately and all values in combination. The error is of type Problems.
func (c Config) Validate() error {
	return append(c.invalidValues(), c.conflicts()...).err()
}

// invalidValues checks each value separately.
func (c Config) invalidValues() (problems Problems) {
	spans := allBounds()
	for _, f := range fields(&c) {
		reason := c.checkText(f.key)
		if span, ok := spans[f.key]; ok {
			reason = checkBounds(f.value, span)
		}
		if reason != "" {
			problems = append(problems, Problem{Key: f.key, Reason: reason})
		}
	}
	return problems
}

func checkBounds(value reflect.Value, s bounds) string {
	if value.Int() >= s.min && value.Int() <= s.max {
		return ""
	}
	text := func(n int64) string { return formatValue(reflect.ValueOf(n).Convert(value.Type())) }
	return fmt.Sprintf("must be between %s and %s, not %s", text(s.min), text(s.max), text(value.Int()))
}

// checkText checks a value that isn't a number. It returns the problem, or "" if there is none.
func (c Config) checkText(key string) string {
	switch key {
	case "data":
		return checkPath(c.Data, "must name a directory")
	case "reader.cache":
		return checkPath(c.Reader.Cache, "")
	case "backup.to":
		return checkPath(c.Backup.To, "")
	case "backup.passphrase_file":
		return checkPath(c.Backup.PassphraseFile, "")
	case "backup.passphrase":
		return checkPassphrase(c.Backup.Passphrase)
	case "backup.recipients":
		return checkRecipients(c.Backup.Recipients)
	case "listen":
		return checkListen(c.Listen)
	case "public_url":
		return checkPublicURL(c.PublicURL)
	case "time_zone":
		return checkTimeZone(c.TimeZone)
	case "trusted_proxies":
		return checkProxies(c.TrustedProxies)
	case "tls.cert":
		return checkPath(c.TLS.Cert, "")
	case "tls.key":
		return checkPath(c.TLS.Key, "")
	case "tls.redirect_listen":
		if c.TLS.RedirectListen == "" {
			return ""
		}
		return checkListen(c.TLS.RedirectListen)
	case "log.format":
		return checkOneOf(c.Log.Format, "text", "json")
	case "log.level":
		return checkOneOf(c.Log.Level, "debug", "info", "warn", "error")
	case "retention.templates":
		return checkRetention(c.Retention)
	case "cors.origins":
		return checkOrigins(c.CORS.Origins)
	}
	return ""
}

func checkPath(path, ifEmpty string) string {
	if path == "" {
		return ifEmpty
	}
	if strings.ContainsAny(path, "\x00\r\n") {
		return fmt.Sprintf("%q is not a path", path)
	}
	return ""
}

// minPassphrase is the minimum length of a passphrase. The passphrase protects all documents if a backup is stolen.
const minPassphrase = 8

func checkPassphrase(phrase string) string {
	if phrase != "" && len(phrase) < minPassphrase {
		return fmt.Sprintf("must have at least %d characters; five words that do not belong together are better", minPassphrase)
	}
	return ""
}

// checkRecipients checks only the format of the keys. They are parsed when a backup is created.
func checkRecipients(recipients []string) string {
	for _, recipient := range recipients {
		if !strings.HasPrefix(recipient, "age1") || strings.Trim(recipient, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return fmt.Sprintf("%q is no age recipient; age-keygen prints one like age1…", recipient)
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
		return fmt.Sprintf("%q is not an address with a port; write it like 127.0.0.1:8080, or :8080 for all addresses of this machine", listen)
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
		"%q is not an address by itself; write scheme, name and port without a path or a slash at the end, like https://vault.example.com", text)
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

func checkProxies(networks []netip.Prefix) string {
	for _, network := range networks {
		if !network.IsValid() {
			return "has an empty network in it"
		}
		if network.Bits() == 0 {
			return fmt.Sprintf("%s is everybody, and everybody could then claim any address; name the proxies alone", network)
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
				"%q is not an origin as browsers send it; write each like https://portal.example.com, in lower case, without a path, "+
					"the usual port or *", origin)
		}
	}
	return ""
}

// conflicts reports values that are valid separately but not in combination.
func (c Config) conflicts() (problems Problems) {
	reject := func(key, reason string, values ...any) {
		problems = append(problems, Problem{Key: key, Reason: fmt.Sprintf(reason, values...)})
	}
	if l := c.Limits; l.RequestBody != 0 && l.RequestBody < l.minRequestBody() {
		reject("limits.request_body",
			"must be 0 or at least %s, so that limits.files_per_request (%d) files of limits.file_size (%s) and 64 MB for the rest fit, not %s",
			l.minRequestBody(), l.FilesPerRequest, l.FileSize, l.RequestBody)
	}
	if l := c.Limits; l.Parts <= l.FilesPerRequest {
		reject("limits.parts", "must be more than limits.files_per_request (%d), not %d", l.FilesPerRequest, l.Parts)
	}
	if b := c.Backup; len(b.Recipients) > 0 && (b.Passphrase != "" || b.PassphraseFile != "") {
		reject("backup.recipients", "cannot be set together with a passphrase: choose one")
	}
	if b := c.Backup; b.Passphrase != "" && b.PassphraseFile != "" {
		reject("backup.passphrase_file", "cannot be set together with backup.passphrase: choose one")
	}
	if c.Backup.To != "" && filepath.Clean(c.Backup.To) == filepath.Clean(c.Data) {
		reject("backup.to", "must not be the data directory itself")
	}
	if c.Users.SessionMax < c.Users.SessionIdle {
		reject("users.session_max", "must be at least users.session_idle (%s), not %s", FormatDuration(c.Users.SessionIdle),
			FormatDuration(c.Users.SessionMax))
	}
	if l := c.Limits; l.BodiesInMemory < 2*max(l.JSONBody, l.FormFields) {
		reject("limits.bodies_in_memory", "must be at least twice limits.json_body (%s) and limits.form_fields (%s), not %s",
			l.JSONBody, l.FormFields, l.BodiesInMemory)
	}
	if l := c.Limits; l.TrustedConnections >= l.Connections {
		reject("limits.connections_trusted", "must be 0 or less than limits.connections (%d), not %d", l.Connections, l.TrustedConnections)
	}
	if c.Reader.Cache != "" && filepath.Clean(c.Reader.Cache) == filepath.Clean(c.Data) {
		reject("reader.cache", "must not be the data directory itself")
	}
	return append(problems, c.tlsConflicts()...)
}
