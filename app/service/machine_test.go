//go:build !windows

package service

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fake is a machine in a directory, with a service manager that only remembers its state.
type fake struct {
	machine
	dir                      string
	commands, steps          []string
	changed                  bool
	active, enabled, account bool
	fails                    string // command that fails
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{dir: t.TempDir()}
	for _, dir := range []string{"etc/systemd/system", "usr/lib/systemd/system", "run/systemd/system", "var/lib", "var/log",
		"Library/LaunchDaemons"} {
		if err := os.MkdirAll(filepath.Join(f.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self := strconv.Itoa(os.Getuid())
	f.machine = machine{
		root: f.dir, run: f.command, chown: func(string, int, int) error { return nil }, readable: func(*user.User, string) bool { return true },
		report:   func(changed bool, step string) { f.changed, f.steps = f.changed || changed, append(f.steps, step) },
		lookupID: func(uid string) (*user.User, error) { return &user.User{Username: "deedkeep", Uid: uid}, nil },
		lookup: func(name string) (*user.User, error) {
			if !f.account {
				return nil, user.UnknownUserError(name)
			}
			return &user.User{Username: name, Uid: self, Gid: strconv.Itoa(os.Getgid())}, nil
		},
	}
	return f
}

func (f *fake) command(_ context.Context, name string, args ...string) (string, error) {
	line := strings.Join(append([]string{name}, args...), " ")
	if f.fails != "" && strings.HasPrefix(line, f.fails) {
		return "", errors.New(line + ": failed")
	}
	switch {
	case strings.HasPrefix(line, "systemctl show"):
		state, file := "inactive", "disabled"
		if f.active {
			state = "active"
		}
		if f.enabled {
			file = "enabled"
		}
		return "ActiveState=" + state + "\nUnitFileState=" + file + "\n", nil
	case strings.HasPrefix(line, "launchctl print"):
		if !f.active {
			return "", errors.New("not found")
		}
		return "\tstate = running\n", nil
	case strings.HasPrefix(line, "journalctl"):
		return "port 80 is in use\n", nil
	case strings.HasPrefix(line, "dscl . -list"):
		return "root 0\n_x 400\n", nil
	}
	f.commands = append(f.commands, line)
	switch {
	case strings.Contains(line, "useradd"), strings.Contains(line, "IsHidden"):
		f.account = true
	case strings.Contains(line, "enable "):
		f.enabled = true
	case strings.Contains(line, "disable "):
		f.enabled = false
	case strings.Contains(line, "systemctl start"), strings.Contains(line, "restart"), strings.Contains(line, "bootstrap"):
		f.active = true
	case strings.Contains(line, "stop"), strings.Contains(line, "bootout"):
		f.active = false
	}
	return "", nil
}

// take returns the commands and whether steps changed something since the last call.
func (f *fake) take() (commands string, changed bool) {
	commands, changed = strings.Join(f.commands, "; "), f.changed
	f.commands, f.steps, f.changed = nil, nil, false
	return commands, changed
}

var options = Options{Program: "/usr/local/bin/deedkeep", Data: "/var/lib/deedkeep"}

// Each command changes nothing the second time.
func TestSystemdIsIdempotent(t *testing.T) {
	f := newFake(t)
	s := &systemd{machine: f.machine, name: "deedkeep"}
	ctx := t.Context()
	install := func(o Options) func() error { return func() error { return s.Install(ctx, o) } }
	other := options
	other.Config = "/etc/other.yaml"
	for _, row := range []struct {
		name, want string
		do         func() error
	}{
		{"install", "useradd --system --user-group --home-dir /var/lib/deedkeep --no-create-home --shell /usr/sbin/nologin --comment deedkeep server deedkeep; " +
			"systemctl daemon-reload; systemctl enable deedkeep.service; systemctl start deedkeep.service", install(options)},
		{"again", "", install(options)},
		{"stop", "systemctl stop deedkeep.service", func() error { return s.Stop(ctx) }},
		{"stopped", "", func() error { return s.Stop(ctx) }},
		{"start", "systemctl start deedkeep.service", func() error { return s.Start(ctx) }},
		{"started", "", func() error { return s.Start(ctx) }},
		{"change", "systemctl daemon-reload; systemctl restart deedkeep.service", install(other)},
		{"restart", "systemctl restart deedkeep.service", func() error { return s.Restart(ctx) }},
		{"uninstall", "systemctl stop deedkeep.service; systemctl disable deedkeep.service; systemctl daemon-reload",
			func() error { return s.Uninstall(ctx) }},
		{"uninstalled", "", func() error { return s.Uninstall(ctx) }},
	} {
		err := row.do()
		if got, changed := f.take(); err != nil || got != row.want || changed != (row.want != "") {
			t.Fatalf("%s: got %v, %q, changed: %v; want %q", row.name, err, got, changed, row.want)
		}
		if row.name == "install" && os.Getuid() == 0 {
			// The fake machine doesn't change owners. For it, every account but root is deedkeep.
			if err := os.Chown(filepath.Join(f.dir, options.Data), 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(f.dir, options.Data)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: got %v, %v, want mode 0700", info, err)
	}
	if err := s.Start(ctx); err == nil || !strings.Contains(err.Error(), "deedkeep service install") {
		t.Errorf("start without a service: got %v, want an error that says how to install it", err)
	}
}

// The unit of a package is started and enabled, but never replaced.
func TestSystemdKeepsPackage(t *testing.T) {
	f := newFake(t)
	s := &systemd{machine: f.machine, name: "deedkeep"}
	path := filepath.Join(f.dir, "usr/lib/systemd/system/deedkeep.service")
	if err := os.WriteFile(path, []byte(packagedUnit), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"systemctl enable deedkeep.service; systemctl start deedkeep.service", ""} {
		if err := s.Install(t.Context(), options); err != nil {
			t.Fatal(err)
		}
		if got, _ := f.take(); got != want {
			t.Errorf("install: got %q, want %q", got, want)
		}
	}
	if state, err := s.State(t.Context()); err != nil || !state.Running || !state.Enabled || state.Program != "/usr/bin/deedkeep" ||
		state.Unit != path {
		t.Errorf("state: got %+v, %v", state, err)
	}
	if err := s.Install(t.Context(), Options{Flags: true}); err == nil {
		t.Error("install with flags: got no error")
	}
	if err := s.Uninstall(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.steps, "; "); !strings.Contains(got, "apt remove deedkeep") {
		t.Errorf("uninstall: got %q, want how to remove the package", got)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("unit of the package: %v", err)
	}
}

// An installation that can't work changes nothing.
func TestSystemdRejects(t *testing.T) {
	own := "etc/systemd/system/deedkeep.service"
	for _, row := range []struct {
		name, want string
		change     func(t *testing.T, f *fake, o *Options)
	}{
		{"not root", "run the command with sudo", func(_ *testing.T, f *fake, _ *Options) { f.uid = 1000 }},
		{"no systemd", "systemd isn't running", func(t *testing.T, f *fake, _ *Options) {
			if err := os.RemoveAll(filepath.Join(f.dir, "run")); err != nil {
				t.Fatal(err)
			}
		}},
		{"link", "not a regular file", func(t *testing.T, f *fake, _ *Options) {
			if err := os.Symlink("/dev/null", filepath.Join(f.dir, own)); err != nil {
				t.Fatal(err)
			}
		}},
		{"another program", "didn't write", func(t *testing.T, f *fake, _ *Options) {
			if err := os.WriteFile(filepath.Join(f.dir, own), []byte("[Service]\nExecStart=/usr/sbin/nginx\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"package of another program", "didn't write", func(t *testing.T, f *fake, _ *Options) {
			if err := os.WriteFile(filepath.Join(f.dir, "usr/lib/systemd/system/deedkeep.service"),
				[]byte("[Service]\nExecStart=/usr/sbin/nginx\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"temporary program", "move it", func(_ *testing.T, _ *fake, o *Options) { o.Program = "/tmp/deedkeep" }},
		{"newline", "control characters", func(_ *testing.T, _ *fake, o *Options) { o.Data = "/srv/a\nUser=root" }},
		{"root", "can't be the account", func(_ *testing.T, _ *fake, o *Options) { o.User = "root" }},
		{"specifier", "can't be the account", func(_ *testing.T, _ *fake, o *Options) { o.User = "a%u" }},
		{"owner", "leave out --user", func(t *testing.T, f *fake, o *Options) {
			dir := filepath.Join(f.dir, o.Data)
			if err := os.MkdirAll(filepath.Join(dir, "blobs"), 0o700); err != nil {
				t.Fatal(err)
			}
			if os.Getuid() == 0 {
				if err := os.Chown(dir, 65534, 65534); err != nil {
					t.Fatal(err)
				}
			}
			o.User = "other"
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, o := newFake(t), options
			row.change(t, f, &o)
			s := &systemd{machine: f.machine, name: "deedkeep"}
			err := s.Install(t.Context(), o)
			if got, changed := f.take(); err == nil || !strings.Contains(err.Error(), row.want) || got != "" || changed {
				t.Errorf("got %v, %q, changed: %v; want the error %q and no changes", err, got, changed, row.want)
			}
		})
	}
	f := newFake(t)
	f.machine.readable = func(*user.User, string) bool { return false }
	o := options
	o.Settings = "/etc/deedkeep/config.yaml"
	if err := (&systemd{machine: f.machine, name: "deedkeep"}).Install(t.Context(), o); err == nil || !strings.Contains(err.Error(),
		"chmod 640 "+o.Settings) {
		t.Errorf("unreadable settings: got %v", err)
	}
	f = newFake(t)
	f.fails = "systemctl start"
	if err := (&systemd{machine: f.machine, name: "deedkeep"}).Install(t.Context(), options); err == nil ||
		!strings.Contains(err.Error(), "port 80 is in use") {
		t.Errorf("failing start: got %v, want its messages", err)
	}
}

// launchd gets the same service, with the commands that its manual names. macOS isn't needed for this test, and didn't
// run any of it.
func TestLaunchd(t *testing.T) {
	f := newFake(t)
	l := &launchd{machine: f.machine, name: "deedkeep"}
	o := Options{Program: "/usr/local/bin/deed&keep", Data: "/var/lib/a <b>"}
	if err := l.Install(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	got, _ := f.take()
	for _, want := range []string{"/_deedkeep UniqueID 401", "launchctl bootstrap system " + l.path()} {
		if !strings.Contains(got, want) {
			t.Errorf("install: got %q, want %q", got, want)
		}
	}
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(f.dir, o.Data), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	state, err := l.State(t.Context())
	if err != nil || state.Program != o.Program || state.Data != o.Data || !state.Running {
		t.Errorf("state: got %+v, %v", state, err)
	}
	text, err := os.ReadFile(l.path())
	if err != nil || !slices.Contains(strings.Split(string(text), "\n"), "\t\t<string>/usr/local/bin/deed&amp;keep</string>") {
		t.Errorf("plist: got %v,\n%s", err, text)
	}
	for _, step := range []struct {
		want string
		do   func(context.Context) error
	}{
		{"launchctl bootout system/deedkeep", l.Stop}, {"", l.Stop}, {"launchctl bootstrap system " + l.path(), l.Start}, {"", l.Start},
		{"launchctl bootout system/deedkeep", l.Uninstall}, {"", l.Uninstall},
	} {
		err := step.do(t.Context())
		if got, _ := f.take(); err != nil || got != step.want {
			t.Errorf("got %v, %q, want %q", err, got, step.want)
		}
	}
}
