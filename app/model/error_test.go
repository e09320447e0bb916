package model

import (
	"errors"
	"io/fs"
	"testing"
)

// A message that repeats its cause is written to the log once.
func TestErrorText(t *testing.T) {
	for _, row := range []struct {
		name string
		err  *Error
		want string
	}{
		{"no cause", &Error{Message: "The disk is full."}, "The disk is full."},
		{"a cause", &Error{Message: "The disk is full.", Err: fs.ErrPermission}, "The disk is full.: permission denied"},
		{"a message of the cause", &Error{Message: "/mnt/nas: no backups", Err: errors.New("/mnt/nas: no backups")}, "/mnt/nas: no backups"},
	} {
		if got := row.err.Error(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}
