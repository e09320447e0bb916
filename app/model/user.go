package model

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
)

// ByUser is the kind of an actor who signed in with a name and a password.
const ByUser = "user"

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

// Right is something that only some may do.
type Right string

// The rights.
const (
	MayRead       Right = "read"
	MayWrite      Right = "write"
	MayAdminister Right = "administer"
)

// rights is the one table of who may do what; a role that is not in it may nothing.
var rights = map[Role][]Right{
	RoleViewer: {MayRead},
	RoleStaff:  {MayRead, MayWrite},
	RoleAdmin:  {MayRead, MayWrite, MayAdminister},
}

// May reports whether the role has the right.
func (r Role) May(right Right) bool { return slices.Contains(rights[r], right) }

// User is a person who may sign in, as kept. What opens something is kept as a hash
// or sealed; see each field.
type User struct {
	ID         uint64         `json:"id"`
	Version    uint64         `json:"version"` // counts changes; the last use is none
	Name       string         `json:"name"`    // what one signs in with, unique by Fold
	Role       Role           `json:"role"`
	Password   string         `json:"password,omitempty"` // argon2id, in the PHC form of secret.Passwords; "" until it was chosen
	Factor     *Factor        `json:"factor,omitempty"`
	Begun      *Factor        `json:"begun,omitempty"` // two-factor authentication that was not confirmed yet
	Link       *Link          `json:"link,omitempty"`
	CreatedAt  time.Time      `json:"created_at"`
	LastSeenAt *time.Time     `json:"last_seen_at,omitempty"` // to the minute
	DisabledAt *time.Time     `json:"disabled_at,omitempty"`
	Known      []KnownAddress `json:"known_addresses,omitempty"` // at most MostKnownAddresses, the latest first
}

// Factor is a second factor: a device that shows a code every 30 seconds (RFC 6238).
type Factor struct {
	Sealed   string    `json:"sealed"`             // its secret, sealed by secret.Ring for this user
	Step     uint64    `json:"step"`               // of the last code that was used: none up to it is taken again
	Recovery []string  `json:"recovery,omitempty"` // hashes of the codes that are left, each good once
	Since    time.Time `json:"since"`
}

// Link is a one-time link under which a user chooses a password.
type Link struct {
	Hash      string    `json:"hash"` // SHA-256 of the token, lower-case hex
	Reset     bool      `json:"reset,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
}

// LinkPath is where a one-time link leads, before its token.
const LinkPath = "/join/"

// LinkLife is how long a one-time link works (COMMANDS.md, "serve").
const LinkLife = 24 * time.Hour

// Live reports whether the link opens anything at the given time.
func (l *Link) Live(now time.Time) bool { return l != nil && now.Before(l.ExpiresAt) }

// Enabled reports whether the user may sign in at all.
func (u User) Enabled() bool { return u.DisabledAt == nil }

// Joined reports whether the user has chosen a password and may use it.
func (u User) Joined() bool { return u.Enabled() && u.Password != "" }

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
	if !d.Role.May(MayRead) {
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
	case utf8.RuneCountInString(name) > MaxName:
		f.Add("name", tooLong("name", MaxName))
	}
	return name
}
