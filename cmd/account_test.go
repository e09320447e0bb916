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

func TestSwitchesToTheOwner(t *testing.T) {
	for _, row := range []struct {
		name        string
		euid, owner int
		known, want bool
	}{
		{"root, a vault of the service", 0, 998, true, true},
		{"root, a vault of root", 0, 0, true, false},
		{"root, no directory yet", 0, 0, false, false},
		{"the service, its own", 998, 998, true, false},
		{"another user", 1000, 998, true, false},
		{"another user, a vault of root", 1000, 0, true, false},
	} {
		if got := mustSwitchUser(row.euid, row.owner, row.known); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
	messages := new(bytes.Buffer)
	s := &shell{messages: messages}
	if err := s.becomeOwner(config.Config{Data: t.TempDir()}); err != nil || s.runAs != "" || messages.Len() > 0 {
		t.Errorf("own directory: got %v, as %q, said %q", err, s.runAs, messages)
	}
}

// The log names who typed beside the user of the process, not the service that sudo made of them.
func TestOperatorUnderSudo(t *testing.T) {
	t.Setenv("SUDO_USER", "")
	own := operatorName()
	if own == "" {
		t.Error("without sudo: got no name")
	}
	for by, want := range map[string]string{
		"kim": own + " (sudo: kim)", `FIRM\kim`: own + ` (sudo: FIRM\kim)`, "kim@firm.example": own + " (sudo: kim@firm.example)", own: own,
		"kim\r\nX-Other: 1": own, "kim), admin (": own, strings.Repeat("k", 65): own,
	} {
		t.Setenv("SUDO_USER", by)
		if got := operatorName(); got != want {
			t.Errorf("SUDO_USER %q: got %q, want %q", by, got, want)
		}
	}
}

// What root could have read and the service can't is explained, and nothing else.
func TestPermissionErrorNamesTheAccount(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "/mnt/scans", Err: fs.ErrPermission}
	for _, row := range []struct {
		name, as string
		err      error
		want     bool
	}{
		{"as the service", "deedkeep", denied, true},
		{"wrapped", "deedkeep", fmt.Errorf("backup: %w", denied), true},
		{"as an answer of the vault", "deedkeep", &errs.Error{Message: "mkdir /mnt/nas: permission denied"}, true},
		{"as oneself", "", denied, false},
		{"another error", "deedkeep", errors.New("the disk is full"), false},
	} {
		messages := new(bytes.Buffer)
		s := &shell{messages: messages, runAs: row.as}
		s.exitCode(t.Context(), row.err)
		if got := strings.Contains(messages.String(), "runs as deedkeep, who owns the vault"); got != row.want {
			t.Errorf("%s: got %q, want it explained %v", row.name, messages, row.want)
		}
	}
}
