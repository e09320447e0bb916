// Package config holds the settings: their names, defaults and bounds, and how they are read from flags, environment
// and file.
//
// It promises that a flag beats the environment, the environment the file and the file the default; that every problem
// is reported at once, with its place; and that config.example.yaml says the same as Default.
//
// It refuses what it does not understand: an unknown or repeated key, a value outside its bounds, a combination that
// would break a promise. It opens no file but the settings file and reads no environment but the one handed in.
package config

import (
	"net/netip"
	"path/filepath"
	"time"
)

// Config is every setting of deedkeep; the tags are its keys in the file. What each means stands in
// config.example.yaml, its bounds in Validate.
type Config struct {
	Data           string         `mapstructure:"data"`
	Listen         string         `mapstructure:"listen"`
	PublicURL      string         `mapstructure:"public_url"`
	TimeZone       string         `mapstructure:"time_zone"` // a name of the IANA database; "": the zone of this machine
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

	// origins tells where the value of a key came from; a key that is not in it has its default.
	origins map[string]string
}

// TLS is how the public address is encrypted: with the firm's own certificate, with one that is made here, or not at all.
type TLS struct {
	Cert           string        `mapstructure:"cert"` // path of a PEM file, the chain after the certificate
	Key            string        `mapstructure:"key"`  // path of a PEM file
	SelfSigned     bool          `mapstructure:"self_signed"`
	RedirectListen string        `mapstructure:"redirect_listen"` // "": only the same port answers plain HTTP
	HSTS           time.Duration `mapstructure:"hsts"`            // 0: none; never with SelfSigned
}

// Enabled says whether the public address speaks https.
func (t TLS) Enabled() bool { return t.SelfSigned || t.Cert != "" }

// Log says how the log is written.
type Log struct {
	Format string `mapstructure:"format"` // text or json
	Level  string `mapstructure:"level"`  // debug, info, warn or error
}

// Limits are those of SPEC.md ("Limits") and of API.md ("body limits").
type Limits struct {
	FileSize         Size `mapstructure:"file_size"`
	FilesPerRequest  int  `mapstructure:"files_per_request"`
	PDFPages         int  `mapstructure:"pdf_pages"`
	ImageHeavySize   Size `mapstructure:"image_heavy_size"`
	ImageHeavyPages  int  `mapstructure:"image_heavy_pages"`
	PicturePixels    int  `mapstructure:"picture_pixels"` // of a picture as it was sent
	PictureWidth     int  `mapstructure:"picture_width"`  // of a picture that is made, in pixels
	Text             Size `mapstructure:"text"`           // of all text of one document
	JSONBody         Size `mapstructure:"json_body"`
	FormFields       Size `mapstructure:"form_fields"` // the non-file parts of one body together
	Parts            int  `mapstructure:"parts"`
	BodiesInMemory   Size `mapstructure:"bodies_in_memory"` // of all requests together
	RequestBody      Size `mapstructure:"request_body"`     // 0: MaxRequestBody works it out
	Page             Size `mapstructure:"page"`             // of the records on a page of a list
	FilesPerAbstract int  `mapstructure:"files_per_abstract"`
	Connections      int  `mapstructure:"connections"`
	// ConnectionsPerAddress counts those without a request under way; not of trusted proxies, nor of this machine.
	ConnectionsPerAddress int `mapstructure:"connections_per_address"`
	// TrustedConnections are those of trusted proxies and of this machine together; 0: three quarters of Connections.
	TrustedConnections int  `mapstructure:"connections_trusted"`
	HeaderBytes        Size `mapstructure:"header_bytes"`
}

// Rate is how often somebody may ask, per minute.
type Rate struct {
	FailingKeys int `mapstructure:"failing_keys"` // failures from one address
	Requests    int `mapstructure:"requests"`     // requests of one key; 0: no limit
}

// Links are the signed download links.
type Links struct {
	TTL time.Duration `mapstructure:"ttl"`
}

// Users are the people who sign in.
type Users struct {
	SessionIdle      time.Duration `mapstructure:"session_idle"`          // without use
	SessionMax       time.Duration `mapstructure:"session_max"`           // at all
	RequireTwoFactor bool          `mapstructure:"require_second_factor"` // of everybody
	KnownAddress     time.Duration `mapstructure:"known_address"`         // since a person signed in from it; 0: not at all
	SignInQueue      int           `mapstructure:"sign_in_queue"`         // sign-ins that wait for the check of their password
	SignInWait       time.Duration `mapstructure:"sign_in_wait"`          // for it
}

// Uploads are the documents that resume after a break: of pages, and of API clients.
type Uploads struct {
	Keep         time.Duration `mapstructure:"keep"`           // since the last byte
	PerUser      int           `mapstructure:"per_user"`       // open at once, of a person or an API key
	BytesPerUser Size          `mapstructure:"bytes_per_user"` // of those together
}

// Timeouts are the server's patience.
type Timeouts struct {
	Header        time.Duration `mapstructure:"header"`
	Stall         time.Duration `mapstructure:"stall"`
	StallInMemory time.Duration `mapstructure:"stall_in_memory"` // of a body that holds memory; Stall where that is less
	Idle          time.Duration `mapstructure:"idle"`
	Grace         time.Duration `mapstructure:"grace"`
	MinRate       Size          `mapstructure:"min_rate"` // bytes per second; 0: no floor
}

// Validation are the stricter rules of API.md.
type Validation struct {
	EnforceRequired   bool `mapstructure:"enforce_required"`
	UniqueOrderNumber bool `mapstructure:"unique_order_number"`
}

// Reader is the pool of processes that open documents.
type Reader struct {
	Processes int           `mapstructure:"processes"` // 0: by the number of cores
	Memory    Size          `mapstructure:"memory"`    // of one process
	Deadline  time.Duration `mapstructure:"deadline"`  // for the inspection of one document
	Picture   time.Duration `mapstructure:"picture"`   // for a picture of one page
	Text      time.Duration `mapstructure:"text"`      // for the text of one document
	Cache     string        `mapstructure:"cache"`     // "": ReaderCache
}

// Previews are the pictures of pages that are kept.
type Previews struct {
	Size Size `mapstructure:"size"`
}

// Search is the index of words.
type Search struct {
	Deadline      time.Duration `mapstructure:"deadline"`   // of one search
	CacheSize     Size          `mapstructure:"cache_size"` // of the index, in memory
	BatchSize     Size          `mapstructure:"batch_size"` // of the text that goes into it at once
	MaxWords      int           `mapstructure:"most_words"` // of one search
	MaxConcurrent int           `mapstructure:"at_once"`    // searches; 0: two for each processor
}

// Disk is what is asked of the data directory's file system.
type Disk struct {
	Reserve      Size `mapstructure:"reserve"`
	Spare        Size `mapstructure:"spare"` // of a file that gives its space to a purge on a full disk; 0: none
	AllowNetwork bool `mapstructure:"allow_network"`
}

// CORS are the web origins whose pages may call /v1.
type CORS struct {
	Origins []string `mapstructure:"origins"`
}

// Trash is where deleted records wait for their end.
type Trash struct {
	Keep time.Duration `mapstructure:"keep"`
}

// Retention is how long abstracts and their documents are kept, in the trash too.
type Retention struct {
	Keep      time.Duration `mapstructure:"keep"`      // since a record was created; 0: no longer than trash.keep
	Templates []string      `mapstructure:"templates"` // like 3=7y: for abstracts of template 3, in the place of Keep
}

// Idempotency are the answers kept for requests under an Idempotency-Key (API.md).
type Idempotency struct {
	Keep time.Duration `mapstructure:"keep"`
}

// Sweep removes what no record names.
type Sweep struct {
	Every time.Duration `mapstructure:"every"`
}

// Scrub reads every stored document now and then, and says when one is verified before it is sent.
type Scrub struct {
	Every       time.Duration `mapstructure:"every"`        // all documents once; 0: never
	VerifiedFor time.Duration `mapstructure:"verified_for"` // since a document was read
	VerifyFirst Size          `mapstructure:"verify_first"` // up to this size before the first byte is sent
}

// Backup is the plan of backups, how long they are kept, and whom they are encrypted for.
type Backup struct {
	To             string        `mapstructure:"to"`    // a directory; "": none by itself
	Every          time.Duration `mapstructure:"every"` // 0: none by itself
	KeepDaily      int           `mapstructure:"keep_daily"`
	KeepWeekly     int           `mapstructure:"keep_weekly"`
	KeepMonthly    int           `mapstructure:"keep_monthly"`
	Recipients     []string      `mapstructure:"recipients"` // age1…
	PassphraseFile string        `mapstructure:"passphrase_file"`
	Passphrase     string        `mapstructure:"passphrase" secret:"true"`
}

// Metrics is how the service goes, for a monitor, at /metrics.
type Metrics struct {
	Loopback bool `mapstructure:"loopback"` // programs of this machine need no key for it
}

// bodySlack is what a multipart body may hold besides its files (API.md, "body limits").
const bodySlack = 64 * MB

// Default is the configuration without file, environment and flags.
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
			Header: 10 * time.Second, Stall: 30 * time.Second, StallInMemory: 10 * time.Second, Idle: 2 * time.Minute, Grace: 30 * time.Second, MinRate: KB,
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

// MaxRequestBody is the most bytes that a multipart body may have: the setting, or files × size per file + 64 MB.
func (l Limits) MaxRequestBody() Size {
	if l.RequestBody > 0 {
		return l.RequestBody
	}
	return l.minRequestBody()
}

func (l Limits) minRequestBody() Size { return Size(l.FilesPerRequest)*l.FileSize + bodySlack }

// Location is the time zone in which people see days and times.
func (c Config) Location() *time.Location {
	if zone, err := loadTimeZone(c.TimeZone); err == nil {
		return zone
	}
	return time.Local // Load has refused the name
}

// ReaderCache is the directory for compiled engines: the setting, or `cache` in the data directory.
func (c Config) ReaderCache() string {
	if c.Reader.Cache != "" {
		return c.Reader.Cache
	}
	return filepath.Join(c.Data, "cache")
}
