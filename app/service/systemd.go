//go:build !windows

package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deedkeep/app/durable"
)

// temporary are the directories that PrivateTmp replaces.
var temporary = []string{"/tmp", "/var/tmp"}

// systemd manages a service of systemd. The library for services isn't used here: it doesn't replace a
// unit, follows symbolic links, enables a unit before systemd has read it, and drops the messages of
// systemctl.
type systemd struct {
	machine
	name string
}

// installedUnit is a unit file of the service.
type installedUnit struct {
	State
	path, text string
	packaged   bool // whether it belongs to a package
}

func (s *systemd) unit() string { return s.name + ".service" }

// find returns the unit of the service. Its path is "" if there is none. A unit of another program is
// an error.
func (s *systemd) find() (u installedUnit, err error) {
	own, packaged := unitPaths(s.root, s.name)
	for _, path := range append([]string{own}, packaged...) {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return u, err
		}
		if !info.Mode().IsRegular() {
			return u, fmt.Errorf("%s is not a regular file (a symbolic link, if the unit is masked); "+
				"remove it, or choose another name with --name", path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return u, err
		}
		u = installedUnit{State: readUnit(string(text)), path: path, text: string(text), packaged: path != own}
		u.Installed, u.Unit = true, path
		if u.packaged && !strings.Contains(u.text, "\nExecStart="+packageCmd) || !u.packaged && !strings.HasPrefix(u.text, unitMark) {
			return u, fmt.Errorf(`"deedkeep service install" didn't write %s; if it is a unit for deedkeep, stop the service and `+
				"move the file away, or choose another name with --name", path)
		}
		return u, nil
	}
	return u, nil
}

// properties returns what systemd says about the service.
func (s *systemd) properties(ctx context.Context) (map[string]string, error) {
	out, err := s.run(ctx, "systemctl", "show", "--property=ActiveState,UnitFileState", s.unit())
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
	}
	return values, nil
}

func (s *systemd) State(ctx context.Context) (State, error) {
	u, err := s.find()
	u.Manager = "systemd"
	if err != nil || !u.Installed {
		return u.State, err
	}
	values, err := s.properties(ctx)
	u.Running = isRunning(values)
	u.Enabled = values["UnitFileState"] == "enabled"
	return u.State, err
}

func isRunning(values map[string]string) bool {
	return values["ActiveState"] == "active" || values["ActiveState"] == "reloading"
}

// requireSystemd returns an error if this process can't change services.
func (s *systemd) requireSystemd() error {
	if _, err := os.Stat(filepath.Join(s.root, "run", "systemd", "system")); err != nil {
		return errors.New("systemd isn't running on this machine; in a container, start the server with: deedkeep serve")
	}
	return s.requireRoot()
}

// require is like find, but returns an error if the service isn't installed or can't be changed.
func (s *systemd) require() error {
	if err := s.requireSystemd(); err != nil {
		return err
	}
	return s.installed()
}

// installed returns an error if the service isn't installed.
func (s *systemd) installed() error {
	u, err := s.find()
	if err == nil && !u.Installed {
		err = errNotInstalled(s.name)
	}
	return err
}

func (s *systemd) Install(ctx context.Context, o Options) error {
	if err := s.requireSystemd(); err != nil {
		return err
	}
	u, err := s.find()
	if err != nil {
		return err
	}
	changed := false
	if u.packaged {
		if o.Flags {
			return fmt.Errorf("a package installed the service %s, and its settings are in /etc/deedkeep/config.yaml; "+
				"leave out --user, --data, and --config, or choose another name with --name", s.name)
		}
		s.report.already("a package already installed %s", u.path)
	} else if changed, err = s.writeUnit(ctx, u, o); err != nil {
		return err
	}
	values, err := s.properties(ctx)
	if err != nil {
		return err
	}
	if values["UnitFileState"] == "enabled" {
		s.report.already("%s already starts with the computer", s.name)
	} else {
		if _, err := s.run(ctx, "systemctl", "enable", s.unit()); err != nil {
			return err
		}
		s.report.did("enabled %s: it starts with the computer", s.name)
	}
	if changed && isRunning(values) {
		return s.restart(ctx)
	}
	return s.start(ctx, values)
}

// writeUnit creates the account, the data directory, and the unit.
func (s *systemd) writeUnit(ctx context.Context, u installedUnit, o Options) (changed bool, err error) {
	if err := o.check(); err != nil {
		return false, err
	}
	for _, path := range []string{o.Data, o.Program, o.Config} {
		if isBelow(path, temporary) {
			return false, fmt.Errorf("the service can't use %s, because each service has its own %s; move it to another directory", path,
				filepath.Dir(path))
		}
		if isBelow(path, homes) && strings.Contains(path, ":") {
			return false, fmt.Errorf("the service can't use %s, because of the colon; move it out of the home directory", path)
		}
	}
	if o.User, err = s.prepareData(ctx, o, DefaultName, s.addUser); err != nil {
		return false, err
	}
	if err := s.checkReadable(o.User, o.Settings); err != nil {
		return false, err
	}
	text := unitText(s.name, o)
	path, _ := unitPaths(s.root, s.name)
	if text == u.text {
		s.report.already("%s is already as asked", path)
		return false, nil
	}
	if err := durable.WriteFile(path, []byte(text), 0o644); err != nil {
		return false, err
	}
	if _, err := s.run(ctx, "systemctl", "daemon-reload"); err != nil {
		return false, err
	}
	s.report.did("wrote %s: %s runs as %s", path, strings.Join(append([]string{o.Program}, o.arguments()...), " "), o.User)
	return true, nil
}

// addUser creates a system account.
func (s *systemd) addUser(ctx context.Context, name string) error {
	_, err := s.run(ctx, "useradd", "--system", "--user-group", "--home-dir", stateDir, "--no-create-home",
		"--shell", "/usr/sbin/nologin", "--comment", "deedkeep server", name)
	return err
}

func (s *systemd) Uninstall(ctx context.Context) error {
	if err := s.requireSystemd(); err != nil {
		return err
	}
	u, err := s.find()
	if err != nil {
		return err
	}
	if !u.Installed {
		s.report.already("no service %s is installed", s.name)
		return nil
	}
	if err := s.stop(ctx); err != nil {
		return err
	}
	values, err := s.properties(ctx)
	if err != nil {
		return err
	}
	if values["UnitFileState"] == "enabled" {
		if _, err := s.run(ctx, "systemctl", "disable", s.unit()); err != nil {
			return err
		}
		s.report.did("disabled %s: it doesn't start with the computer", s.name)
	}
	if u.packaged {
		s.report.already("%s belongs to a package; to remove the program, run: apt remove deedkeep (with RPM: dnf remove deedkeep)", u.path)
		return nil
	}
	if err := os.Remove(u.path); err != nil {
		return err
	}
	if _, err := s.run(ctx, "systemctl", "daemon-reload"); err != nil {
		return err
	}
	s.report.did("removed %s", u.path)
	s.report.already("the data stays in %s, and so does the account %s", u.Data, u.Account)
	return nil
}

func (s *systemd) Start(ctx context.Context) error {
	if err := s.require(); err != nil {
		return err
	}
	values, err := s.properties(ctx)
	if err != nil {
		return err
	}
	return s.start(ctx, values)
}

func (s *systemd) start(ctx context.Context, values map[string]string) error {
	if isRunning(values) {
		s.report.already("%s is already running", s.name)
		return nil
	}
	if err := s.control(ctx, "start"); err != nil {
		return err
	}
	s.report.did("started %s", s.name)
	return nil
}

func (s *systemd) Stop(ctx context.Context) error {
	if err := s.require(); err != nil {
		return err
	}
	return s.stop(ctx)
}

func (s *systemd) stop(ctx context.Context) error {
	values, err := s.properties(ctx)
	if err != nil {
		return err
	}
	if state := values["ActiveState"]; state == "inactive" || state == "failed" {
		s.report.already("%s is already stopped", s.name)
		return nil
	}
	if err := s.control(ctx, "stop"); err != nil {
		return err
	}
	s.report.did("stopped %s", s.name)
	return nil
}

func (s *systemd) Restart(ctx context.Context) error {
	if err := s.require(); err != nil {
		return err
	}
	return s.restart(ctx)
}

func (s *systemd) restart(ctx context.Context) error {
	if err := s.control(ctx, "restart"); err != nil {
		return err
	}
	s.report.did("restarted %s", s.name)
	return nil
}

// control runs systemctl, which waits until the server is ready. If the server fails, the error has its
// last messages.
func (s *systemd) control(ctx context.Context, action string) error {
	_, err := s.run(ctx, "systemctl", action, s.unit())
	if err == nil || ctx.Err() != nil {
		return err
	}
	if out, logErr := s.run(ctx, "journalctl", "--unit", s.unit(), "--lines=5", "--no-pager", "--output=cat"); logErr == nil {
		err = fmt.Errorf("%w\n%s", err, strings.TrimSpace(out))
	}
	return err
}

func (s *systemd) Logs(lines int, follow bool) ([]string, error) {
	command := []string{"journalctl", "--unit", s.unit(), "--no-pager", "--lines=" + strconv.Itoa(lines)}
	if follow {
		command = append(command, "--follow")
	}
	return command, s.installed()
}

// unitPaths returns the places of units with this name: those of the administrator and of packages.
func unitPaths(root, name string) (own string, packaged []string) {
	file := name + ".service"
	return filepath.Join(root, "etc", "systemd", "system", file), []string{
		filepath.Join(root, "usr", "lib", "systemd", "system", file), filepath.Join(root, "lib", "systemd", "system", file),
	}
}
