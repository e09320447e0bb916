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

// span is the least and the greatest value of a number, a Size in bytes or a duration in nanoseconds.
type span struct{ least, most int64 }

func sizes(least, most Size) span              { return span{int64(least), int64(most)} }
func durations(least, most time.Duration) span { return span{int64(least), int64(most)} }

// bounds has a row for every key that is a number.
func bounds() map[string]span { //nolint:funlen // a table
	return map[string]span{
		"limits.file_size":          sizes(1, 4*GB),
		"limits.files_per_request":  {1, 10_000},
		"limits.pdf_pages":          {1, 100_000},
		"limits.image_heavy_size":   sizes(1, 4*GB),
		"limits.image_heavy_pages":  {1, 100_000},
		"limits.picture_pixels":     {100_000, 2_000_000_000},
		"limits.picture_width":      {100, 10_000},
		"limits.text":               sizes(KB, GB),
		"limits.json_body":          sizes(KB, 32*MB),
		"limits.form_fields":        sizes(KB, 32*MB), // well inside bodySlack
		"limits.parts":              {2, 100_000},
		"limits.bodies_in_memory":   sizes(MB, 4*GB),
		"limits.request_body":       sizes(0, 64*TB),
		"limits.page":               sizes(64*KB, 64*MB),
		"limits.files_per_abstract": {1, 100_000},
		"limits.connections":        {8, 100_000},
		"limits.header_bytes":       sizes(4*KB, MB),
		"rate.failing_keys":         {1, 100_000},
		"rate.requests":             {0, 1_000_000},
		"links.ttl":                 durations(time.Second, day),
		"users.session_idle":        durations(time.Minute, 90*day),
		"users.session_max":         durations(time.Minute, 365*day),
		"users.known_address":       durations(0, 365*day),
		"users.sign_in_queue":       {1, 100_000},
		"users.sign_in_wait":        durations(100*time.Millisecond, 5*time.Minute),
		"uploads.keep":              durations(time.Minute, 30*day),
		"uploads.per_user":          {1, 10_000},
		"uploads.bytes_per_user":    sizes(1, 64*TB),
		"timeouts.header":           durations(100*time.Millisecond, 10*time.Minute),
		"timeouts.stall":            durations(100*time.Millisecond, 10*time.Minute),
		"timeouts.stall_in_memory":  durations(100*time.Millisecond, 10*time.Minute),
		"timeouts.idle":             durations(100*time.Millisecond, time.Hour),
		"timeouts.grace":            durations(0, time.Hour),
		"timeouts.min_rate":         sizes(0, 32*KB), // 256 kbit/s is an honest client
		"reader.processes":          {0, 256},
		"reader.memory":             sizes(64*MB, 4*GB),
		"reader.deadline":           durations(100*time.Millisecond, 10*time.Minute),
		"reader.picture":            durations(100*time.Millisecond, 10*time.Minute),
		"reader.text":               durations(100*time.Millisecond, 10*time.Minute),
		"previews.size":             sizes(MB, 64*TB),
		"search.deadline":           durations(100*time.Millisecond, time.Minute),
		"search.cache_size":         sizes(MB, 4*GB),
		"search.batch_size":         sizes(64*KB, 64*MB),
		"search.most_words":         {2, 256},
		"search.at_once":            {0, 1024},
		"disk.reserve":              sizes(MB, TB),
		"disk.spare":                sizes(0, GB),
		"trash.keep":                durations(time.Hour, 3650*day),
		"retention.keep":            durations(0, mostRetention),
		"idempotency.keep":          durations(time.Minute, 30*day),
		"sweep.every":               durations(time.Minute, 30*day),
		"scrub.every":               durations(0, 366*day),
		"scrub.verified_for":        durations(time.Minute, 366*day),
		"scrub.verify_first":        sizes(64*KB, 64*MB),
		"backup.every":              durations(0, 366*day),
		"backup.keep_daily":         {0, 10_000},
		"backup.keep_weekly":        {0, 10_000},
		"backup.keep_monthly":       {0, 10_000},

		"limits.connections_per_address": {1, 100_000},
		"limits.connections_trusted":     {0, 100_000},
		"tls.hsts":                       durations(0, 730*day),
	}
}

// Validate checks every value and how they go together; the error is Problems.
func (c Config) Validate() error {
	return append(c.outOfBounds(), c.unsafe()...).err()
}

// outOfBounds judges each key by itself.
func (c Config) outOfBounds() (problems Problems) {
	spans := bounds()
	for _, f := range fields(&c) {
		reason := c.badText(f.key)
		if span, ok := spans[f.key]; ok {
			reason = outside(f.value, span)
		}
		if reason != "" {
			problems = append(problems, Problem{Key: f.key, Reason: reason})
		}
	}
	return problems
}

func outside(value reflect.Value, s span) string {
	if value.Int() >= s.least && value.Int() <= s.most {
		return ""
	}
	text := func(n int64) string { return show(reflect.ValueOf(n).Convert(value.Type())) }
	return fmt.Sprintf("must be between %s and %s, not %s", text(s.least), text(s.most), text(value.Int()))
}

// badText judges the keys that are no numbers.
func (c Config) badText(key string) string {
	switch key {
	case "data":
		return badPath(c.Data, "must name a directory")
	case "reader.cache":
		return badPath(c.Reader.Cache, "")
	case "backup.to":
		return badPath(c.Backup.To, "")
	case "backup.passphrase_file":
		return badPath(c.Backup.PassphraseFile, "")
	case "backup.passphrase":
		return badPassphrase(c.Backup.Passphrase)
	case "backup.recipients":
		return badRecipients(c.Backup.Recipients)
	case "listen":
		return badListen(c.Listen)
	case "public_url":
		return badPublicURL(c.PublicURL)
	case "time_zone":
		return badZone(c.TimeZone)
	case "trusted_proxies":
		return badProxies(c.TrustedProxies)
	case "tls.cert":
		return badPath(c.TLS.Cert, "")
	case "tls.key":
		return badPath(c.TLS.Key, "")
	case "tls.redirect_listen":
		if c.TLS.RedirectListen == "" {
			return ""
		}
		return badListen(c.TLS.RedirectListen)
	case "log.format":
		return notOneOf(c.Log.Format, "text", "json")
	case "log.level":
		return notOneOf(c.Log.Level, "debug", "info", "warn", "error")
	case "retention.templates":
		return badRetention(c.Retention)
	case "cors.origins":
		return badOrigins(c.CORS.Origins)
	}
	return ""
}

func badPath(path, ifEmpty string) string {
	if path == "" {
		return ifEmpty
	}
	if strings.ContainsAny(path, "\x00\r\n") {
		return fmt.Sprintf("%q is not a path", path)
	}
	return ""
}

// leastPassphrase is how short a passphrase may be that stands between a thief and every document.
const leastPassphrase = 8

func badPassphrase(phrase string) string {
	if phrase != "" && len(phrase) < leastPassphrase {
		return fmt.Sprintf("must have at least %d characters; five words that do not belong together are better", leastPassphrase)
	}
	return ""
}

// badRecipients looks at the shape; the rest is seen when a backup is made.
func badRecipients(recipients []string) string {
	for _, recipient := range recipients {
		if !strings.HasPrefix(recipient, "age1") || strings.Trim(recipient, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return fmt.Sprintf("%q is no age recipient; age-keygen prints one like age1…", recipient)
		}
	}
	return ""
}

func notOneOf(value string, allowed ...string) string {
	if slices.Contains(allowed, value) {
		return ""
	}
	return fmt.Sprintf("must be one of %s, not %q", strings.Join(allowed, ", "), value)
}

func badListen(listen string) string {
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

func badPublicURL(text string) string {
	if text == "" || isBareURL(text) {
		return ""
	}
	return fmt.Sprintf("%q is not an address by itself; write scheme, name and port without a path or a slash at the end, like https://vault.example.com", text)
}

// isBareURL allows scheme, host and port, in the one way to write them.
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

func badProxies(networks []netip.Prefix) string {
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

// badOrigins wants an origin as browsers send it (RFC 6454, section 6.2), since it is compared as text.
func badOrigins(origins []string) string {
	for _, origin := range origins {
		scheme, _, _ := strings.Cut(origin, ":")
		usual := map[string]string{"http": ":80", "https": ":443"}[scheme]
		if !isBareURL(origin) || origin != strings.ToLower(origin) || strings.HasSuffix(origin, usual) {
			return fmt.Sprintf("%q is not an origin as browsers send it; write each like https://portal.example.com, in lower case, without a path, the usual port or *", origin)
		}
	}
	return ""
}

// unsafe judges values that are fine by themselves and break a promise together.
func (c Config) unsafe() (problems Problems) {
	refuse := func(key, reason string, values ...any) {
		problems = append(problems, Problem{Key: key, Reason: fmt.Sprintf(reason, values...)})
	}
	if l := c.Limits; l.RequestBody != 0 && l.RequestBody < l.smallestBody() {
		refuse("limits.request_body", "must be 0 or at least %s, so that limits.files_per_request (%d) files of limits.file_size (%s) and 64 MB for the rest fit, not %s",
			l.smallestBody(), l.FilesPerRequest, l.FileSize, l.RequestBody)
	}
	if l := c.Limits; l.Parts <= l.FilesPerRequest {
		refuse("limits.parts", "must be more than limits.files_per_request (%d), not %d", l.FilesPerRequest, l.Parts)
	}
	if b := c.Backup; len(b.Recipients) > 0 && (b.Passphrase != "" || b.PassphraseFile != "") {
		refuse("backup.recipients", "cannot be set together with a passphrase: choose one")
	}
	if b := c.Backup; b.Passphrase != "" && b.PassphraseFile != "" {
		refuse("backup.passphrase_file", "cannot be set together with backup.passphrase: choose one")
	}
	if c.Backup.To != "" && filepath.Clean(c.Backup.To) == filepath.Clean(c.Data) {
		refuse("backup.to", "must not be the data directory itself")
	}
	if c.Users.SessionMax < c.Users.SessionIdle {
		refuse("users.session_max", "must be at least users.session_idle (%s), not %s", FormatDuration(c.Users.SessionIdle), FormatDuration(c.Users.SessionMax))
	}
	if l := c.Limits; l.BodiesInMemory < 2*max(l.JSONBody, l.FormFields) {
		refuse("limits.bodies_in_memory", "must be at least twice limits.json_body (%s) and limits.form_fields (%s), not %s", l.JSONBody, l.FormFields, l.BodiesInMemory)
	}
	if l := c.Limits; l.Trusted >= l.Connections {
		refuse("limits.connections_trusted", "must be 0 or less than limits.connections (%d), not %d", l.Connections, l.Trusted)
	}
	if c.Reader.Cache != "" && filepath.Clean(c.Reader.Cache) == filepath.Clean(c.Data) {
		refuse("reader.cache", "must not be the data directory itself")
	}
	return append(problems, c.unsafeTLS()...)
}
