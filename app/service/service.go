// Package service installs and controls the server as a service of systemd, launchd, or Windows, and
// tells the service manager when the server is ready and when it stops.
package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultName is the name of the service, and on Linux also of its account.
const DefaultName = "deedkeep"

// Options say how a service runs the server.
type Options struct {
	Program  string   // path of this program
	User     string   // account that the server runs as; if it is empty, the owner of the data directory or a default
	Data     string   // data directory
	Config   string   // value of --config
	Settings string   // settings file that the server will read, if there is one
	Writable []string // other directories that the server writes to
	Flags    bool     // whether the command line sets User, Data, or Config
}

// State is the state of a service.
type State struct {
	Installed bool   `json:"installed"`
	Running   bool   `json:"running"`
	Enabled   bool   `json:"enabled"` // starts with the computer
	Manager   string `json:"manager"` // systemd, launchd, or windows
	Account   string `json:"account"`
	Program   string `json:"program"`
	Data      string `json:"data"` // "" if the settings file decides
	Config    string `json:"config"`
	Unit      string `json:"unit"` // file of systemd or launchd that describes the service
}

// A Manager installs and controls one service. Its methods do nothing if the service is already as
// asked. They report each step.
type Manager interface {
	Install(context.Context, Options) error
	Uninstall(context.Context) error
	Start(context.Context) error
	Stop(context.Context) error
	Restart(context.Context) error
	State(context.Context) (State, error)
	// Logs returns a command that prints the latest log lines of the service.
	Logs(lines int, follow bool) (command []string, err error)
}

// Report gets a sentence about a step. changed is false if there was nothing to do.
type Report func(changed bool, step string)

func (r Report) did(format string, args ...any)     { r(true, fmt.Sprintf(format, args...)) }
func (r Report) already(format string, args ...any) { r(false, fmt.Sprintf(format, args...)) }

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,62}$`)

// CheckName returns an error if name can't be the name of a service.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%q is not a valid service name; use up to 63 letters, digits, hyphens, and underscores, beginning with a letter", name)
	}
	return nil
}

// checkPath returns an error if the service can't use a path.
func checkPath(path string) error {
	if !filepath.IsAbs(path) || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return fmt.Errorf("a service can't use the path %q; choose an absolute path without control characters", path)
	}
	return nil
}

func (o Options) check() error {
	for _, path := range append([]string{o.Program, o.Data, o.Config}, o.Writable...) {
		if path != "" {
			if err := checkPath(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// arguments returns the command line of the server.
func (o Options) arguments() []string {
	args := []string{"serve"}
	if o.Data != "" {
		args = append(args, "--data", o.Data)
	}
	if o.Config != "" {
		args = append(args, "--config", o.Config)
	}
	return args
}

// readArguments sets the state to what a command line says.
func (s *State) readArguments(args []string) {
	if len(args) > 0 {
		s.Program = args[0]
	}
	for i := 1; i+1 < len(args); i++ {
		switch args[i] {
		case "--data":
			s.Data = args[i+1]
		case "--config":
			s.Config = args[i+1]
		}
	}
}

// errNotInstalled says that there is no service to control.
func errNotInstalled(name string) error {
	return fmt.Errorf("no service %s is installed; run: deedkeep service install%s", name, nameFlag(name))
}

// nameFlag returns the flag that a command needs for a service with this name.
func nameFlag(name string) string {
	if name == DefaultName {
		return ""
	}
	return " --name " + name
}

// ErrUnsupported is returned if this machine has no service manager that is supported.
var ErrUnsupported = errors.New("no service manager")
