//go:build !windows

package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// New returns the manager of the service with this name.
func New(name string, report Report) (Manager, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	m := machine{root: "/", report: report, run: runCommand, lookup: user.Lookup, lookupID: user.LookupId, uid: os.Geteuid(), chown: os.Chown,
		readable: canRead}
	switch runtime.GOOS {
	case "linux":
		return &systemd{machine: m, name: name}, nil
	case "darwin":
		return &launchd{machine: m, name: name}, nil
	}
	return nil, fmt.Errorf("%w: services of %s aren't supported; start the server with: deedkeep serve", ErrUnsupported, runtime.GOOS)
}

var userPattern = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,30}$`)

// machine is this machine, or what takes its place in tests.
type machine struct {
	root     string // "/" or the directory that takes its place
	report   Report
	run      func(ctx context.Context, name string, args ...string) (string, error)
	lookup   func(name string) (*user.User, error)
	lookupID func(uid string) (*user.User, error)
	chown    func(path string, uid, gid int) error
	readable func(account *user.User, path string) bool
	uid      int
}

// runCommand runs a command of the system and returns its output. The error has its messages.
func runCommand(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) // #nosec G204 -- the names are constants
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(append([]string{name}, args...), " "), err, strings.TrimSpace(messages.String()))
	}
	return out.String(), nil
}

func (m machine) requireRoot() error {
	if m.uid != 0 {
		return errors.New("only root can change services; run the command with sudo")
	}
	return nil
}

// prepareData returns the account of the server: the owner of the data directory. If there is no data
// directory yet, or an empty one of root, prepareData creates it for the account that o names, or for
// fallback. It creates that account, too.
func (m machine) prepareData(ctx context.Context, o Options, fallback string, add func(context.Context, string) error) (string, error) {
	dir := filepath.Join(m.root, o.Data)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory; choose another one with --data", o.Data)
	default:
		owner := info.Sys().(*syscall.Stat_t)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		if owner.Uid != 0 || len(entries) > 0 {
			return m.checkOwner(o, int(owner.Uid))
		}
	}
	name := o.User
	if name == "" {
		name = fallback
	}
	if !userPattern.MatchString(name) || name == "root" {
		return "", fmt.Errorf("%q can't be the account of the service; choose one with up to 31 lower-case letters and digits "+
			"that isn't root", name)
	}
	account, err := m.account(ctx, name, add)
	if err != nil {
		return "", err
	}
	return name, m.createData(dir, account)
}

// checkOwner returns the account of an existing data directory.
func (m machine) checkOwner(o Options, uid int) (string, error) {
	if uid == 0 {
		return "", fmt.Errorf("%s belongs to root, and the server needs its own account; create one, for example with "+
			`"useradd --system --shell /usr/sbin/nologin deedkeep", and give it the directory: chown -R deedkeep: %s`, o.Data, o.Data)
	}
	owner, err := m.lookupID(strconv.Itoa(uid))
	if err != nil {
		return "", fmt.Errorf("the owner of %s has no account (%w); change the owner to the account of the server with chown -R", o.Data, err)
	}
	if o.User != "" && o.User != owner.Username {
		return "", fmt.Errorf("%s belongs to %s, not to %s; leave out --user, or change the owner: chown -R %s: %s",
			o.Data, owner.Username, o.User, o.User, o.Data)
	}
	m.report.already("the server runs as %s, the owner of %s", owner.Username, o.Data)
	return owner.Username, nil
}

// account returns an account, and creates it if it doesn't exist.
func (m machine) account(ctx context.Context, name string, add func(context.Context, string) error) (*user.User, error) {
	account, err := m.lookup(name)
	if _, unknown := errors.AsType[user.UnknownUserError](err); !unknown {
		return account, err
	}
	if err := add(ctx, name); err != nil {
		return nil, err
	}
	m.report.did("created the account %s", name)
	return m.lookup(name)
}

// createData creates a data directory that only the account has access to. All users may pass through
// the directories above it.
func (m machine) createData(dir string, account *user.User) error {
	uid, err := strconv.Atoi(account.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(account.Gid)
	if err != nil {
		return err
	}
	var missing []string
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		missing = append([]string{parent}, missing...)
	}
	for _, parent := range missing {
		if err := errors.Join(os.Mkdir(parent, 0o755), os.Chmod(parent, 0o755)); err != nil { // #nosec G301 G302 -- as in /var/lib
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := errors.Join(m.chown(dir, uid, gid), os.Chmod(dir, 0o700)); err != nil { // #nosec G302 -- a directory
		return err
	}
	m.report.did("created %s for the account %s", dir, account.Username)
	return nil
}

// checkReadable returns an error if an account can't read the settings file.
func (m machine) checkReadable(name, path string) error {
	if path == "" {
		return nil
	}
	account, err := m.lookup(name)
	if err != nil || m.readable(account, path) {
		return err
	}
	return fmt.Errorf("the account %s can't read the settings file %s; give it access, for example: chgrp %s %s && chmod 640 %s",
		name, path, name, path, path)
}

// canRead reports whether an account can read a file, by trying it as that account.
func canRead(account *user.User, path string) bool {
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return false
	}
	credential := &syscall.Credential{Uid: uint32(uid)}
	ids, err := account.GroupIds()
	if err != nil {
		return false
	}
	for _, text := range append(ids, account.Gid) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return false
		}
		credential.Gid, credential.Groups = uint32(id), append(credential.Groups, uint32(id))
	}
	test := exec.Command("test", "-r", path) //nolint:gosec,noctx // takes no time
	test.Dir, test.SysProcAttr = "/", &syscall.SysProcAttr{Credential: credential}
	return test.Run() == nil
}
