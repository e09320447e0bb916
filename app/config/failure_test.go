package config

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/strictyaml"
)

func TestFileFailures(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"unknown key", "listen: :1\nlisten_on: :2\n", "config.yaml:2: listen_on: is not a setting"},
		{"misspelled key", "limits:\n  file_sise: 5\n", "config.yaml:2: limits.file_sise: is not a setting; did you mean limits.file_size?"},
		{"misspelled section", "limit:\n  file_size: 5\n", "config.yaml:1: limit: is not a setting"},
		{"first word of a key", "limits:\n  file: 5\n", "config.yaml:2: limits.file: is not a setting; did you mean limits.file_size?"},
		{"first word of several keys", "backup: {keep: 5}\n",
			"config.yaml:1: backup.keep: is not a setting; did you mean backup.keep_daily or backup.keep_weekly or backup.keep_monthly?"},
		{"tab", "log:\n\tlevel: debug\n", "config.yaml:2: is not valid YAML: found character that cannot start any token"},
		{"tab in the first line", "\tlog: {}\n", "config.yaml:1: is not valid YAML: found character that cannot start any token"},
		{"key in capitals", "Listen: :1\n", "config.yaml:1: Listen: is not a setting; did you mean listen?"},
		{"dotted key", "limits.file_size: 5\n",
			"config.yaml:1: limits.file_size: is not a valid key; for the format, see \"deedkeep config example\""},
		{"merge key", "<<: {listen: x}\n", "config.yaml:1: <<: is not a setting"},
		{"key that is a list", "[a, b]: 1\n", "config.yaml:1: is not a valid key; for the format, see \"deedkeep config example\""},
		{"repeated key", "listen: :1\nlisten: :1\n", "config.yaml:2: listen: is set twice; first in line 1"},
		{"repeated key, deeper", "limits:\n  parts: 1\n  pdf_pages: 5\n  parts: 500\n",
			"config.yaml:4: limits.parts: is set twice; first in line 2\n" +
				"config.yaml:2: limits.parts: must be between 2 and 100000, not 1"},
		{"repeated section", "limits: {pdf_pages: 5}\nlimits: {pdf_pages: 6}\n", "config.yaml:2: limits: is set twice; first in line 1"},
		{"no value", "\nlisten:\n", "config.yaml:2: listen: has no value; set one, or remove the line to use the default"},
		{"section for a value", "listen: {a: b}\n", "config.yaml:1: listen: must be a value, not a section"},
		{"value for a section", "limits: 5\n", "config.yaml:1: limits: must be a section with keys and values"},
		{"list for a section", "limits: [5]\n", "config.yaml:1: limits: must be a section with keys and values"},
		{"list for a value", "listen: [a]\n", "config.yaml:1: listen: must be one value, not a list"},
		{"list of sections", "cors:\n  origins:\n    - {a: b}\n", "config.yaml:3: cors.origins: must be a list of simple values"},
		{"list with nothing", "cors:\n  origins: [~]\n", "config.yaml:2: cors.origins: must be a list of simple values"},
		{"alias", "log: {format: &f text, level: *f}\n", "config.yaml:1: log.level: is a YAML alias; write the value itself"},
		{"alias for a section", "log: &l {format: text}\nrate: *l\n", "config.yaml:2: rate: must be a section with keys and values"},
		{"no YAML", "listen: \"x\nlog: [\n", "config.yaml:3: is not valid YAML: found unexpected end of stream"},
		{"no YAML in the first line", "a: b: c\n", "config.yaml:1: is not valid YAML: mapping values are not allowed in this context"},
		{"tabulator", "limits:\n\tparts: 5\n", "config.yaml:2: is not valid YAML: found character that cannot start any token"},
		{"list at the top", "- listen\n", "config.yaml:1: must be a section with keys and values"},
		{"text at the top", "hello\n", "config.yaml:1: must be a section with keys and values"},
		{"two documents", "listen: :1\n---\nlisten: :2\n", "config.yaml:2: must contain only one YAML document"},
		{"no size", "limits:\n  file_size: much\n",
			`config.yaml:2: limits.file_size: "much" is not a valid size; use a value such as 100 MB or 64 KB, or a number of bytes`},
		{"size of nothing", "limits:\n  file_size: 0\n", "config.yaml:2: limits.file_size: must be between 1 B and 4 GB, not 0"},
		{"negative size", "limits:\n  file_size: -1\n", "config.yaml:2: limits.file_size: must be between 1 B and 4 GB, not -1 B"},
		{"no number", "limits:\n  parts: 1e3\n", `config.yaml:2: limits.parts: "1e3" is not a whole number`},
		{"no duration", "links:\n  ttl: 5\n", `config.yaml:2: links.ttl: "5" is not a valid duration; use a value such as 30s, 5m, 24h, 7d, or 20y`},
		{"no truth", "validation:\n  enforce_required: yes\n", `config.yaml:2: validation.enforce_required: "yes" must be true or false`},
		{"no network", "trusted_proxies: [proxy]\n",
			`config.yaml:1: trusted_proxies: "proxy" is not an IP address or network; use 10.0.0.7 or 10.0.0.0/8, for example`},
		{"zone", "trusted_proxies: [fe80::1%eth0]\n",
			`config.yaml:1: trusted_proxies: "fe80::1%eth0" is not an IP address or network; use 10.0.0.7 or 10.0.0.0/8, for example`},
		{"address in a network", "trusted_proxies: [10.0.0.7/8]\n",
			`config.yaml:1: trusted_proxies: "10.0.0.7/8" is an address within a network; use 10.0.0.0/8 for the entire network`},
		{"everybody a proxy", "trusted_proxies: [0.0.0.0/0]\n",
			"config.yaml:1: trusted_proxies: 0.0.0.0/0 includes all addresses, so any client could fake its address; list only your proxies"},
		{"everybody of IPv6", "trusted_proxies: ['::/0']\n",
			"config.yaml:1: trusted_proxies: ::/0 includes all addresses, so any client could fake its address; list only your proxies"},
		{"no time zone", "time_zone: Eastern\n",
			`config.yaml:1: time_zone: "Eastern" is not a time zone; use an IANA name such as America/New_York, ` +
				`America/Chicago, or UTC`},
		{"time zone outside the database", "time_zone: ../etc/passwd\n",
			`config.yaml:1: time_zone: "../etc/passwd" is not a time zone; use an IANA name such as ` +
				`America/New_York, America/Chicago, or UTC`},
		{"no data", "data: ''\n", "config.yaml:1: data: this file is in the data directory DATA and can't set another one; remove the line"},
		{"data elsewhere", "data: /srv\n",
			"config.yaml:1: data: this file is in the data directory DATA and can't set another one; remove the line"},
		{"log format", "log: {format: xml}\n", `config.yaml:1: log.format: must be one of text, json, not "xml"`},
		{"log level", "log: {level: INFO}\n", `config.yaml:1: log.level: must be one of debug, info, warn, error, not "INFO"`},
		{"request smaller than its files", "limits:\n  request_body: 1 GB\n",
			"config.yaml:2: limits.request_body: must be 0 or at least 10064 MB (limits.files_per_request, 100, times " +
				"limits.file_size, 100 MB, plus 64 MB); the current value is 1 GB"},
		{"parts fewer than files", "limits:\n  parts: 100\n",
			"config.yaml:2: limits.parts: must be greater than limits.files_per_request (100), not 100"},
		{"several at once", "lisen: :1\nlimits:\n  parts: x\n  pdf_pages: 0\n", "config.yaml:1: lisen: is not a setting; did you mean listen?\n" +
			`config.yaml:3: limits.parts: "x" is not a whole number` + "\nconfig.yaml:4: limits.pdf_pages: must be between 1 and 100000, not 0"},
		{"retention of no template", "retention: {templates: [7y]}\n",
			`config.yaml:1: retention.templates: "7y" must be a template ID and a duration, such as 3=7y`},
		{"retention of template 0", "retention: {templates: [0=7y]}\n",
			`config.yaml:1: retention.templates: "0=7y" must be a template ID and a duration, such as 3=7y`},
		{"retention without a duration", "retention: {templates: [3=long]}\n",
			`config.yaml:1: retention.templates: "3=long": "long" is not a valid duration; use a value such as 30s, 5m, 24h, 7d, or 20y`},
		{"retention out of bounds", "retention: {templates: [3=101y]}\n",
			`config.yaml:1: retention.templates: "3=101y": must be between 0s and 100y`},
		{"retention twice", "retention: {templates: [3=7y, 3=8y]}\n", "config.yaml:1: retention.templates: lists template 3 twice"},
		{"retention of centuries", "retention: {keep: 101y}\n", "config.yaml:1: retention.keep: must be between 0s and 100y, not 101y"},
		{"too long", "# " + strings.Repeat("x", strictyaml.MaxSize), "config.yaml: is longer than 1 MB and no settings file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if strings.HasPrefix(row.name, "no data") || row.name == "data elsewhere" {
				checkDataLine(t, row.text, row.want)
				return
			}
			if _, got := loadFile(t, row.text, Source{}); got != row.want {
				t.Errorf("problems\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

// checkDataLine writes the settings file to the default location. It can't use the --data flag because that would
// override the setting in the file.
func checkDataLine(t *testing.T, text, want string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("data", 0o700); err != nil {
		t.Fatalf("create the data directory: %v", err)
	}
	path := filepath.Join("data", "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("write the settings file: %v", err)
	}
	_, err := Load(Source{})
	if err == nil {
		t.Fatalf("Load = nil, want\n%s", want)
	}
	got := strings.ReplaceAll(strings.ReplaceAll(err.Error(), path, "config.yaml"), "./data", "DATA")
	if strings.Contains(text, "''") {
		want = "config.yaml:1: data: must be a directory"
	}
	if got != want {
		t.Errorf("problems\n%s\nwant\n%s", got, want)
	}
}

func TestValidFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "comments": "# nothing\n", "document mark": "---\nlisten: :8080\n", "byte order mark": "\ufefflisten: :8080\n",
		"Windows line ends": "listen: :8080\r\nlimits:\r\n  parts: 500\r\n", "section of comments": "limits:\n  # parts: 5\nlisten: :8080\n",
		"quoted number": "limits: {parts: '500'}\n", "list with commas": "trusted_proxies: 10.0.0.1, 10.0.0.2\n",
		"empty list": "trusted_proxies: []\n", "empty text": "public_url: ''\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, problems := loadFile(t, text, Source{}); problems != "" {
				t.Errorf("problems %s, want none", problems)
			}
		})
	}
}

func TestEnvironmentAndFlagFailures(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, row := range []struct {
		name string
		src  Source
		want string
	}{
		{"unknown variable", Source{Env: []string{"DEEDKEEP_COLOR=red"}}, "DEEDKEEP_COLOR: is not a setting"},
		{"misspelled variable", Source{Env: []string{"DEEDKEEP_LIMIT_FILE_SIZE=5"}},
			"DEEDKEEP_LIMIT_FILE_SIZE: is not a setting; did you mean DEEDKEEP_LIMITS_FILE_SIZE?"},
		{"unknown and empty", Source{Env: []string{"DEEDKEEP_COLOR="}}, "DEEDKEEP_COLOR: is not a setting"},
		{"variable of a section", Source{Env: []string{"DEEDKEEP_LIMITS=5"}}, "DEEDKEEP_LIMITS: is not a setting"},
		{"bad variable", Source{Env: []string{"DEEDKEEP_LIMITS_FILE_SIZE=big"}},
			`DEEDKEEP_LIMITS_FILE_SIZE: limits.file_size: "big" is not a valid size; use a value such as 100 MB or 64 KB, or a number of bytes`},
		{"variable out of bounds", Source{Env: []string{"DEEDKEEP_LINKS_TTL=2d"}},
			"DEEDKEEP_LINKS_TTL: links.ttl: must be between 1s and 24h, not 2d"},
		{"variable in two cases", Source{Env: []string{"DEEDKEEP_LISTEN=:1", "deedkeep_listen=:2"}},
			"deedkeep_listen: listen: is set twice in the environment"},
		{"unknown flag", Source{Flags: map[string]string{"color": "red"}}, "--color: color: is not a setting"},
		{"bad flag", Source{Flags: map[string]string{"limits.pdf_pages": "many"}},
			`--limits-pdf-pages: limits.pdf_pages: "many" is not a whole number`},
		{"flag out of bounds", Source{Flags: map[string]string{"listen": "8080"}},
			`--listen: listen: "8080" is not an address with a port; use 127.0.0.1:8080, or :8080 for all addresses of this machine`},
		{"empty data directory", Source{Flags: map[string]string{"data": ""}}, "--data: data: must be a directory"},
		{"bad value overridden by a flag", Source{Env: []string{"DEEDKEEP_LIMITS_PARTS=x"}, Flags: map[string]string{"limits.parts": "500"}},
			`DEEDKEEP_LIMITS_PARTS: limits.parts: "x" is not a whole number`},
		{"combination over two sources", Source{Env: []string{"DEEDKEEP_LIMITS_PARTS=200"},
			Flags: map[string]string{"limits.files_per_request": "200"}},
			"DEEDKEEP_LIMITS_PARTS: limits.parts: must be greater than limits.files_per_request (200), not 200"},
		{"missing explicit file", Source{File: "absent.yaml"}, "absent.yaml: file not found"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Load(row.src)
			var problems Problems
			if !errors.As(err, &problems) || len(problems) != 1 || err.Error() != row.want {
				t.Errorf("problems\n%v\nwant\n%s", err, row.want)
			}
		})
	}
	if err := os.Mkdir("dir.yaml", 0o700); err != nil {
		t.Fatalf("create a directory with the name of a settings file: %v", err)
	}
	if _, err := Load(Source{File: "dir.yaml"}); err == nil || !strings.HasPrefix(err.Error(), "dir.yaml: can't read the file: ") {
		t.Errorf("load a directory: error %v, want dir.yaml: cannot be read", err)
	}
}

// Every number has a minimum and a maximum. Both are valid, but the values beyond them are not.
func TestBounds(t *testing.T) {
	var config Config
	for i, f := range fields(&config) {
		_, bounded := f.tag.Lookup("min")
		if _, both := f.tag.Lookup("max"); f.value.CanInt() != bounded || both != bounded {
			t.Errorf("%s has type %s and tags %s; want bounds for numbers alone", f.key, f.value.Type(), f.tag)
		}
		if !bounded {
			continue
		}
		smallest, largest := reflect.ValueOf(f.parseTag("min")).Int(), reflect.ValueOf(f.parseTag("max")).Int()
		for value, want := range map[int64]bool{smallest: true, largest: true, smallest - 1: false, largest + 1: false} {
			changed := Default()
			fields(&changed)[i].value.SetInt(value)
			if problems := changed.invalidValues(); (len(problems) == 0) != want {
				t.Errorf("%s = %d: problems %v, want valid: %v", f.key, value, problems, want)
			}
		}
	}
}

func TestTextValues(t *testing.T) {
	const notBare = ` must be a URL without a path or a slash at the end, such as ` +
		`https://vault.example.com`
	const notListen = ` is not an address with a port; use 127.0.0.1:8080, or :8080 for all addresses of this machine`
	const notOrigin = ` is not a valid origin; use a value such as https://portal.example.com, in lower case, without a ` +
		`path, the default port, or *`
	rows := []struct {
		key, reason string
		good, bad   []string
	}{
		{
			"listen", notListen,
			[]string{":8080", "0.0.0.0:80", "[::]:443", "localhost:0", "vault.example.com:65535"},
			[]string{"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:http", "::1:8080", "a b:80", "http://x:80", "x:-1"},
		},
		{
			"public_url", notBare,
			[]string{"", "https://vault.example.com", "http://10.0.0.7:8080", "https://[::1]:8443", "https://Vault.example.com"},
			[]string{"vault.example.com", "https://", "ftp://vault.example.com", "https://vault.example.com/",
				"https://vault.example.com/x", "https://v.example.com?", "https://v.example.com?a=b",
				"https://v.example.com#x", "https://u:p@v.example.com", "https://v.example.com:0", "https://v.example.com:",
				"https://v.example.com:65536", "//v.example.com", "https://a b", "HTTPS://v.example.com", "https:v.example.com",
				"https://v_é.example.com"},
		},
		{
			"allowed_hosts", ` is not a host name; use a name such as vault.example.com, without https:// and without a port`,
			[]string{"vault", "Vault.example.com", "10.0.0.7", "::1"},
			[]string{"https://vault.example.com", "vault.example.com:8443", "*", "*.example.com", "a b", "vault.example.com/"},
		},
		{
			"cors.origins", notOrigin,
			[]string{"https://portal.example.com", "http://localhost:3000"},
			[]string{"*", "null", "https://*.example.com", "https://portal.example.com/", "https://Portal.example.com",
				"https://portal.example.com:443", "http://portal.example.com:80", "portal.example.com"},
		},
	}
	for _, row := range rows {
		for _, good := range row.good {
			if got := withText(row.key, good).invalidTexts()[row.key]; got != "" {
				t.Errorf("%s = %q: problem %s, want none", row.key, good, got)
			}
		}
		for _, bad := range row.bad {
			if got, want := withText(row.key, bad).invalidTexts()[row.key], `"`+bad+`"`+row.reason; got != want {
				t.Errorf("%s = %q: problem\n%s\nwant\n%s", row.key, bad, got, want)
			}
		}
	}
}

func withText(key, text string) Config {
	config := Default()
	for _, f := range fields(&config) {
		if f.key == key && f.value.Kind() == reflect.Slice {
			f.value.Set(reflect.ValueOf([]string{text}))
		} else if f.key == key {
			f.value.SetString(text)
		}
	}
	return config
}

func TestValidateWithoutLoad(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"empty network":   {func(c *Config) { c.TrustedProxies = []netip.Prefix{{}} }, "trusted_proxies: contains an empty network"},
		"backup to data":  {func(c *Config) { c.Backup.To = "./data/" }, "backup.to: must not be the data directory itself"},
		"backup to a NUL": {func(c *Config) { c.Backup.To = "a\x00" }, `backup.to: "a\x00" is not a valid path`},
		"passphrase file": {func(c *Config) { c.Backup.PassphraseFile = "\n" }, `backup.passphrase_file: "\n" is not a valid path`},
		"short passphrase": {func(c *Config) { c.Backup.Passphrase = "1234567" },
			"backup.passphrase: must have at least 8 characters; five random words are better"},
		"no recipient": {func(c *Config) { c.Backup.Recipients = []string{"Smith"} },
			`backup.recipients: "Smith" is not a valid age recipient; create one with age-keygen (age1…)`},
		"recipient and phrase": {func(c *Config) { c.Backup.Recipients, c.Backup.Passphrase = []string{"age1q"}, "correct horse" },
			"backup.recipients: can't be combined with a passphrase; set only one"},
		"phrase and its file": {func(c *Config) { c.Backup.PassphraseFile, c.Backup.Passphrase = "/x", "correct horse" },
			"backup.passphrase_file: can't be combined with backup.passphrase; set only one"},
		"cache is data":     {func(c *Config) { c.Reader.Cache = "data" }, "reader.cache: must not be the data directory itself"},
		"path of two lines": {func(c *Config) { c.Data = "a\nb" }, `data: "a\nb" is not a valid path`},
		"cache of a NUL":    {func(c *Config) { c.Reader.Cache = "a\x00" }, `reader.cache: "a\x00" is not a valid path`},
		"two problems": {func(c *Config) { c.Limits.FileSize, c.Limits.Parts = -1, 7 },
			"limits.file_size: must be between 1 B and 4 GB, not -1 B\nlimits.parts: must be greater than limits.files_per_request (100), not 7"},
		"body that just fits": {func(c *Config) { c.Limits.RequestBody = 10064 * MB }, ""},
		"body a byte short": {func(c *Config) { c.Limits.RequestBody = 10064*MB - 1 },
			"limits.request_body: must be 0 or at least 10064 MB (limits.files_per_request, 100, times limits.file_size, 100 MB, " +
				"plus 64 MB); the current value is 10552868863 B"},
	} {
		t.Run(name, func(t *testing.T) {
			config := Default()
			row.change(&config)
			got := ""
			if err := validate(config); err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("problems\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

func FuzzFile(f *testing.F) {
	f.Add(allSettings)
	f.Add("limits: &a {parts: *a}\n")
	f.Add("listen: !!binary aGk=\n? {a: b}\n: c\n")
	f.Add("a: {b: {c: [d, {e: f}]}}\n---\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, problems := parseFile("config.yaml", []byte(text))
		config, more := merge(entries)
		if len(problems)+len(more) == 0 {
			_ = validate(config) // any result is fine, but validate must return
			config.Show()
		}
	})
}
