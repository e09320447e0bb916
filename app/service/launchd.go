//go:build !windows

package service

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deedkeep/app/durable"
)

// launchd manages a service of launchd.
type launchd struct {
	machine
	name string
}

// launchdUser is the default account. Names of system accounts of macOS begin with an underscore.
const launchdUser = "_deedkeep"

func (l *launchd) path() string {
	return filepath.Join(l.root, "Library", "LaunchDaemons", l.name+".plist")
}
func (l *launchd) log() string { return filepath.Join(l.root, "var", "log", l.name+".log") }

// plist returns the description of the service. launchd starts the server again if it fails.
func (l *launchd) plist(o Options) string {
	var b bytes.Buffer
	text := func(s string) string {
		b.Reset()
		_ = xml.EscapeText(&b, []byte(s)) // writing to memory can't fail
		return b.String()
	}
	args := ""
	for _, arg := range append([]string{o.Program}, o.arguments()...) {
		args += "\t\t<string>" + text(arg) + "</string>\n"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by "deedkeep service install", which replaces changes. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + l.name + `</string>
	<key>UserName</key>
	<string>` + text(o.User) + `</string>
	<key>ProgramArguments</key>
	<array>
` + args + `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ExitTimeOut</key>
	<integer>60</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>StandardOutPath</key>
	<string>` + l.log() + `</string>
	<key>StandardErrorPath</key>
	<string>` + l.log() + `</string>
</dict>
</plist>
`
}

// readPlist returns what the description of a service says, if plist wrote it.
func readPlist(text string) (s State, ours bool) {
	decoder := xml.NewDecoder(strings.NewReader(text))
	key, args := "", []string(nil)
	for {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		start, isStart := token.(xml.StartElement)
		var value string
		if !isStart || start.Name.Local != "key" && start.Name.Local != "string" || decoder.DecodeElement(&value, &start) != nil {
			continue
		}
		switch {
		case start.Name.Local == "key":
			key = value
		case key == "UserName":
			s.Account = value
		case key == "ProgramArguments":
			args = append(args, value)
		}
	}
	s.readArguments(args)
	return s, strings.Contains(text, `Written by "deedkeep service install"`)
}

func (l *launchd) find() (s State, text string, err error) {
	path := l.path()
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Manager: "launchd"}, "", nil
	}
	if err != nil {
		return s, "", err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return s, "", err
	}
	s, ours := readPlist(string(content))
	s.Manager, s.Installed, s.Enabled, s.Unit = "launchd", true, true, path
	if !ours || !info.Mode().IsRegular() {
		return s, "", fmt.Errorf(`"deedkeep service install" didn't write %s; move it away, or choose another name with --name`, path)
	}
	return s, string(content), nil
}

func (l *launchd) State(ctx context.Context) (State, error) {
	s, _, err := l.find()
	if err == nil && s.Installed {
		s.Running = l.running(ctx)
	}
	return s, err
}

func (l *launchd) running(ctx context.Context) bool {
	out, err := l.run(ctx, "launchctl", "print", "system/"+l.name)
	return err == nil && strings.Contains(out, "state = running")
}

// loaded reports whether launchd knows the service: it runs, or launchd starts it again.
func (l *launchd) loaded(ctx context.Context) bool {
	_, err := l.run(ctx, "launchctl", "print", "system/"+l.name)
	return err == nil
}

func (l *launchd) Install(ctx context.Context, o Options) error {
	if err := l.requireRoot(); err != nil {
		return err
	}
	_, text, err := l.find()
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.User, err = l.prepareData(ctx, o, launchdUser, l.addUser); err != nil {
		return err
	}
	if err := l.checkReadable(o.User, o.Settings); err != nil {
		return err
	}
	if text == l.plist(o) {
		l.report.already("%s is already as asked", l.path())
		return l.start(ctx)
	}
	if err := l.createLog(o.User); err != nil {
		return err
	}
	if err := durable.WriteFile(l.path(), []byte(l.plist(o)), 0o644); err != nil {
		return err
	}
	l.report.did("wrote %s: the service runs as %s and starts with the computer", l.path(), o.User)
	if l.loaded(ctx) {
		if _, err := l.run(ctx, "launchctl", "bootout", "system/"+l.name); err != nil {
			return err
		}
	}
	return l.start(ctx)
}

// createLog creates the log file of the service, because its account can't create files there.
func (l *launchd) createLog(name string) error {
	account, err := l.lookup(name)
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(account.Uid)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(l.log(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), l.chown(l.log(), uid, -1))
}

// addUser creates a hidden system account with the first free ID of system accounts.
func (l *launchd) addUser(ctx context.Context, name string) error {
	out, err := l.run(ctx, "dscl", ".", "-list", "/Users", "UniqueID")
	if err != nil {
		return err
	}
	groups, err := l.run(ctx, "dscl", ".", "-list", "/Groups", "PrimaryGroupID")
	if err != nil {
		return err
	}
	used, id := strings.Fields(out+" "+groups), 0
	for candidate := 400; candidate < 500 && id == 0; candidate++ {
		if !strings.Contains(" "+strings.Join(used, " ")+" ", fmt.Sprintf(" %d ", candidate)) {
			id = candidate
		}
	}
	if id == 0 {
		return errors.New("no ID is free for a system account; create an account, and name it with --user")
	}
	for _, row := range [][]string{
		{"/Groups/" + name}, {"/Groups/" + name, "PrimaryGroupID", strconv.Itoa(id)},
		{"/Users/" + name}, {"/Users/" + name, "UniqueID", strconv.Itoa(id)}, {"/Users/" + name, "PrimaryGroupID", strconv.Itoa(id)},
		{"/Users/" + name, "UserShell", "/usr/bin/false"}, {"/Users/" + name, "NFSHomeDirectory", "/var/empty"},
		{"/Users/" + name, "RealName", "deedkeep server"}, {"/Users/" + name, "IsHidden", "1"},
	} {
		if _, err := l.run(ctx, "dscl", append([]string{".", "-create"}, row...)...); err != nil {
			return err
		}
	}
	return nil
}

func (l *launchd) Uninstall(ctx context.Context) error {
	if err := l.requireRoot(); err != nil {
		return err
	}
	s, _, err := l.find()
	if err != nil {
		return err
	}
	if !s.Installed {
		l.report.already("no service %s is installed", l.name)
		return nil
	}
	if err := errors.Join(l.Stop(ctx), os.Remove(l.path())); err != nil {
		return err
	}
	l.report.did("removed %s", l.path())
	l.report.already("the data stays in %s, and so do the account %s and the log %s", s.Data, s.Account, l.log())
	return nil
}

// require returns an error if the service isn't installed or this process can't change it.
func (l *launchd) require() error {
	if err := l.requireRoot(); err != nil {
		return err
	}
	return l.installed()
}

// installed returns an error if the service isn't installed.
func (l *launchd) installed() error {
	s, _, err := l.find()
	if err == nil && !s.Installed {
		err = errNotInstalled(l.name)
	}
	return err
}

func (l *launchd) Start(ctx context.Context) error {
	if err := l.require(); err != nil {
		return err
	}
	return l.start(ctx)
}

func (l *launchd) start(ctx context.Context) error {
	if l.running(ctx) {
		l.report.already("%s is already running", l.name)
		return nil
	}
	command := []string{"bootstrap", "system", l.path()}
	if l.loaded(ctx) {
		command = []string{"kickstart", "system/" + l.name}
	}
	if _, err := l.run(ctx, "launchctl", command...); err != nil {
		return err
	}
	l.report.did("started %s", l.name)
	return nil
}

func (l *launchd) Stop(ctx context.Context) error {
	if err := l.require(); err != nil {
		return err
	}
	if !l.loaded(ctx) {
		l.report.already("%s is already stopped", l.name)
		return nil
	}
	if _, err := l.run(ctx, "launchctl", "bootout", "system/"+l.name); err != nil {
		return err
	}
	l.report.did("stopped %s", l.name)
	return nil
}

func (l *launchd) Restart(ctx context.Context) error { return errors.Join(l.Stop(ctx), l.Start(ctx)) }

func (l *launchd) Logs(lines int, follow bool) ([]string, error) {
	command := []string{"tail", "-n", strconv.Itoa(lines)}
	if follow {
		command = append(command, "-F")
	}
	return append(command, l.log()), l.installed()
}
