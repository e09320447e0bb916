package model

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
)

// ActorUser is the kind of an actor who signed in with a name and a password.
const ActorUser = "user"

// Role says what a user may do.
type Role string

// The roles.
const (
	RoleViewer Role = "viewer" // sees what is filed
	RoleStaff  Role = "staff"  // files, changes, moves to the trash and back
	RoleAdmin  Role = "admin"  // runs the vault: users, keys, templates, settings, events
)

// Roles lists every role, each with the rights of those before it.
func Roles() []Role { return []Role{RoleViewer, RoleStaff, RoleAdmin} }

// Permission is something that only some may do.
type Permission string

// The rights.
const (
	PermRead  Permission = "read"
	PermWrite Permission = "write"
	PermAdmin Permission = "administer"
)

// rights is the one table of who may do what; a role that is not in it may nothing.
var rights = map[Role][]Permission{
	RoleViewer: {PermRead},
	RoleStaff:  {PermRead, PermWrite},
	RoleAdmin:  {PermRead, PermWrite, PermAdmin},
}

// Can reports whether the role has the right.
func (r Role) Can(right Permission) bool { return slices.Contains(rights[r], right) }

// User is a person who may sign in, as kept. What opens something is kept as a hash
// or sealed; see each field.
type User struct {
	ID               uint64         `json:"id"`
	Version          uint64         `json:"version"` // counts changes; the last use is none
	Name             string         `json:"name"`    // what one signs in with, unique by Fold
	Role             Role           `json:"role"`
	Password         string         `json:"password,omitempty"` // argon2id, in the PHC form of secret.Passwords; "" until it was chosen
	TwoFactor        *TwoFactor     `json:"factor,omitempty"`
	PendingTwoFactor *TwoFactor     `json:"begun,omitempty"` // two-factor authentication that was not confirmed yet
	PasswordLink     *PasswordLink  `json:"link,omitempty"`
	CreatedAt        time.Time      `json:"created_at"`
	LastSeenAt       *time.Time     `json:"last_seen_at,omitempty"` // to the minute
	DisabledAt       *time.Time     `json:"disabled_at,omitempty"`
	KnownAddresses   []KnownAddress `json:"known_addresses,omitempty"` // at most MaxKnownAddresses, the latest first
}

// TwoFactor is a second factor: a device that shows a code every 30 seconds (RFC 6238).
type TwoFactor struct {
	EncryptedSecret string    `json:"sealed"`             // its secret, sealed by secret.Ring for this user
	LastStep        uint64    `json:"step"`               // of the last code that was used: none up to it is taken again
	RecoveryHashes  []string  `json:"recovery,omitempty"` // hashes of the codes that are left, each good once
	EnabledAt       time.Time `json:"since"`
}

// PasswordLink is a one-time link under which a user chooses a password.
type PasswordLink struct {
	Hash      string    `json:"hash"` // SHA-256 of the token, lower-case hex
	Reset     bool      `json:"reset,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

// PasswordLinkPath is where a one-time link leads, before its token.
const PasswordLinkPath = "/join/"

// PasswordLinkTTL is how long a one-time link works (COMMANDS.md, "serve").
const PasswordLinkTTL = 24 * time.Hour

// Active reports whether the link opens anything at the given time.
func (l *PasswordLink) Active(now time.Time) bool { return l != nil && now.Before(l.ExpiresAt) }

// Enabled reports whether the user may sign in at all.
func (u User) Enabled() bool { return u.DisabledAt == nil }

// CanSignIn reports whether the user has chosen a password and may use it.
func (u User) CanSignIn() bool { return u.Enabled() && u.Password != "" }

// UserDraft is a user that an administrator asks for. Password is nil where a link
// is wanted.
type UserDraft struct {
	Name     string
	Role     Role
	Password *string
}

// Check applies the rules of a new user; the password is not in the result.
func (d UserDraft) Check(now time.Time) (User, errs.Fields) {
	var f validation
	u := User{Version: 1, Name: userName(&f, d.Name), Role: d.Role, CreatedAt: now}
	if !d.Role.Can(PermRead) {
		f.Add("role", notSelectable("role"))
	}
	if d.Password != nil {
		checkPassword(&f, *d.Password)
	}
	return u, f.Fields
}

// CheckUserName applies the rules of a name to sign in with, and gives it trimmed.
func CheckUserName(name string) (string, errs.Fields) {
	var f validation
	name = userName(&f, name)
	return name, f.Fields
}

func userName(f *validation, sent string) string {
	name := strings.TrimSpace(sent)
	switch {
	case name == "":
		f.Add("name", required("name"))
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
		f.Add("name", badCharacters("name"))
	case utf8.RuneCountInString(name) > MaxNameLength:
		f.Add("name", tooLong("name", MaxNameLength))
	}
	return name
}
