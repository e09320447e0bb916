package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"deedkeep/app/config"
	"deedkeep/app/errs"
)

func TestSwitchesToOwner(t *testing.T) {
	for _, row := range []struct {
		name        string
		euid, owner int
		known, want bool
	}{
		{"root, vault of the service account", 0, 998, true, true},
		{"root, vault of root", 0, 0, true, false},
		{"root, no directory yet", 0, 0, false, false},
		{"service account, its own vault", 998, 998, true, false},
		{"another user, vault of the service account", 1000, 998, true, false},
		{"another user, vault of root", 1000, 0, true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := mustSwitchUser(row.euid, row.owner, row.known); got != row.want {
				t.Errorf("mustSwitchUser(%d, %d, %v) = %v, want %v", row.euid, row.owner, row.known, got, row.want)
			}
		})
	}
	t.Run("own directory", func(t *testing.T) {
		messages := new(bytes.Buffer)
		s := &shell{messages: messages}
		if err := s.becomeOwner(config.Config{Data: t.TempDir()}); err != nil || s.runAs != "" || messages.Len() > 0 {
			t.Errorf("becomeOwner: got error %v, user %q, messages %q, want none", err, s.runAs, messages)
		}
	})
}

// Under sudo, the audit log names both the user of the process and the user who ran sudo.
func TestOperatorUnderSudo(t *testing.T) {
	t.Setenv("SUDO_USER", "")
	own := operatorName()
	if own == "" {
		t.Error("without sudo: got no name, want the user of the process")
	}
	for _, row := range []struct{ name, sudoUser, want string }{
		{"local account", "kim", own + " (sudo: kim)"},
		{"domain account", `FIRM\kim`, own + ` (sudo: FIRM\kim)`},
		{"email address", "kim@firm.example", own + " (sudo: kim@firm.example)"},
		{"same account", own, own},
		{"line break", "kim\r\nX-Other: 1", own},
		{"parentheses", "kim), admin (", own},
		{"too long", strings.Repeat("k", 65), own},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("SUDO_USER", row.sudoUser)
			if got := operatorName(); got != row.want {
				t.Errorf("operatorName() with SUDO_USER %q = %q, want %q", row.sudoUser, got, row.want)
			}
		})
	}
}

// If a command that switched from root to the owner of the vault gets a permission error,
// it prints a hint that names the owner. Other errors don't get the hint.
func TestPermissionErrorNamesAccount(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "/mnt/scans", Err: fs.ErrPermission}
	for _, row := range []struct {
		name, as string
		err      error
		want     bool
	}{
		{"as the service account", "deedkeep", denied, true},
		{"wrapped", "deedkeep", fmt.Errorf("backup: %w", denied), true},
		{"error of the vault", "deedkeep", &errs.Error{Message: "mkdir /mnt/nas: permission denied"}, true},
		{"user not switched", "", denied, false},
		{"another error", "deedkeep", errors.New("the disk is full"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			messages := new(bytes.Buffer)
			s := &shell{messages: messages, runAs: row.as}
			s.exitCode(t.Context(), row.err)
			if got := strings.Contains(messages.String(), "the data directory is open as deedkeep, its owner"); got != row.want {
				t.Errorf("messages %q: got explained %v, want %v", messages, got, row.want)
			}
		})
	}
}
