package apitypes

// Key is an API key as the control door tells of it (COMMANDS.md, "--json"): its
// beginning, never the key. ExpiresAt, LastUsedAt and RevokedAt are nil where
// that has not been set or has not happened.
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
}

// KeyCreate asks POST /control/keys for a key. No abilities means the default,
// api:v1; a nil ExpiresAt means it never expires.
type KeyCreate struct {
	Name      string       `json:"name"`
	Abilities List[string] `json:"abilities"`
	ExpiresAt *Time        `json:"expires_at"`
}

// KeyRotate asks POST /control/keys/{id}/rotate for a successor; the old key
// goes on working for so many seconds, with 0 not at all.
type KeyRotate struct {
	OverlapSeconds int64 `json:"overlap_seconds"`
}

// KeyCreated answers the creation and the rotation of a key. Key is the secret,
// told this once and never again.
type KeyCreated struct {
	Key  string `json:"key"`
	Data Key    `json:"data"`
}

// KeyBody answers POST /control/keys/{id}/revoke.
type KeyBody struct {
	Data Key `json:"data"`
}

// Keys answers GET /control/keys.
type Keys struct {
	Data List[Key] `json:"data"`
}
