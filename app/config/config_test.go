package config

import (
	"encoding/json"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// validate checks each value separately and all values in combination.
func validate(c Config) error { return append(c.invalidValues(), c.conflicts()...).err() }

// loadFile writes text to the settings file of a new data directory and loads it. In problems, the file's path is
// shortened to config.yaml.
func loadFile(t *testing.T, text string, src Source) (Config, string) {
	t.Helper()
	dir := t.TempDir()
	src.Flags = maps.Clone(src.Flags)
	if src.Flags == nil {
		src.Flags = map[string]string{}
	}
	src.Flags["data"] = dir
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("write the settings file: %v", err)
	}
	config, err := Load(src)
	if err == nil {
		return config, ""
	}
	return config, strings.ReplaceAll(strings.ReplaceAll(err.Error(), path, "config.yaml"), dir, "DATA")
}

func TestDefaultIsValid(t *testing.T) {
	if err := validate(Default()); err != nil {
		t.Errorf("validate(Default()) = %v, want nil", err)
	}
}

func TestLoadWithoutSourcesReturnsDefault(t *testing.T) {
	t.Chdir(t.TempDir())
	config, err := Load(Source{Env: []string{"PATH=/bin", "DEEDKEEP_TEST_BIN=x", "DEEDKEEP_FUZZ_SEED=1", "DEEDKEEP_SAMPLES=/s",
		"DEEDKEEP_SAMPLES_MORE=/s", "DEEDKEEP_LISTEN="}})
	if err != nil {
		t.Fatalf("load without sources: %v", err)
	}
	config.origins = nil
	if want := Default(); !reflect.DeepEqual(config, want) {
		t.Errorf("config\n%+v\nwant\n%+v", config, want)
	}
}

// The example file contains every key with its default value, and no other keys.
func TestExampleIsDefault(t *testing.T) {
	entries, problems, err := readFile("../../config.example.yaml")
	if err != nil || len(problems) != 0 {
		t.Fatalf("read the example: problems %v, error %v", problems, err)
	}
	var order []string
	for _, e := range entries {
		order = append(order, e.key)
	}
	if !slices.Equal(order, allKeys()) {
		t.Errorf("keys of the example\n%v\nwant those of Config\n%v", order, allKeys())
	}
	config, unreadable := merge(entries)
	config.origins = nil
	if want := Default(); len(unreadable) != 0 || !reflect.DeepEqual(config, want) {
		t.Errorf("example\n%+v\nproblems %v\nwant the default\n%+v", config, unreadable, want)
	}
}

func TestExampleExplainsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../config.example.yaml")
	if err != nil {
		t.Fatalf("read the example: %v", err)
	}
	lines := strings.Split(string(text), "\n")
	shared := []string{"image_heavy_pages"} // these keys are explained in the line above them
	for i, line := range lines {
		key, _, isKey := strings.Cut(strings.TrimSpace(line), ":")
		section := strings.HasSuffix(line, ":")
		if !isKey || section || strings.HasPrefix(key, "#") || slices.Contains(shared, key) {
			continue
		}
		if !strings.HasPrefix(strings.TrimSpace(lines[i-1]), "# ") {
			t.Errorf("line %d: %s has no comment above it", i+1, key)
		}
	}
}

// allSettings sets every key to a value that differs from its default.
const allSettings = `data: /srv/deedkeep
listen: "[::1]:0"
public_url: https://vault.example.com
allowed_hosts: [vault, deeds.example.com]
time_zone: America/New_York
trusted_proxies: [127.0.0.1, 10.0.0.0/8, "fd00::/8"]
firm: {name: "Kern & Vail Title", address: "1 Main St, Salem, OH 44460", phone: 330-555-0100, email: office@example.com}
tls:
  {cert: /etc/dk/cert.pem, key: /etc/dk/key.pem, redirect_listen: ":80", hsts: 30d, email: it@example.com,
  acme_directory: "https://ca.example.com/d"}
log: {format: json, level: debug}
limits:
  file_size: 20 MB
  files_per_request: 10
  pdf_pages: 50
  image_heavy_size: 5242880
  image_heavy_pages: 30
  image_pixels: 1000000
  image_width: 900
  searchable_pages: 80
  searchable_per_user: 4
  text: 2 MB
  json_body: 1 MiB
  form_fields: 2mb
  bodies_in_memory: 8 MB
  parts: 11
  files_per_abstract: 50
  instruments_per_abstract: 60
  runsheet_rows: 70
  request_body: 264MB
  connections: 10
  connections_per_address: 9
rate: {failing_keys: 5, requests: 600}
links: {ttl: 90s}
users: {session_idle: 2h, session_max: 3d, require_two_factor: true, known_address: 9d}
uploads: {keep: 2h, per_user: 7, bytes_per_user: 3 GB}
timeouts: {header: 5s, stall: 1m, idle: 1m30s, grace: 0s, min_rate: 0}
validation: {enforce_required: true, unique_order_number: true}
reader: {processes: 2, memory: 1 GB, deadline: 1m, image: 7s, text: 3m, searchable: 4m, cache: /var/cache/deedkeep}
previews: {size: 3 GB}
ocr: {enabled: false, workers: 3, hours: "18:00-06:00", languages: [eng, spa], page_timeout: 90s, dir: /srv/languages}
search: {deadline: 3s, cache_size: 8 MB, max_concurrent: 3}
disk: {reserve: 1 GiB, spare: 4 MB, allow_network: true}
cors: {origins: ["https://portal.example.com", "http://localhost:3000"]}
trash: {keep: 7d}
retention: {keep: 7y, templates: [3=10y, 5=0]}
idempotency: {keep: 90m}
sweep: {every: 1d12h}
scrub: {every: 20d}
backup: {to: /mnt/nas/deedkeep, every: 12h, keep_daily: 3, keep_weekly: 2, keep_monthly: 1, text: false, recipients: [age1qqqq, age1zzzz]}
metrics: {loopback: false}
`

// allSettingsConfig returns the configuration that allSettings describes.
func allSettingsConfig() Config {
	return Config{
		Data: "/srv/deedkeep", Listen: "[::1]:0", PublicURL: "https://vault.example.com", TimeZone: "America/New_York",
		AllowedHosts: []string{"vault", "deeds.example.com"},
		Firm: Firm{Name: "Kern & Vail Title", Address: "1 Main St, Salem, OH 44460",
			Phone: "330-555-0100", Email: "office@example.com"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"),
			netip.MustParsePrefix("fd00::/8")},
		TLS: TLS{Cert: "/etc/dk/cert.pem", Key: "/etc/dk/key.pem", RedirectListen: ":80", HSTS: 30 * day, Email: "it@example.com",
			ACMEDirectory: "https://ca.example.com/d"},
		Log: Log{"json", "debug"},
		Limits: Limits{FileSize: 20 * MB, FilesPerRequest: 10, PDFPages: 50, ImageHeavySize: 5 * MB, ImageHeavyPages: 30,
			ImagePixels: 1_000_000, ImageWidth: 900, SearchablePages: 80, SearchablePerUser: 4, Text: 2 * MB, JSONBody: MB,
			FormFields: 2 * MB, BodiesInMemory: 8 * MB, Parts: 11, RequestBody: 264 * MB, FilesPerAbstract: 50, InstrumentsPerAbstract: 60,
			RunsheetRows: 70, Connections: 10, ConnectionsPerAddress: 9},
		Rate: Rate{5, 600}, Links: Links{90 * time.Second}, Users: Users{2 * time.Hour, 3 * day, true, 9 * day},
		Uploads:    Uploads{2 * time.Hour, 7, 3 * GB},
		Timeouts:   Timeouts{5 * time.Second, time.Minute, 90 * time.Second, 0, 0},
		Validation: Validation{true, true},
		Reader:     Reader{2, GB, time.Minute, 7 * time.Second, 3 * time.Minute, 4 * time.Minute, "/var/cache/deedkeep"},
		Previews:   Previews{3 * GB},
		OCR:        OCR{false, 3, "18:00-06:00", []string{"eng", "spa"}, 90 * time.Second, "/srv/languages"},
		Search:     Search{3 * time.Second, 8 * MB, 3},
		Disk:       Disk{GB, 4 * MB, true}, CORS: CORS{[]string{"https://portal.example.com", "http://localhost:3000"}},
		Trash: Trash{7 * 24 * time.Hour}, Retention: Retention{7 * year, []string{"3=10y", "5=0"}},
		Idempotency: Idempotency{90 * time.Minute}, Sweep: Sweep{36 * time.Hour},
		Scrub: Scrub{20 * day},
		Backup: Backup{To: "/mnt/nas/deedkeep", Every: 12 * time.Hour, KeepDaily: 3, KeepWeekly: 2, KeepMonthly: 1,
			Recipients: []string{"age1qqqq", "age1zzzz"}},
	}
}

// Each key can be set separately in the settings file, in the environment, and by a flag.
func TestEveryKeyInEverySource(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(allSettings), 0o600); err != nil {
		t.Fatalf("write the settings file: %v", err)
	}
	want := allSettingsConfig()
	var env []string
	flags := map[string]string{}
	for _, f := range fields(&want) {
		env = append(env, envName(f.key)+"="+formatValue(f.value))
		flags[f.key] = formatValue(f.value)
	}
	for name, src := range map[string]Source{
		"file": {File: file}, "environment": {Env: env}, "flags": {Flags: flags},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			config, err := Load(src)
			if err != nil {
				t.Fatalf("load: %v", err)
			}
			config.origins, config.file = nil, ""
			if !reflect.DeepEqual(config, want) {
				t.Errorf("config\n%+v\nwant\n%+v", config, want)
			}
		})
	}
	defaults := Default()
	for i, f := range fields(&defaults) {
		if strings.HasPrefix(f.key, "backup.passphrase") || f.key == "tls.self_signed" || f.key == "tls.automatic" {
			continue // they conflict with recipients and tls.cert; TestPassphrase and TestTLSSettings check them
		}
		if reflect.DeepEqual(f.value.Interface(), fields(&want)[i].value.Interface()) {
			t.Errorf("%s = %v, want a value other than the default in this test", f.key, f.value.Interface())
		}
	}
}

// The passphrase can come from any source and is never shown.
func TestPassphrase(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := Load(Source{Env: []string{"DEEDKEEP_BACKUP_PASSPHRASE=correct horse battery"}})
	if err != nil || c.Backup.Passphrase != "correct horse battery" {
		t.Errorf("passphrase from the environment: backup = %+v, %v; want correct horse battery", c.Backup, err)
	}
	for _, s := range c.Show() {
		if strings.Contains(s.Value, "horse") || s.Key == "backup.passphrase" && (s.Value != "***" || !s.Secret) {
			t.Errorf("Show has %+v, want the passphrase masked", s)
		}
	}
	c, err = Load(Source{Env: []string{"DEEDKEEP_BACKUP_PASSPHRASE_FILE=/etc/deedkeep/passphrase"}})
	if err != nil || c.Backup.PassphraseFile != "/etc/deedkeep/passphrase" {
		t.Errorf("passphrase file from the environment: backup = %+v, %v; want /etc/deedkeep/passphrase", c.Backup, err)
	}
}

func TestPrecedence(t *testing.T) {
	const text = "listen: :1\nlimits:\n  pdf_pages: 1\n  files_per_request: 1\n"
	env := []string{"DEEDKEEP_LISTEN=:2", "DEEDKEEP_LIMITS_PDF_PAGES=2"}
	config, problems := loadFile(t, text, Source{Env: env, Flags: map[string]string{"listen": ":3"}})
	if problems != "" {
		t.Fatalf("load: %s", problems)
	}
	got := []any{config.Listen, config.Limits.PDFPages, config.Limits.FilesPerRequest, config.Limits.FileSize}
	if want := []any{":3", 2, 1, 100 * MB}; !reflect.DeepEqual(got, want) {
		t.Errorf("values of flag, environment, file, and default = %v, want %v", got, want)
	}
}

func TestShowReturnsTheSource(t *testing.T) {
	env := []string{"DEEDKEEP_TRUSTED_PROXIES=127.0.0.1, 10.0.0.0/8"}
	config, problems := loadFile(t, "\nlimits:\n  file_size: 5 MiB\n", Source{Env: env, Flags: map[string]string{"log.level": "warn"}})
	if problems != "" {
		t.Fatalf("load: %s", problems)
	}
	shown := map[string]Setting{}
	var order []string
	for _, s := range config.Show() {
		s.Source = strings.ReplaceAll(s.Source, config.Data+string(filepath.Separator), "")
		shown[s.Key] = s
		order = append(order, s.Key)
	}
	if !slices.Equal(order, allKeys()) {
		t.Errorf("keys in Show = %v, want %v", order, allKeys())
	}
	for _, want := range []Setting{
		{Key: "data", Value: config.Data, Source: "--data"},
		{Key: "limits.file_size", Value: "5 MB", Source: "config.yaml:3"},
		{Key: "trusted_proxies", Value: "127.0.0.1/32, 10.0.0.0/8", Source: "DEEDKEEP_TRUSTED_PROXIES"},
		{Key: "log.level", Value: "warn", Source: "--log-level"},
		{Key: "sweep.every", Value: "24h", Source: "default"},
		{Key: "timeouts.idle", Value: "2m", Source: "default"},
		{Key: "cors.origins", Value: "", Source: "default"},
		{Key: "validation.enforce_required", Value: "false", Source: "default"},
	} {
		got := shown[want.Key]
		if got.Default, got.Bool = "", false; got != want {
			t.Errorf("setting = %+v, want %+v", got, want)
		}
	}
	text, err := json.Marshal(shown["log.level"])
	if want := `{"key":"log.level","value":"warn","source":"--log-level","secret":false}`; err != nil || string(text) != want {
		t.Errorf("setting as JSON = %s, %v; want %s", text, err, want)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	var holder struct {
		Mail struct {
			Password string `mapstructure:"password" secret:"true"`
			Other    string `mapstructure:"other" secret:"true"`
		} `mapstructure:"mail"`
	}
	holder.Mail.Password = "hunter2"
	want := []Setting{{Key: "mail.password", Value: "***", Source: "default", Secret: true},
		{Key: "mail.other", Source: "DEEDKEEP_MAIL_OTHER", Secret: true}}
	if got := settings(&holder, map[string]string{"mail.other": "DEEDKEEP_MAIL_OTHER"}); !slices.Equal(got, want) {
		t.Errorf("settings = %+v, want %+v", got, want)
	}
}

func TestEnvironmentNamesAreDistinct(t *testing.T) {
	names := map[string]string{}
	for _, key := range allKeys() {
		name := envName(key)
		if other, duplicate := names[name]; duplicate {
			t.Errorf("environment name of %s and %s = %s, want distinct names", key, other, name)
		}
		if strings.HasPrefix(name, "DEEDKEEP_TEST_") || strings.HasPrefix(name, "DEEDKEEP_SAMPLES") {
			t.Errorf("environment name of %s = %s, which Load ignores", key, name)
		}
		names[name] = key
	}
	if got := envName("limits.file_size"); got != "DEEDKEEP_LIMITS_FILE_SIZE" {
		t.Errorf("envName(limits.file_size) = %s, want DEEDKEEP_LIMITS_FILE_SIZE", got)
	}
}

func TestSettingsFileLocations(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	write := func(path, listen string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatalf("create the directory of %s: %v", path, err)
		}
		if err := os.WriteFile(path, []byte("listen: "+listen+"\n"), 0o600); err != nil {
			t.Fatalf("write a settings file: %v", err)
		}
	}
	write("data/config.yaml", ":1")
	write("other/config.yaml", ":2")
	write("bin/config.yaml", ":3")
	write("my.yaml", ":4")
	for name, row := range map[string]struct {
		src  Source
		want string
	}{
		"default data directory":      {Source{}, ":1"},
		"data directory":              {Source{Flags: map[string]string{"data": "other"}}, ":2"},
		"data directory, environment": {Source{Env: []string{"DEEDKEEP_DATA=other"}}, ":2"},
		"flag before environment":     {Source{Flags: map[string]string{"data": "data"}, Env: []string{"DEEDKEEP_DATA=other"}}, ":1"},
		"data directory first":        {Source{Flags: map[string]string{"data": "other"}, BinaryDir: "bin"}, ":2"},
		"beside the program":          {Source{Flags: map[string]string{"data": "absent"}, BinaryDir: "bin"}, ":3"},
		"explicit":                    {Source{Flags: map[string]string{"data": "other"}, BinaryDir: "bin", File: "my.yaml"}, ":4"},
		"nowhere":                     {Source{Flags: map[string]string{"data": "absent"}}, "127.0.0.1:8080"},
	} {
		t.Run(name, func(t *testing.T) {
			if config, err := Load(row.src); err != nil || config.Listen != row.want {
				t.Errorf("listen = %s, %v; want %s", config.Listen, err, row.want)
			}
		})
	}
}

func TestDerivedValues(t *testing.T) {
	c := Default()
	if got := c.Limits.MaxRequestBody(); got != 10064*MB {
		t.Errorf("default MaxRequestBody = %s, want %s", got, 10064*MB)
	}
	c.Limits.RequestBody = 20 * GB
	if got := c.Limits.MaxRequestBody(); got != 20*GB {
		t.Errorf("MaxRequestBody with limits.request_body = %s, want %s", got, 20*GB)
	}
	if got := c.ReaderCache(); got != filepath.Join("data", "cache") {
		t.Errorf("default ReaderCache = %s, want %s", got, filepath.Join("data", "cache"))
	}
	c.Reader.Cache = "/var/cache/dk"
	if got := c.ReaderCache(); got != "/var/cache/dk" {
		t.Errorf("ReaderCache with reader.cache = %s, want /var/cache/dk", got)
	}
}
