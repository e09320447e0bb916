package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
)

// ActorUser is the Actor.Kind of a signed-in user.
const ActorUser = "user"

// Role is a user's role.
type Role string

// The roles. Each role includes the permissions of the previous ones.
const (
	RoleViewer Role = "viewer" // sees all records
	RoleStaff  Role = "staff"  // uploads, edits, and moves records to and from the trash
	RoleAdmin  Role = "admin"  // manages users, keys, templates, settings, and the audit log
)

// Roles returns all roles. Each role includes the permissions of the previous ones.
func Roles() []Role { return []Role{RoleViewer, RoleStaff, RoleAdmin} }

// Permission is something that a role allows.
type Permission string

// The permissions.
const (
	PermRead  Permission = "read"
	PermWrite Permission = "write"
	PermAdmin Permission = "administer"
)

// permissions maps roles to their permissions. An unknown role has no permissions.
var permissions = map[Role][]Permission{
	RoleViewer: {PermRead},
	RoleStaff:  {PermRead, PermWrite},
	RoleAdmin:  {PermRead, PermWrite, PermAdmin},
}

// Can reports whether the role has the permission.
func (r Role) Can(permission Permission) bool { return slices.Contains(permissions[r], permission) }

// User is a stored user account. Secrets are stored as hashes or encrypted.
type User struct {
	ID      uint64 `json:"id"`
	Version uint64 `json:"version"` // number of changes, not counting LastSeenAt
	Name    string `json:"name"`    // username, unique by Fold
	Profile
	Role             Role           `json:"role"`
	Password         string         `json:"password,omitempty"` // argon2id hash in PHC format; "" until the user chooses a password
	TwoFactor        *TwoFactor     `json:"factor,omitempty"`
	PendingTwoFactor *TwoFactor     `json:"begun,omitempty"` // two-factor setup that isn't confirmed yet
	PasswordLink     *PasswordLink  `json:"link,omitempty"`
	CreatedAt        time.Time      `json:"created_at"`
	LastSeenAt       *time.Time     `json:"last_seen_at,omitempty"` // accurate to the minute
	DisabledAt       *time.Time     `json:"disabled_at,omitempty"`
	OrdersSeenAt     *time.Time     `json:"orders_seen_at,omitempty"`  // orders created since then are new to the user
	StartView        uint64         `json:"start_view,omitempty"`      // saved view that the user starts with; 0: the desk
	AwayUntil        string         `json:"away_until,omitempty"`      // first day (YYYY-MM-DD) on which the user works again; may be past
	KnownAddresses   []KnownAddress `json:"known_addresses,omitempty"` // most recent first
}

// Profile is how papers for clients name a user, such as Mary Jones, Senior Examiner. Either can be "".
type Profile struct {
	FullName string `json:"full_name,omitempty"`
	Title    string `json:"title,omitempty"` // job title
}

// String returns the full name and the title. It is "" without a full name.
func (p Profile) String() string {
	if p.FullName == "" || p.Title == "" {
		return p.FullName
	}
	return p.FullName + ", " + p.Title
}

// ProfilePatch is the input for a profile. nil leaves a field as it is.
type ProfilePatch struct{ FullName, Title *string }

// Check applies the input to old and returns all errors.
func (p ProfilePatch) Check(old Profile) (Profile, errs.Fields) {
	var f validation
	for _, field := range []struct {
		name  string
		input *string
		value *string
	}{{"full_name", p.FullName, &old.FullName}, {"title", p.Title, &old.Title}} {
		if field.input == nil {
			continue
		}
		*field.value = f.line(field.name, StringInput(*field.input), MaxNameLength)
		if strings.ContainsFunc(*field.value, isControl) {
			f.Add(field.name, errs.InvalidCharacters)
		}
	}
	return old, f.Fields
}

var userFields = []recordField[User]{
	{FieldLabel{Name: "full_name", Label: "Full name"}, func(u *User) any { return u.FullName }},
	{FieldLabel{Name: "title", Label: "Job title"}, func(u *User) any { return u.Title }},
	{FieldLabel{Name: "away_until", Label: "Away until", Type: Date}, func(u *User) any { return u.AwayUntil }},
}

// DisplayName returns the full name, or the username if there is none.
func (u User) DisplayName() string { return cmp.Or(u.FullName, u.Name) }

// IsAway reports whether the user is away on a day (YYYY-MM-DD).
func (u User) IsAway(day string) bool { return day < u.AwayUntil }

// CheckAwayUntil validates User.AwayUntil. A blank value says that the user isn't away.
func CheckAwayUntil(until Input, today string) (string, errs.Fields) {
	var f validation
	day := f.date("away_until", until.asText())
	if day != "" && day <= today {
		f.Add("away_until", "The {field} field must be a day after today.")
	}
	return day, f.Fields
}

// Changes returns the differences between the profile of u and its new version, and when the user is away.
func (u User) Changes(to User) []Change { return compareRecords(userFields, u, to) }

// TwoFactor is a two-factor authentication device: an app that shows a code every 30 seconds
// (RFC 6238).
type TwoFactor struct {
	EncryptedSecret string    `json:"sealed"`             // encrypted for this user
	LastStep        uint64    `json:"step"`               // time step of the last code used; earlier codes are rejected
	RecoveryHashes  []string  `json:"recovery,omitempty"` // hashes of the remaining one-time recovery codes
	EnabledAt       time.Time `json:"since"`
}

// PasswordLink is a one-time link for choosing a password.
type PasswordLink struct {
	Hash      string    `json:"hash"` // SHA-256 of the token, lower-case hex
	Reset     bool      `json:"reset,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

// PasswordLinkPath is the URL path of a one-time link, without its token.
const PasswordLinkPath = "/join/"

// PasswordLinkTTL is how long a one-time link is valid.
const PasswordLinkTTL = 24 * time.Hour

// Active reports whether the link is valid at the given time.
func (l *PasswordLink) Active(now time.Time) bool { return l != nil && now.Before(l.ExpiresAt) }

// Enabled reports whether the account is not disabled.
func (u User) Enabled() bool { return u.DisabledAt == nil }

// CanSignIn reports whether the account is enabled and has a password.
func (u User) CanSignIn() bool { return u.Enabled() && u.Password != "" }

// UserDraft is the input for a new user. A nil Password requests a one-time link.
type UserDraft struct {
	Name     string
	Role     Role
	Password *string
	Profile  ProfilePatch
}

// Check validates the draft. The result doesn't contain the password.
func (d UserDraft) Check(now time.Time) (User, errs.Fields) {
	var f validation
	u := User{Version: 1, Name: userName(&f, d.Name), Role: d.Role, CreatedAt: now}
	profile, rejected := d.Profile.Check(u.Profile)
	u.Profile, f.Fields = profile, append(f.Fields, rejected...)
	if !d.Role.Can(PermRead) {
		f.Add("role", errs.InvalidChoice)
	}
	if d.Password != nil {
		checkPassword(&f, *d.Password)
	}
	return u, f.Fields
}

// CheckUserName validates a username and returns it trimmed.
func CheckUserName(name string) (string, errs.Fields) {
	var f validation
	name = userName(&f, name)
	return name, f.Fields
}

// userName validates the name of a user or an API key and returns it trimmed.
func userName(f *validation, sent string) string {
	name := strings.TrimSpace(sent)
	switch {
	case name == "":
		f.Add("name", errs.Required)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
		f.Add("name", errs.InvalidCharacters)
	case utf8.RuneCountInString(name) > MaxNameLength:
		f.Add("name", errs.TooLong, MaxNameLength)
	}
	return name
}

// KnownAddress is a network from which a user has signed in, as returned by ClientNetwork, and
// the time of the last sign-in.
type KnownAddress struct {
	Network string    `json:"network"`
	At      time.Time `json:"at"`
}

// ClientNetwork returns the network that counts as one client for rate limits and known
// addresses: the address itself for IPv4, and the /64 for IPv6, which is usually assigned to one
// subscriber (RFC 6177). For an invalid address, it returns the zero Prefix.
func ClientNetwork(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	return netip.PrefixFrom(ip, min(ip.BitLen(), 64)).Masked()
}

// Limits on the length of a password, in bytes.
const (
	MinPasswordLength = 10
	MaxPasswordLength = 1024
)

// CheckPassword validates the format of a password. The password is used exactly as typed,
// without trimming or normalization. secret.IsWeakPassword checks its strength.
func CheckPassword(password string) errs.Fields {
	var f validation
	checkPassword(&f, password)
	return f.Fields
}

func checkPassword(f *validation, password string) {
	switch {
	case password == "":
		f.Add("password", errs.Required)
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		f.Add("password", errs.InvalidCharacters)
	case len(password) < MinPasswordLength:
		f.Add("password", "The password field must have at least %d characters.", MinPasswordLength)
	case len(password) > MaxPasswordLength:
		f.Add("password", "The password field must not be longer than %d bytes.", MaxPasswordLength)
	}
}

// Session is a signed-in user on one device. It contains the hash of the token, never the token
// itself.
type Session struct {
	Hash       string    `json:"hash"` // SHA-256 of the token, lower-case hex
	UserID     uint64    `json:"user_id"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at"` // accurate to the minute
	Address    string    `json:"address,omitempty"`
	Device     string    `json:"device,omitempty"` // User-Agent, at most maxDeviceLength code points
}

// sessionIDLength is the number of hex digits of a session's ID.
const sessionIDLength = 16

// ID returns the identifier of the session in lists and audit events: the first digits of its
// hash.
func (s Session) ID() string { return s.Hash[:min(len(s.Hash), sessionIDLength)] }

// SessionLimits are the maximum idle time and the maximum lifetime of a session.
type SessionLimits struct{ Idle, Max time.Duration }

// maxClockSkew is how far in the future the creation time of a session may be. It is in the
// future if the clock was set back after the user signed in.
const maxClockSkew = 10 * time.Minute

// Active reports whether the session is valid at the given time. A session created more than
// maxClockSkew in the future is rejected, because it would outlive its limits.
func (s Session) Active(now time.Time, limits SessionLimits) bool {
	return !s.CreatedAt.After(now.Add(maxClockSkew)) && now.Before(s.LastSeenAt.Add(limits.Idle)) && now.Before(s.CreatedAt.Add(limits.Max))
}

// maxDeviceLength is the maximum length of a stored User-Agent, in code points.
const maxDeviceLength = 200

// SanitizeDevice makes a User-Agent header safe to store and display: valid UTF-8 without control
// characters, at most maxDeviceLength code points.
func SanitizeDevice(sent string) string {
	sent = strings.Map(func(r rune) rune {
		if isControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, sent[:min(len(sent), maxDeviceLength*utf8.UTFMax)])
	if runes := []rune(sent); len(runes) > maxDeviceLength {
		sent = string(runes[:maxDeviceLength])
	}
	return strings.TrimSpace(sent)
}

// StoredResponse is a response stored under an idempotency key. A repeated request with the
// same key gets the same response.
type StoredResponse struct {
	RequestHash string            `json:"request"` // SHA-256 of the request, lower-case hex
	Status      int               `json:"status"`
	Header      map[string]string `json:"header,omitempty"`
	Body        []byte            `json:"body,omitempty"`
	At          time.Time         `json:"at"` // when it was sent
}
