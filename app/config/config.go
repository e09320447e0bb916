// Package config defines the settings, with their names, defaults, and bounds, and reads them from flags, environment
// variables, and a settings file.
//
// A flag overrides the environment, the environment overrides the file, and the file overrides the default. Load
// reports all problems together, each with its source. config.example.yaml lists the same settings and values as
// Default.
//
// Load rejects unknown and repeated keys, values out of bounds, and combinations that can't work. The package opens no
// file except the settings file, and reads only the environment that the caller passes.
package config

import (
	"net/netip"
	"path/filepath"
	"time"
)

// Config holds every setting of deedkeep. The mapstructure tags are the keys in the settings file. config.example.yaml
// explains each setting; Validate checks its bounds.
type Config struct {
	Data           string         `mapstructure:"data"`
	Listen         string         `mapstructure:"listen"`
	PublicURL      string         `mapstructure:"public_url"`
	TimeZone       string         `mapstructure:"time_zone"` // a name in the IANA database; "": the local time zone
	TrustedProxies []netip.Prefix `mapstructure:"trusted_proxies"`
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

	// origins maps each key to the source of its value. A key that is missing has its default.
	origins map[string]string
}

// TLS configures encryption at the public address: with a certificate of the firm, with a self-signed one, or none.
type TLS struct {
	Cert           string        `mapstructure:"cert"` // path of a PEM file: the certificate, then its chain
	Key            string        `mapstructure:"key"`  // path of a PEM file
	SelfSigned     bool          `mapstructure:"self_signed"`
	RedirectListen string        `mapstructure:"redirect_listen"` // "": only the TLS port redirects plain HTTP
	HSTS           time.Duration `mapstructure:"hsts"`            // 0: no header; never sent with SelfSigned
}

// Enabled reports whether the public address uses HTTPS.
func (t TLS) Enabled() bool { return t.SelfSigned || t.Cert != "" }

// Log configures the format and the level of the log.
type Log struct {
	Format string `mapstructure:"format"` // text or json
	Level  string `mapstructure:"level"`  // debug, info, warn or error
}

// Limits configures the limits on documents, request bodies, and connections.
type Limits struct {
	FileSize         Size `mapstructure:"file_size"`
	FilesPerRequest  int  `mapstructure:"files_per_request"`
	PDFPages         int  `mapstructure:"pdf_pages"`
	ImageHeavySize   Size `mapstructure:"image_heavy_size"`
	ImageHeavyPages  int  `mapstructure:"image_heavy_pages"`
	PicturePixels    int  `mapstructure:"picture_pixels"` // of an uploaded image
	PictureWidth     int  `mapstructure:"picture_width"`  // of a page image that the server renders, in pixels
	Text             Size `mapstructure:"text"`           // all text of one document
	JSONBody         Size `mapstructure:"json_body"`
	FormFields       Size `mapstructure:"form_fields"` // total size of the non-file parts of a body
	Parts            int  `mapstructure:"parts"`
	BodiesInMemory   Size `mapstructure:"bodies_in_memory"` // total of all requests
	RequestBody      Size `mapstructure:"request_body"`     // 0: MaxRequestBody computes it
	Page             Size `mapstructure:"page"`             // total size of the records on one page of a list
	FilesPerAbstract int  `mapstructure:"files_per_abstract"`
	Connections      int  `mapstructure:"connections"`
	// ConnectionsPerAddress limits the idle connections from one address. It doesn't apply to trusted proxies and to
	// this machine.
	ConnectionsPerAddress int `mapstructure:"connections_per_address"`
	// TrustedConnections limits the total of connections from trusted proxies and this machine; 0 means three quarters
	// of Connections.
	TrustedConnections int  `mapstructure:"connections_trusted"`
	HeaderBytes        Size `mapstructure:"header_bytes"`
}

// Rate configures rate limits, per minute.
type Rate struct {
	FailingKeys int `mapstructure:"failing_keys"` // failed authentications from one address
	Requests    int `mapstructure:"requests"`     // requests of one key; 0: no limit
}

// Links configures signed download links.
type Links struct {
	TTL time.Duration `mapstructure:"ttl"`
}

// Users configures the sign-in of people.
type Users struct {
	SessionIdle      time.Duration `mapstructure:"session_idle"`          // idle timeout of a session
	SessionMax       time.Duration `mapstructure:"session_max"`           // maximum lifetime of a session
	RequireTwoFactor bool          `mapstructure:"require_second_factor"` // for every user
	KnownAddress     time.Duration `mapstructure:"known_address"`         // how long an address stays known after a sign-in; 0: never known
	SignInQueue      int           `mapstructure:"sign_in_queue"`         // maximum sign-ins that wait for a password check
	SignInWait       time.Duration `mapstructure:"sign_in_wait"`          // maximum wait in that queue
}

// Uploads configures resumable uploads, from pages and from API clients.
type Uploads struct {
	Keep         time.Duration `mapstructure:"keep"`           // after the last byte arrived
	PerUser      int           `mapstructure:"per_user"`       // open uploads of one user or API key
	BytesPerUser Size          `mapstructure:"bytes_per_user"` // total size of those uploads
}

// Timeouts configures the timeouts of connections.
type Timeouts struct {
	Header        time.Duration `mapstructure:"header"`
	Stall         time.Duration `mapstructure:"stall"`
	StallInMemory time.Duration `mapstructure:"stall_in_memory"` // for a body that is kept in memory; Stall if that is shorter
	Idle          time.Duration `mapstructure:"idle"`
	Grace         time.Duration `mapstructure:"grace"`
	MinRate       Size          `mapstructure:"min_rate"` // bytes per second; 0: no minimum
}

// Validation enables stricter validation of records.
type Validation struct {
	EnforceRequired   bool `mapstructure:"enforce_required"`
	UniqueOrderNumber bool `mapstructure:"unique_order_number"`
}

// Reader configures the pool of worker processes that open documents.
type Reader struct {
	Processes int           `mapstructure:"processes"` // 0: depends on the number of cores
	Memory    Size          `mapstructure:"memory"`    // memory limit of one process
	Deadline  time.Duration `mapstructure:"deadline"`  // to inspect one document
	Picture   time.Duration `mapstructure:"picture"`   // to render one page
	Text      time.Duration `mapstructure:"text"`      // to extract the text of one document
	Cache     string        `mapstructure:"cache"`     // "": ReaderCache
}

// Previews configures the cache of page images.
type Previews struct {
	Size Size `mapstructure:"size"`
}

// Search configures the search index.
type Search struct {
	Deadline      time.Duration `mapstructure:"deadline"`   // of one search
	CacheSize     Size          `mapstructure:"cache_size"` // of the index cache, in memory
	BatchSize     Size          `mapstructure:"batch_size"` // of the text that one index batch adds
	MaxWords      int           `mapstructure:"most_words"` // of one search
	MaxConcurrent int           `mapstructure:"at_once"`    // concurrent searches; 0: two per processor
}

// Disk configures the use of the data directory's file system.
type Disk struct {
	Reserve      Size `mapstructure:"reserve"`
	Spare        Size `mapstructure:"spare"` // size of a file that is deleted to make room for a purge on a full disk; 0: none
	AllowNetwork bool `mapstructure:"allow_network"`
}

// CORS lists the web origins whose pages may call /v1.
type CORS struct {
	Origins []string `mapstructure:"origins"`
}

// Trash configures how long deleted records stay in the trash.
type Trash struct {
	Keep time.Duration `mapstructure:"keep"`
}

// Retention configures how long abstracts and their documents are retained, also in the trash.
type Retention struct {
	Keep      time.Duration `mapstructure:"keep"`      // after a record was created; 0: no longer than trash.keep
	Templates []string      `mapstructure:"templates"` // such as 3=7y: abstracts of template 3 use 7 years instead of Keep
}

// Idempotency configures how long responses to requests with an Idempotency-Key are stored.
type Idempotency struct {
	Keep time.Duration `mapstructure:"keep"`
}

// Sweep configures the removal of files that no record references.
type Sweep struct {
	Every time.Duration `mapstructure:"every"`
}

// Scrub configures the periodic read of every stored document, and the verification of documents before they are sent.
type Scrub struct {
	Every       time.Duration `mapstructure:"every"`        // interval in which all documents are read once; 0: never
	VerifiedFor time.Duration `mapstructure:"verified_for"` // how long a document counts as verified after a read
	VerifyFirst Size          `mapstructure:"verify_first"` // documents up to this size are verified before the first byte is sent
}

// Backup configures the backup schedule, how many backups are kept, and how they are encrypted.
type Backup struct {
	To             string        `mapstructure:"to"`    // a directory; "": no automatic backups
	Every          time.Duration `mapstructure:"every"` // 0: no automatic backups
	KeepDaily      int           `mapstructure:"keep_daily"`
	KeepWeekly     int           `mapstructure:"keep_weekly"`
	KeepMonthly    int           `mapstructure:"keep_monthly"`
	Recipients     []string      `mapstructure:"recipients"` // age1…
	PassphraseFile string        `mapstructure:"passphrase_file"`
	Passphrase     string        `mapstructure:"passphrase" secret:"true"`
}

// Metrics configures access to the metrics at /metrics.
type Metrics struct {
	Loopback bool `mapstructure:"loopback"` // programs on this machine need no key
}

// bodySlack is the room in a multipart body for everything except the files.
const bodySlack = 64 * MB

// Default returns the configuration without a file, environment variables, and flags.
func Default() Config {
	return Config{
		Data:           "./data",
		Listen:         "127.0.0.1:8080",
		TrustedProxies: []netip.Prefix{},
		TLS:            TLS{HSTS: 180 * day},
		Log:            Log{Format: "text", Level: "info"},
		Limits: Limits{
			FileSize: 100 * MB, FilesPerRequest: 100, PDFPages: 500, ImageHeavySize: 50 * MB, ImageHeavyPages: 300,
			PicturePixels: 80_000_000, PictureWidth: 5100, Text: 32 * MB, JSONBody: 8 * MB, FormFields: 8 * MB, Parts: 1000, BodiesInMemory: 64 * MB,
			Page: 4 * MB, FilesPerAbstract: 2000, Connections: 1024, ConnectionsPerAddress: 128, HeaderBytes: 64 * KB,
		},
		Rate:    Rate{FailingKeys: 60},
		Links:   Links{TTL: 5 * time.Minute},
		Users:   Users{SessionIdle: 12 * time.Hour, SessionMax: 14 * day, KnownAddress: 30 * day, SignInQueue: 512, SignInWait: 30 * time.Second},
		Uploads: Uploads{Keep: day, PerUser: 200, BytesPerUser: 20 * GB},
		Timeouts: Timeouts{
			Header: 10 * time.Second, Stall: 30 * time.Second, StallInMemory: 10 * time.Second, Idle: 2 * time.Minute,
			Grace: 30 * time.Second, MinRate: KB,
		},
		Reader:      Reader{Memory: 512 * MB, Deadline: 20 * time.Second, Picture: 20 * time.Second, Text: time.Minute},
		Previews:    Previews{Size: 2 * GB},
		Search:      Search{Deadline: 2 * time.Second, CacheSize: 64 * MB, BatchSize: 4 * MB, MaxWords: 32},
		Disk:        Disk{Reserve: 64 * MB, Spare: 16 * MB},
		CORS:        CORS{Origins: []string{}},
		Trash:       Trash{Keep: 30 * day},
		Retention:   Retention{Keep: 20 * year, Templates: []string{}},
		Idempotency: Idempotency{Keep: day},
		Sweep:       Sweep{Every: 24 * time.Hour},
		Scrub:       Scrub{Every: 30 * day, VerifiedFor: day, VerifyFirst: MB},
		Backup:      Backup{Every: 24 * time.Hour, KeepDaily: 7, KeepWeekly: 5, KeepMonthly: 12, Recipients: []string{}},
		Metrics:     Metrics{Loopback: true},
	}
}

// MaxRequestBody returns the maximum size of a multipart body: the setting, or files × size per file + 64 MB.
func (l Limits) MaxRequestBody() Size {
	if l.RequestBody > 0 {
		return l.RequestBody
	}
	return l.minRequestBody()
}

func (l Limits) minRequestBody() Size { return Size(l.FilesPerRequest)*l.FileSize + bodySlack }

// Location returns the time zone in which people see dates and times.
func (c Config) Location() *time.Location {
	if zone, err := loadTimeZone(c.TimeZone); err == nil {
		return zone
	}
	return time.Local // unreachable after Load, which validates the name
}

// ReaderCache returns the directory for compiled engines: the setting, or `cache` in the data directory.
func (c Config) ReaderCache() string {
	if c.Reader.Cache != "" {
		return c.Reader.Cache
	}
	return filepath.Join(c.Data, "cache")
}
