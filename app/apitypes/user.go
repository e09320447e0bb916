package apitypes

// User is a person who may sign in, as the control door tells of it: never a hash.
// LinkExpiresAt is nil without a one-time link that was not used, the others where
// that has not happened.
type User struct {
	ID            int64  `json:"id"`
	Name          string `json:"name"`
	Role          string `json:"role"`
	Joined        bool   `json:"joined"` // a password was chosen
	SecondFactor  bool   `json:"second_factor"`
	CreatedAt     Time   `json:"created_at"`
	LastSeenAt    *Time  `json:"last_seen_at"`
	DisabledAt    *Time  `json:"disabled_at"`
	LinkExpiresAt *Time  `json:"link_expires_at"`
}

// UserCreate asks POST /control/users for a user. A nil Password asks for a one-time
// link instead.
type UserCreate struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	Password *string `json:"password"`
}

// UserRole asks POST /control/users/{id}/role for another role.
type UserRole struct {
	Role string `json:"role"`
}

// UserLinked answers the creation and the reset of a user. Link is the address under
// which a password is chosen, told this once; "" where a password was given.
type UserLinked struct {
	Link string `json:"link"`
	Data User   `json:"data"`
}

// UserBody answers every other change of a user.
type UserBody struct {
	Data User `json:"data"`
}

// Users answers GET /control/users.
type Users struct {
	Data List[User] `json:"data"`
}
