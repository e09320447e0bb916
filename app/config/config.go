// Package config defines the settings, with their names, defaults, and bounds, and reads them from flags, environment
// variables, a settings file, and the values that administrators stored on the Settings page.
//
// A flag overrides the environment, the environment overrides the file, the file overrides what is stored, and that
// overrides the default. Load reports all problems together, each with its source. A stored value that doesn't work is
// ignored with a warning, so that it never keeps a server from starting. config.example.yaml lists the same settings
// and values as Default.
//
// Load rejects unknown and repeated keys, values out of bounds, and combinations that can't work. The package opens no
// file except the settings file, and reads only the environment that the caller passes.
package config

import (
	"net/netip"
	"path/filepath"
	"reflect"
	"time"
)

// Config holds every setting of deedkeep. The mapstructure tags are the keys in the settings file. The other tags are
// the default value and, for every number, the smallest and the largest value. Fields with the tag `secret:"true"` are
// never shown. config.example.yaml explains each setting.
type Config struct {
	Data      string `mapstructure:"data" default:"./data"`
	Listen    string `mapstructure:"listen" default:"127.0.0.1:8080"`
	PublicURL string `mapstructure:"public_url"`
	// host names of requests, besides the one in PublicURL and those of this machine; if both are empty, all are accepted
	AllowedHosts []string `mapstructure:"allowed_hosts"`
	// name in the IANA time zone database; "" means the local time zone
	TimeZone       string         `mapstructure:"time_zone"`
	TrustedProxies []netip.Prefix `mapstructure:"trusted_proxies"`
	Firm           Firm           `mapstructure:"firm"`
	TLS            TLS            `mapstructure:"tls"`
	Log            Log            `mapstructure:"log"`
	Limits         Limits         `mapstructure:"limits"`
	Rate           Rate           `mapstructure:"rate"`
	Links          Links          `mapstructure:"links"`
	Users          Users          `mapstructure:"users"`
	Uploads        Uploads        `mapstructure:"uploads"`
	Timeouts       Timeouts       `mapstructure:"timeouts"`
	Validation     Validation     `mapstructure:"validation"`
	Reader         Reader         `mapstructure:"reader"`
	Previews       Previews       `mapstructure:"previews"`
	OCR            OCR            `mapstructure:"ocr"`
	Search         Search         `mapstructure:"search"`
	Disk           Disk           `mapstructure:"disk"`
	CORS           CORS           `mapstructure:"cors"`
	Trash          Trash          `mapstructure:"trash"`
	Retention      Retention      `mapstructure:"retention"`
	Idempotency    Idempotency    `mapstructure:"idempotency"`
	Sweep          Sweep          `mapstructure:"sweep"`
	Scrub          Scrub          `mapstructure:"scrub"`
	Backup         Backup         `mapstructure:"backup"`
	Metrics        Metrics        `mapstructure:"metrics"`

	// origins maps each key to the source of its value. Keys with default values are missing.
	origins map[string]string
	file    string // settings file that was read; "" if there is none
	// ignored lists the stored values that have no effect, with the reasons.
	ignored Problems
}

// Firm is what pages, certificates, and printed records show of the firm.
type Firm struct {
	Name    string `mapstructure:"name"`
	Address string `mapstructure:"address"`
	Phone   string `mapstructure:"phone"`
	Email   string `mapstructure:"email"`
}

// TLS configures encryption at the public address. The certificate is the firm's own, self-signed, issued by an
// authority, or missing (no encryption).
type TLS struct {
	// path of a PEM file that contains the certificate, then its chain
	Cert string `mapstructure:"cert"`
	// path of a PEM file
	Key        string `mapstructure:"key"`
	SelfSigned bool   `mapstructure:"self_signed"`
	// obtains a certificate for the host in PublicURL with ACME
	Automatic bool `mapstructure:"automatic"`
	// contact for the certificate authority; "" means none
	Email string `mapstructure:"email"`
	// URL of the certificate authority
	ACMEDirectory string `mapstructure:"acme_directory" default:"https://acme-v02.api.letsencrypt.org/directory"`
	// "" means that only the TLS port redirects plain HTTP requests
	RedirectListen string `mapstructure:"redirect_listen"`
	// 0 means no header; never sent with SelfSigned
	HSTS time.Duration `mapstructure:"hsts" default:"180d" min:"0" max:"730d"`
}

// Enabled reports whether the public address uses HTTPS.
func (t TLS) Enabled() bool { return t.SelfSigned || t.Automatic || t.Cert != "" }

// Log configures the format and level of the log.
type Log struct {
	// text or json
	Format string `mapstructure:"format" default:"text"`
	// debug, info, warn, or error
	Level string `mapstructure:"level" default:"info"`
}

// Limits configures the limits on documents, request bodies, and connections.
type Limits struct {
	FileSize        Size `mapstructure:"file_size" default:"100 MB" min:"1" max:"4 GB"`
	FilesPerRequest int  `mapstructure:"files_per_request" default:"100" min:"1" max:"10000"`
	PDFPages        int  `mapstructure:"pdf_pages" default:"500" min:"1" max:"100000"`
	ImageHeavySize  Size `mapstructure:"image_heavy_size" default:"50 MB" min:"1" max:"4 GB"`
	ImageHeavyPages int  `mapstructure:"image_heavy_pages" default:"300" min:"1" max:"100000"`
	// maximum number of pixels in an uploaded image
	ImagePixels int `mapstructure:"image_pixels" default:"80000000" min:"100000" max:"2000000000"`
	// maximum width of a page image that the server renders, in pixels
	ImageWidth int `mapstructure:"image_width" default:"5100" min:"100" max:"10000"`
	// maximum number of pages of a searchable PDF
	SearchablePages int `mapstructure:"searchable_pages" default:"500" min:"1" max:"100000"`
	// maximum number of searchable PDFs that one user or API key downloads at the same time
	SearchablePerUser int `mapstructure:"searchable_per_user" default:"2" min:"1" max:"1000"`
	// maximum size of a document's text
	Text     Size `mapstructure:"text" default:"32 MB" min:"1 KB" max:"1 GB"`
	JSONBody Size `mapstructure:"json_body" default:"8 MB" min:"1 KB" max:"32 MB"`
	// maximum total size of a request body's form fields, without files
	FormFields Size `mapstructure:"form_fields" default:"8 MB" min:"1 KB" max:"32 MB"`
	Parts      int  `mapstructure:"parts" default:"1000" min:"2" max:"100000"`
	// maximum memory for the bodies of all requests together
	BodiesInMemory Size `mapstructure:"bodies_in_memory" default:"64 MB" min:"1 MB" max:"4 GB"`
	// 0 means that MaxRequestBody computes it
	RequestBody            Size `mapstructure:"request_body" min:"0" max:"64 TB"`
	FilesPerAbstract       int  `mapstructure:"files_per_abstract" default:"2000" min:"1" max:"100000"`
	InstrumentsPerAbstract int  `mapstructure:"instruments_per_abstract" default:"100000" min:"1" max:"1000000"`
	// maximum number of rows of a runsheet file
	RunsheetRows int `mapstructure:"runsheet_rows" default:"5000" min:"1" max:"100000"`
	Connections  int `mapstructure:"connections" default:"1024" min:"8" max:"100000"`
	// ConnectionsPerAddress is the maximum number of idle connections from one IP address. It doesn't apply to trusted
	// proxies and this machine.
	ConnectionsPerAddress int `mapstructure:"connections_per_address" default:"128" min:"1" max:"100000"`
}

// Rate configures rate limits. All of them are per minute.
type Rate struct {
	// failed authentications from one IP address
	FailingKeys int `mapstructure:"failing_keys" default:"60" min:"1" max:"100000"`
	// requests with one API key; 0 means no limit
	Requests int `mapstructure:"requests" min:"0" max:"1000000"`
}

// Links configures signed download links.
type Links struct {
	TTL time.Duration `mapstructure:"ttl" default:"5m" min:"1s" max:"24h"`
}

// Users configures how users sign in.
type Users struct {
	// session ends after this time without use
	SessionIdle time.Duration `mapstructure:"session_idle" default:"12h" min:"1m" max:"90d"`
	// maximum lifetime of a session
	SessionMax time.Duration `mapstructure:"session_max" default:"14d" min:"1m" max:"365d"`
	// applies to all users
	RequireTwoFactor bool `mapstructure:"require_two_factor"`
	// how long an IP address is known after a sign-in; 0 means never
	KnownAddress time.Duration `mapstructure:"known_address" default:"30d" min:"0" max:"365d"`
}

// Uploads configures resumable uploads from browsers and API clients.
type Uploads struct {
	// how long an unfinished upload is kept after its last byte arrived
	Keep time.Duration `mapstructure:"keep" default:"24h" min:"1m" max:"30d"`
	// maximum number of open uploads of one user or API key
	PerUser int `mapstructure:"per_user" default:"200" min:"1" max:"10000"`
	// maximum total size of those uploads
	BytesPerUser Size `mapstructure:"bytes_per_user" default:"20 GB" min:"1" max:"64 TB"`
}

// Timeouts configures connection timeouts.
type Timeouts struct {
	Header time.Duration `mapstructure:"header" default:"10s" min:"100ms" max:"10m"`
	Stall  time.Duration `mapstructure:"stall" default:"30s" min:"100ms" max:"10m"`
	Idle   time.Duration `mapstructure:"idle" default:"2m" min:"100ms" max:"1h"`
	Grace  time.Duration `mapstructure:"grace" default:"30s" min:"0" max:"1h"`
	// bytes per second; 0 means no minimum
	MinRate Size `mapstructure:"min_rate" default:"1 KB" min:"0" max:"32 KB"`
}

// Validation enables stricter validation of records.
type Validation struct {
	EnforceRequired   bool `mapstructure:"enforce_required"`
	UniqueOrderNumber bool `mapstructure:"unique_order_number"`
}

// Reader configures the pool of worker processes that open documents.
type Reader struct {
	// 0 means that it depends on the number of CPU cores
	Processes int `mapstructure:"processes" min:"0" max:"256"`
	// memory limit of each process
	Memory Size `mapstructure:"memory" default:"512 MB" min:"64 MB" max:"4 GB"`
	// timeout for inspecting a document
	Deadline time.Duration `mapstructure:"deadline" default:"20s" min:"100ms" max:"10m"`
	// timeout for rendering a page
	Image time.Duration `mapstructure:"image" default:"20s" min:"100ms" max:"10m"`
	// timeout for extracting the text of a document
	Text time.Duration `mapstructure:"text" default:"1m" min:"100ms" max:"10m"`
	// timeout for creating a searchable PDF
	Searchable time.Duration `mapstructure:"searchable" default:"5m" min:"100ms" max:"1h"`
	// "" means the directory that ReaderCache returns
	Cache string `mapstructure:"cache"`
}

// Previews configures the cache of page images.
type Previews struct {
	Size Size `mapstructure:"size" default:"2 GB" min:"1 MB" max:"64 TB"`
}

// OCR configures the recognition of text on scanned pages.
type OCR struct {
	Enabled bool `mapstructure:"enabled" default:"true"`
	// number of pages to read at the same time, each in its own process
	Workers int `mapstructure:"workers" default:"1" min:"1" max:"64"`
	// for example, 18:00-06:00; "" means always
	Hours string `mapstructure:"hours"`
	// ISO 639-2 codes; all except eng need a file in Dir
	Languages []string `mapstructure:"languages" default:"eng"`
	// timeout for reading a page
	PageTimeout time.Duration `mapstructure:"page_timeout" default:"2m" min:"1s" max:"10m"`
	// "" means the directory that LanguageDir returns
	Dir string `mapstructure:"dir"`
}

// Search configures the search index.
type Search struct {
	// timeout of a search
	Deadline time.Duration `mapstructure:"deadline" default:"2s" min:"100ms" max:"1m"`
	// memory for the index cache
	CacheSize Size `mapstructure:"cache_size" default:"64 MB" min:"1 MB" max:"4 GB"`
	// maximum number of concurrent searches; 0 means two per CPU core
	MaxConcurrent int `mapstructure:"max_concurrent" min:"0" max:"1024"`
}

// Disk configures how the file system of the data directory is used.
type Disk struct {
	Reserve Size `mapstructure:"reserve" default:"64 MB" min:"1 MB" max:"1 TB"`
	// size of a file to delete if a purge needs space on a full disk; 0 means no file
	Spare        Size `mapstructure:"spare" default:"16 MB" min:"0" max:"1 GB"`
	AllowNetwork bool `mapstructure:"allow_network"`
}

// CORS lists the web origins whose pages may call the API.
type CORS struct {
	Origins []string `mapstructure:"origins"`
}

// Trash configures how long deleted records are kept in the trash.
type Trash struct {
	Keep time.Duration `mapstructure:"keep" default:"30d" min:"1h" max:"3650d"`
}

// Retention configures how long abstracts and their documents are retained, even if they are in the trash.
type Retention struct {
	// time after a record's creation; 0 means no longer than trash.keep
	Keep time.Duration `mapstructure:"keep" default:"20y" min:"0" max:"100y"`
	// for example, 3=7y retains abstracts of template 3 for 7 years instead of Keep
	Templates []string `mapstructure:"templates"`
}

// Idempotency configures how long responses to requests with an Idempotency-Key header are stored.
type Idempotency struct {
	Keep time.Duration `mapstructure:"keep" default:"24h" min:"1m" max:"30d"`
}

// Sweep configures how often unreferenced files are removed.
type Sweep struct {
	Every time.Duration `mapstructure:"every" default:"24h" min:"1m" max:"30d"`
}

// Scrub configures how often all stored documents are read to detect damage.
type Scrub struct {
	// interval in which each document is read once; 0 means never
	Every time.Duration `mapstructure:"every" default:"30d" min:"0" max:"366d"`
}

// Backup configures the backup schedule, how many backups are kept, and how they are encrypted.
type Backup struct {
	// backup directory; "" means no automatic backups
	To string `mapstructure:"to"`
	// 0 means no automatic backups
	Every       time.Duration `mapstructure:"every" default:"24h" min:"0" max:"366d"`
	KeepDaily   int           `mapstructure:"keep_daily" default:"7" min:"0" max:"10000"`
	KeepWeekly  int           `mapstructure:"keep_weekly" default:"5" min:"0" max:"10000"`
	KeepMonthly int           `mapstructure:"keep_monthly" default:"12" min:"0" max:"10000"`
	// whether backups contain the text that OCR has read
	Text bool `mapstructure:"text" default:"true"`
	// age public keys (age1…)
	Recipients     []string `mapstructure:"recipients"`
	PassphraseFile string   `mapstructure:"passphrase_file"`
	Passphrase     string   `mapstructure:"passphrase" secret:"true"`
}

// Metrics configures access to /metrics.
type Metrics struct {
	// clients on this machine don't need an API key
	Loopback bool `mapstructure:"loopback" default:"true"`
}

// bodySlack is the part of the maximum size of a multipart body that is reserved for everything except files.
const bodySlack = 64 * MB

// Default returns the configuration used if there are no settings file, environment variables, and flags. The tags
// `default` of the fields contain the values.
func Default() Config {
	var c Config
	for _, f := range fields(&c) {
		f.value.Set(reflect.ValueOf(f.parseTag("default")))
	}
	return c
}

// MaxRequestBody returns the maximum size of a multipart body. If RequestBody is not set, this is the maximum number of
// files times the maximum file size, plus 64 MB.
func (l Limits) MaxRequestBody() Size {
	if l.RequestBody > 0 {
		return l.RequestBody
	}
	return l.minRequestBody()
}

func (l Limits) minRequestBody() Size { return Size(l.FilesPerRequest)*l.FileSize + bodySlack }

// Location returns the time zone in which dates and times are shown.
func (c Config) Location() *time.Location {
	if zone, err := loadTimeZone(c.TimeZone); err == nil {
		return zone
	}
	return time.Local // not reached after Load, which validates the name
}

// ReaderCache returns the directory that caches compiled WebAssembly engines. This is Reader.Cache if it is set,
// otherwise `cache` in the data directory.
func (c Config) ReaderCache() string {
	if c.Reader.Cache != "" {
		return c.Reader.Cache
	}
	return filepath.Join(c.Data, "cache")
}
