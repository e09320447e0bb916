package config

import (
	"maps"
	"slices"
)

// storedSource is the source of values that administrators stored on the Settings page.
const storedSource = "Settings page"

// Editable is a setting that administrators can change on the Settings page. Secrets and paths of this machine,
// except that of backups, aren't among them.
type Editable struct{ Key, Label, Hint string }

// Group is a section of the Settings page.
type Group struct {
	Name, Label, Hint string
	Immediate         bool // changes take effect without a restart
	Settings          []Editable
}

// Keys returns the keys of the settings.
func (g Group) Keys() (keys []string) {
	for _, s := range g.Settings {
		keys = append(keys, s.Key)
	}
	return keys
}

// Groups returns the settings that administrators can change, in the order of the Settings page.
func Groups() []Group { return groups }

var groups = []Group{
	{"firm", "Your firm", "Shown on pages, search certificates, and printed records.", true, []Editable{
		{"firm.name", "Name", ""},
		{"firm.address", "Address", "On one line: 100 Main St, Springfield, IL 62701"},
		{"firm.phone", "Phone", ""},
		{"firm.email", "Email", ""},
		{"time_zone", "Time zone", "Determines what is due today and the times on pages."},
	}},
	{"access", "Access", "Who can reach the server, and how.", false, []Editable{
		{"listen", "Address and port", "127.0.0.1:8080 for this computer only, :8080 for all computers in the office network."},
		{"tls.self_signed", "HTTPS with a self-signed certificate", "For the office network. Browsers ask once whether to trust it."},
		{"tls.automatic", "HTTPS with a certificate from Let's Encrypt", "For a server that can be reached from the internet."},
		{"tls.email", "Email for Let's Encrypt", "Optional. Let's Encrypt writes to it if there is a problem."},
		{"tls.redirect_listen", "Address that redirects to HTTPS", "Such as :80. Blank for none."},
		{"public_url", "Public address", "What people type to open the server, such as https://vault.example.com. Links start with it."},
		{"allowed_hosts", "Other host names", "Separated by commas. With this or a public address, other names are rejected."},
		{"trusted_proxies", "Reverse proxies", "Addresses or networks in front of the server, separated by commas, such as 127.0.0.1."},
	}},
	{"backup", "Backups", "Where and how often the server saves a copy of everything.", false, []Editable{
		{"backup.to", "Folder for backups", "On another disk or a share that is mounted on the server. Blank for no backups."},
		{"backup.every", "Time between backups", "Such as 24h. 0s for none."},
		{"backup.keep_daily", "Daily backups to keep", ""},
		{"backup.keep_weekly", "Weekly backups to keep", ""},
		{"backup.keep_monthly", "Monthly backups to keep", ""},
		{"backup.text", "Back up the text of scanned pages", ""},
		{"backup.recipients", "Encrypt for", "Age public keys (age1…), separated by commas. Blank for none."},
	}},
	{"retention", "Trash and retention", "How long records are kept.", true, []Editable{
		{"trash.keep", "Time in the trash", "Such as 30d. Then records are deleted permanently, if retention allows it. " +
			"A shorter time includes records that are in the trash now."},
		{"retention.keep", "Retention of abstracts", "Such as 20y. Until then, nothing is deleted permanently. Once there are abstracts, it can only be extended here."},
		{"retention.templates", "Retention by template", "Template ID and time, separated by commas, such as 3=7y."},
	}},
	{"users", "Sign-in", "Sessions and two-factor authentication.", true, []Editable{
		{"users.require_two_factor", "Require two-factor authentication", "For all users, the next time they open a page."},
		{"users.session_idle", "Idle time before a session ends", "Such as 12h. Sessions that have been idle for longer end immediately."},
		{"users.session_max", "Maximum length of a session", "Such as 14d. Older sessions end immediately, even your own."},
		{"users.known_address", "Remember an address after a sign-in for", "Such as 30d. 0s for never."},
	}},
	{"rates", "Rate limits and links", "How often API clients can call the server, and how long download links work.", false, []Editable{
		{"rate.failing_keys", "Failed requests per minute from one address", ""},
		{"rate.requests", "Requests per minute with one API key", "0 for no limit."},
		{"links.ttl", "Lifetime of download links", "Such as 5m."},
	}},
	{"documents", "Documents and records", "Limits on uploads, and rules for records.", false, []Editable{
		{"limits.file_size", "Maximum size of a document", "Such as 100 MB."},
		{"limits.files_per_request", "Maximum number of documents in an upload", ""},
		{"limits.pdf_pages", "Maximum number of pages of a PDF", ""},
		{"limits.image_heavy_size", "Maximum size of a scanned PDF", ""},
		{"limits.image_heavy_pages", "Maximum number of pages of a scanned PDF", ""},
		{"limits.files_per_abstract", "Maximum number of documents in an abstract", ""},
		{"limits.searchable_pages", "Maximum number of pages of a searchable PDF", ""},
		{"limits.runsheet_rows", "Maximum number of rows of a runsheet file", ""},
		{"uploads.keep", "Keep unfinished uploads for", "Such as 24h."},
		{"uploads.per_user", "Maximum number of open uploads per user", ""},
		{"uploads.bytes_per_user", "Maximum size of all open uploads of a user", "Such as 20 GB."},
		{"validation.enforce_required", "Reject records without required fields", "In the API, too."},
		{"validation.unique_order_number", "Reject duplicate order numbers", ""},
	}},
	{"ocr", "OCR of scanned pages", "The server reads scanned pages so that you can search them.", false, []Editable{
		{"ocr.enabled", "Read scanned pages", ""},
		{"ocr.languages", "Languages", "ISO 639-2 codes, separated by commas, such as eng, spa. English is built in."},
		{"ocr.hours", "Hours", "Such as 18:00-06:00. Blank for always."},
		{"ocr.workers", "Number of pages to read at the same time", ""},
	}},
}

// editable returns the keys of Groups.
func editable() (keys []string) {
	for _, g := range groups {
		keys = append(keys, g.Keys()...)
	}
	return keys
}

// Ignored returns the stored values that have no effect, with the reasons: another program version stored them, or
// they don't fit the other settings.
func (c Config) Ignored() Problems { return c.ignored }

// readStored returns what is stored in the data directory that the other entries set.
func (src Source) readStored(others []entry) (entries []entry, ignored Problems) {
	if src.Stored == nil {
		return nil, nil
	}
	config, _ := merge(others) // Load reports the problems
	stored, err := src.Stored(config.Data)
	if err != nil {
		return nil, Problems{{Source: storedSource, Reason: "can't read the stored settings: " + err.Error()}}
	}
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		if !slices.Contains(editable(), key) {
			ignored = append(ignored, Problem{Source: storedSource, Key: key, Reason: "is not a setting of this page"})
			continue
		}
		entries = append(entries, entry{key, storedSource, stored[key]})
	}
	return entries, ignored
}

// combine validates the stored values together with the other entries. It ignores stored values until the remaining
// ones cause no problem.
func (src Source) combine(stored, others []entry) (config Config, problems, ignored Problems) {
	for {
		config, problems = validated(slices.Concat(stored, others))
		config.nameSources(problems)
		if len(problems) == 0 && src.Check != nil && len(stored) > 0 {
			for _, p := range src.Check(config) {
				if p.Source = config.origins[p.Key]; p.Source == storedSource {
					problems = append(problems, p)
				}
			}
		}
		drop := cause(stored, others, problems)
		if drop < 0 {
			return config, problems, ignored
		}
		reason := problems[0]
		if at := slices.IndexFunc(problems, func(p Problem) bool { return p.Key == stored[drop].key }); at >= 0 {
			reason = problems[at]
		} else {
			reason.Reason = "doesn't fit the setting " + reason.Key + ", which " + reason.Reason
		}
		ignored = append(ignored, Problem{Source: storedSource, Key: stored[drop].key, Reason: reason.Reason})
		stored = slices.Delete(slices.Clone(stored), drop, drop+1)
	}
}

// cause returns the index of the stored value that a problem names or, if none is named, of the one without which there
// are fewer problems. It returns -1 if no stored value causes a problem.
func cause(stored, others []entry, problems Problems) int {
	for n, e := range stored {
		if slices.ContainsFunc(problems, func(p Problem) bool { return p.Key == e.key && p.Source == storedSource }) {
			return n
		}
	}
	for n := range stored {
		if len(problems) == 0 {
			break
		}
		rest := slices.Delete(slices.Clone(stored), n, n+1)
		if _, left := validated(slices.Concat(rest, others)); len(left) < len(problems) {
			return n
		}
	}
	return -1
}
