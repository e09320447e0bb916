package apitypes

// User is a user account, without its password hash. LinkExpiresAt is nil if the user has no unused one-time link. The
// other times are nil if the event has not happened.
type User struct {
	ID            int64  `json:"id"`
	Name          string `json:"name"`
	FullName      string `json:"full_name"`
	Title         string `json:"title"` // job title
	Role          string `json:"role"`
	HasPassword   bool   `json:"has_password"`
	TwoFactor     bool   `json:"two_factor"`
	CreatedAt     Time   `json:"created_at"`
	LastSeenAt    *Time  `json:"last_seen_at"`
	DisabledAt    *Time  `json:"disabled_at"`
	LinkExpiresAt *Time  `json:"link_expires_at"`
}

// UserCreate is the body of POST /control/users. A nil Password requests a one-time link instead.
type UserCreate struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	Password *string `json:"password"`
	UserProfile
}

// UserProfile is the body of POST /control/users/{id}/profile. nil leaves a field as it is.
type UserProfile struct {
	FullName *string `json:"full_name,omitempty"`
	Title    *string `json:"title,omitempty"`
}

// UserRole is the body of POST /control/users/{id}/role.
type UserRole struct {
	Role string `json:"role"`
}

// UserLinked is the response to creating or resetting a user. Link is the page where the user sets a password. It
// can't be retrieved later. It is "" if a password was given.
type UserLinked struct {
	Link string `json:"link"`
	Data User   `json:"data"`
}

// Demo is what "deedkeep demo" created.
type Demo struct {
	Orders      int              `json:"orders"`
	Abstracts   int              `json:"abstracts"`
	Documents   int              `json:"documents"`
	Pages       int              `json:"pages"`
	Instruments int              `json:"instruments"`
	Users       List[UserLinked] `json:"users"`
}

// Key is an API key without its secret. ExpiresAt is nil if the key never expires. LastUsedAt and RevokedAt are nil
// if the event has not happened.
type Key struct {
	ID         int64        `json:"id"`
	Name       string       `json:"name"`
	Prefix     string       `json:"prefix"`
	Abilities  List[string] `json:"abilities"`
	CreatedAt  Time         `json:"created_at"`
	LastUsedAt *Time        `json:"last_used_at"`
	UseCount   int64        `json:"use_count"`
	ExpiresAt  *Time        `json:"expires_at"`
	RevokedAt  *Time        `json:"revoked_at"`
	Replaces   int64        `json:"replaces,omitempty"` // ID of the key that was rotated; omitted if none
}

// KeyCreate is the body of POST /control/keys. If there are no abilities, the key gets the default ability, api:v1.
// If ExpiresAt is nil, the key never expires.
type KeyCreate struct {
	Name      string       `json:"name"`
	Abilities List[string] `json:"abilities"`
	ExpiresAt *Time        `json:"expires_at"`
}

// KeyRotate is the body of POST /control/keys/{id}/rotate. The old key stays valid for OverlapSeconds.
type KeyRotate struct {
	OverlapSeconds int64 `json:"overlap_seconds"`
}

// KeyCreated is the response to creating or rotating a key. Key is the secret, which can't be retrieved again.
type KeyCreated struct {
	Key  string `json:"key"`
	Data Key    `json:"data"`
}
