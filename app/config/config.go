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
	TimeZone       string         `mapstructure:"time_zone"` // name in the IANA time zone database; "" means the local time zone
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

	// origins maps each key to the source of its value. Keys with default values are missing.
	origins map[string]string
}

// TLS configures encryption at the public address. The certificate is the firm's own, self-signed, or missing (no
// encryption).
type TLS struct {
	Cert           string        `mapstructure:"cert"` // path of a PEM file that contains the certificate, then its chain
	Key            string        `mapstructure:"key"`  // path of a PEM file
	SelfSigned     bool          `mapstructure:"self_signed"`
	RedirectListen string        `mapstructure:"redirect_listen"` // "" means that only the TLS port redirects plain HTTP requests
	HSTS           time.Duration `mapstructure:"hsts"`            // 0 means no header; never sent with SelfSigned
}

// Enabled reports whether the public address uses HTTPS.
func (t TLS) Enabled() bool { return t.SelfSigned || t.Cert != "" }

// Log configures the format and level of the log.
type Log struct {
	Format string `mapstructure:"format"` // text or json
	Level  string `mapstructure:"level"`  // debug, info, warn, or error
}

// Limits configures the limits on documents, request bodies, and connections.
type Limits struct {
	FileSize         Size `mapstructure:"file_size"`
	FilesPerRequest  int  `mapstructure:"files_per_request"`
	PDFPages         int  `mapstructure:"pdf_pages"`
	ImageHeavySize   Size `mapstructure:"image_heavy_size"`
	ImageHeavyPages  int  `mapstructure:"image_heavy_pages"`
	PicturePixels    int  `mapstructure:"picture_pixels"` // maximum number of pixels in an uploaded image
	PictureWidth     int  `mapstructure:"picture_width"`  // maximum width of a page image that the server renders, in pixels
	Text             Size `mapstructure:"text"`           // maximum size of a document's text
	JSONBody         Size `mapstructure:"json_body"`
	FormFields       Size `mapstructure:"form_fields"` // maximum total size of a request body's form fields, without files
	Parts            int  `mapstructure:"parts"`
	BodiesInMemory   Size `mapstructure:"bodies_in_memory"` // maximum memory for the bodies of all requests together
	RequestBody      Size `mapstructure:"request_body"`     // 0 means that MaxRequestBody computes it
	Page             Size `mapstructure:"page"`             // maximum total size of the records on one page of a list
	FilesPerAbstract int  `mapstructure:"files_per_abstract"`
	Connections      int  `mapstructure:"connections"`
	// ConnectionsPerAddress is the maximum number of idle connections from one IP address. It doesn't apply to trusted
	// proxies and this machine.
	ConnectionsPerAddress int `mapstructure:"connections_per_address"`
	// TrustedConnections is the maximum number of connections from trusted proxies and this machine together. If it is
	// 0, the limit is three quarters of Connections.
	TrustedConnections int  `mapstructure:"connections_trusted"`
	HeaderBytes        Size `mapstructure:"header_bytes"`
}

// Rate configures rate limits. All of them are per minute.
type Rate struct {
	FailingKeys int `mapstructure:"failing_keys"` // failed authentications from one IP address
	Requests    int `mapstructure:"requests"`     // requests with one API key; 0 means no limit
}

// Links configures signed download links.
type Links struct {
	TTL time.Duration `mapstructure:"ttl"`
}

// Users configures how users sign in.
type Users struct {
	SessionIdle      time.Duration `mapstructure:"session_idle"`          // session ends after this time without use
	SessionMax       time.Duration `mapstructure:"session_max"`           // maximum lifetime of a session
	RequireTwoFactor bool          `mapstructure:"require_second_factor"` // applies to all users
	KnownAddress     time.Duration `mapstructure:"known_address"`         // how long an IP address is known after a sign-in; 0 means never
	SignInQueue      int           `mapstructure:"sign_in_queue"`         // maximum number of sign-ins waiting for a password check
	SignInWait       time.Duration `mapstructure:"sign_in_wait"`          // maximum waiting time in that queue
}

// Uploads configures resumable uploads from browsers and API clients.
type Uploads struct {
	Keep         time.Duration `mapstructure:"keep"`           // how long an unfinished upload is kept after its last byte arrived
	PerUser      int           `mapstructure:"per_user"`       // maximum number of open uploads of one user or API key
	BytesPerUser Size          `mapstructure:"bytes_per_user"` // maximum total size of those uploads
}

// Timeouts configures connection timeouts.
type Timeouts struct {
	Header        time.Duration `mapstructure:"header"`
	Stall         time.Duration `mapstructure:"stall"`
	StallInMemory time.Duration `mapstructure:"stall_in_memory"` // for request bodies kept in memory; if Stall is shorter, Stall applies
	Idle          time.Duration `mapstructure:"idle"`
	Grace         time.Duration `mapstructure:"grace"`
	MinRate       Size          `mapstructure:"min_rate"` // bytes per second; 0 means no minimum
}

// Validation enables stricter validation of records.
type Validation struct {
	EnforceRequired   bool `mapstructure:"enforce_required"`
	UniqueOrderNumber bool `mapstructure:"unique_order_number"`
}

// Reader configures the pool of worker processes that open documents.
type Reader struct {
	Processes int           `mapstructure:"processes"` // 0 means that it depends on the number of CPU cores
	Memory    Size          `mapstructure:"memory"`    // memory limit of each process
	Deadline  time.Duration `mapstructure:"deadline"`  // timeout for inspecting a document
	Picture   time.Duration `mapstructure:"picture"`   // timeout for rendering a page
	Text      time.Duration `mapstructure:"text"`      // timeout for extracting the text of a document
	Cache     string        `mapstructure:"cache"`     // "" means the directory that ReaderCache returns
}

// Previews configures the cache of page images.
type Previews struct {
	Size Size `mapstructure:"size"`
}

// Search configures the search index.
type Search struct {
	Deadline      time.Duration `mapstructure:"deadline"`   // timeout of a search
	CacheSize     Size          `mapstructure:"cache_size"` // memory for the index cache
	BatchSize     Size          `mapstructure:"batch_size"` // size of the text that one index batch adds
	MaxWords      int           `mapstructure:"most_words"` // maximum number of words in a search
	MaxConcurrent int           `mapstructure:"at_once"`    // maximum number of concurrent searches; 0 means two per CPU core
}

// Disk configures how the file system of the data directory is used.
type Disk struct {
	Reserve      Size `mapstructure:"reserve"`
	Spare        Size `mapstructure:"spare"` // size of a file to delete if a purge needs space on a full disk; 0 means no file
	AllowNetwork bool `mapstructure:"allow_network"`
}

// CORS lists the web origins whose pages may call the API.
type CORS struct {
	Origins []string `mapstructure:"origins"`
}

// Trash configures how long deleted records are kept in the trash.
type Trash struct {
	Keep time.Duration `mapstructure:"keep"`
}

// Retention configures how long abstracts and their documents are retained, even if they are in the trash.
type Retention struct {
	Keep      time.Duration `mapstructure:"keep"`      // time after a record's creation; 0 means no longer than trash.keep
	Templates []string      `mapstructure:"templates"` // for example, 3=7y retains abstracts of template 3 for 7 years instead of Keep
}

// Idempotency configures how long responses to requests with an Idempotency-Key header are stored.
type Idempotency struct {
	Keep time.Duration `mapstructure:"keep"`
}

// Sweep configures how often unreferenced files are removed.
type Sweep struct {
	Every time.Duration `mapstructure:"every"`
}

// Scrub configures how often all stored documents are read to detect damage, and how documents are verified before they
// are sent.
type Scrub struct {
	Every       time.Duration `mapstructure:"every"`        // interval in which each document is read once; 0 means never
	VerifiedFor time.Duration `mapstructure:"verified_for"` // how long a document counts as verified after it was read
	VerifyFirst Size          `mapstructure:"verify_first"` // documents up to this size are verified before the first byte is sent
}

// Backup configures the backup schedule, how many backups are kept, and how they are encrypted.
type Backup struct {
	To             string        `mapstructure:"to"`    // backup directory; "" means no automatic backups
	Every          time.Duration `mapstructure:"every"` // 0 means no automatic backups
	KeepDaily      int           `mapstructure:"keep_daily"`
	KeepWeekly     int           `mapstructure:"keep_weekly"`
	KeepMonthly    int           `mapstructure:"keep_monthly"`
	Recipients     []string      `mapstructure:"recipients"` // age public keys (age1…)
	PassphraseFile string        `mapstructure:"passphrase_file"`
	Passphrase     string        `mapstructure:"passphrase" secret:"true"`
}

// Metrics configures access to /metrics.
type Metrics struct {
	Loopback bool `mapstructure:"loopback"` // clients on this machine don't need an API key
}

// bodySlack is the part of the maximum size of a multipart body that is reserved for everything except files.
const bodySlack = 64 * MB

// Default returns the configuration used if there are no settings file, environment variables, and flags.
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
