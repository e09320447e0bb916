package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/control"
	"deedkeep/app/instance"
	"deedkeep/app/service"
)

func (s *shell) serviceCommand() *cobra.Command {
	var name string
	// step returns a subcommand that changes the service and prints what it did.
	step := func(use, short, long, example string, do func(*cobra.Command, service.Manager) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Long: long, Example: example, RunE: func(cmd *cobra.Command, _ []string) error {
			return s.changeService(name, func(m service.Manager) error { return do(cmd, m) })
		}}
	}
	cmd := commandGroup("service", "Manage the service that runs the server",
		"  deedkeep service install --data /srv/deedkeep\n  deedkeep service status",
		s.serviceInstall(step),
		step("uninstall", "Delete the service", `Delete the service. It is stopped first. The data, the settings, and the account of the
server stay. If a package installed the service, it is stopped and disabled, and stays
until you remove the package.`, "  deedkeep service uninstall",
			func(cmd *cobra.Command, m service.Manager) error { return m.Uninstall(cmd.Context()) }),
		step("start", "Start the service", "", "  deedkeep service start",
			func(cmd *cobra.Command, m service.Manager) error { return m.Start(cmd.Context()) }),
		step("stop", "Stop the service", `Stop the service. It finishes requests in progress first. It starts again with the
computer.`, "  deedkeep service stop",
			func(cmd *cobra.Command, m service.Manager) error { return m.Stop(cmd.Context()) }),
		step("restart", "Restart the service", "", "  deedkeep service restart",
			func(cmd *cobra.Command, m service.Manager) error { return m.Restart(cmd.Context()) }),
		s.serviceStatus(&name), s.serviceLogs(&name))
	cmd.PersistentFlags().StringVar(&name, "name", service.DefaultName, "name of the service")
	return cmd
}

func (s *shell) serviceInstall(step func(use, short, long, example string, do func(*cobra.Command,
	service.Manager) error) *cobra.Command) *cobra.Command {
	var user string
	cmd := step("install", "Create and start a service that runs the server",
		`Create and start a service that runs the server: with systemd on Linux, as a service of
Windows, or with launchd on macOS. It starts with the computer, and again after a
failure. The command prints each step. Run it again after you moved the program, the
data, or the settings file: it changes what differs.

The server runs as the owner of the data directory. Without one, the command creates
`+s.installedData()+` and the account deedkeep (on macOS _deedkeep) for it. On
Windows, the account is NT SERVICE\deedkeep, and only it, SYSTEM, and Administrators get
access to the data directory. --user names another account.

If a package installed the service, the command only starts it.`, `  deedkeep service install
  deedkeep service install --data /srv/deedkeep`,
		func(cmd *cobra.Command, m service.Manager) error {
			o, err := s.serviceOptions(cmd.Context(), m, user)
			if err != nil {
				return err
			}
			return m.Install(cmd.Context(), o)
		})
	cmd.Flags().StringVar(&user, "user", "", "account that the server runs as (default: owner of the data directory)")
	return cmd
}

// installedData returns the data directory of a package for the help.
func (s *shell) installedData() string {
	if filepath.Separator == '\\' {
		return `%ProgramData%\deedkeep`
	}
	return "/var/lib/deedkeep"
}

// serviceChange is the output of commands that change the service.
type serviceChange struct {
	Name    string   `json:"name"`
	Changed bool     `json:"changed"`
	Steps   []string `json:"steps"`
}

// changeService calls change with the manager of a service and prints each step.
func (s *shell) changeService(name string, change func(service.Manager) error) error {
	out := serviceChange{Name: name, Steps: []string{}}
	m, err := s.services(name, func(changed bool, step string) {
		out.Changed, out.Steps = out.Changed || changed, append(out.Steps, step)
		if !s.json {
			_ = s.printf("%s\n", step) // the change continues if standard output is closed
		}
	})
	if err != nil {
		return &usageError{err}
	}
	if err := change(m); err != nil || !s.json {
		return err
	}
	return s.printJSON(out)
}

// serviceOptions returns how a service runs the server: with this program, and with the settings file and
// the data directory that this command finds. If nothing names a data directory, that is the one of the
// installed service, or the one of a package.
func (s *shell) serviceOptions(ctx context.Context, m service.Manager, user string) (o service.Options, err error) {
	o.Flags = user != "" || s.file != "" || s.flags.Changed("data")
	installed, err := m.State(ctx)
	if err != nil {
		return o, err
	}
	if s.file == "" {
		s.file = installed.Config
	}
	c, err := s.load(ctx, nil)
	if err != nil {
		return o, err
	}
	if c.SourceOf("data") == "" {
		dir := installed.Data
		if dir == "" {
			dir = s.installed.Data
			if instance.Exists(c.Data) {
				return o, &usageError{fmt.Errorf("%s contains data; to use it, set --data to its absolute path; for a new data directory, use --data %s", c.Data, dir)}
			}
		}
		if err := s.flags.Set("data", dir); err != nil {
			return o, err
		}
		if c, err = s.load(ctx, nil); err != nil {
			return o, err
		}
	}
	o.User = user
	if o.Program, err = invokedProgram(); err != nil {
		return o, err
	}
	for to, path := range map[*string]string{&o.Data: c.Data, &o.Config: s.file, &o.Settings: c.File()} {
		if path == "" {
			continue
		}
		if *to, err = filepath.Abs(path); err != nil {
			return o, err
		}
	}
	if filepath.IsAbs(c.Backup.To) {
		o.Writable = []string{filepath.Clean(c.Backup.To)}
	}
	return o, nil
}

// invokedProgram returns the path under which this program was started. os.Executable would follow a
// symbolic link to a version that an upgrade removes.
func invokedProgram() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	running, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(os.Args[0])
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err == nil {
		if invoked, statErr := os.Stat(found); statErr == nil && os.SameFile(invoked, running) { // #nosec G703 -- only compared
			return found, nil
		}
	}
	return program, nil
}

// serviceState is the output of `service status`. Address is nil if the server doesn't respond.
type serviceState struct {
	Name string `json:"name"`
	service.State
	Address *string `json:"address"`
}

func (s *shell) serviceStatus(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether the service is installed and running",
		Long: `Show whether the service is installed and running. "deedkeep status" shows the state of
the server.

Exit code 1: the service isn't running.`,
		Example: "  deedkeep service status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := s.services(*name, func(bool, string) {})
			if err != nil {
				return &usageError{err}
			}
			state, err := m.State(cmd.Context())
			if err != nil {
				return err
			}
			out := serviceState{Name: *name, State: state}
			if state.Running {
				out.Address = s.serverAddress(cmd.Context(), &out.Data)
			}
			if err := s.print(out, "%s", table(out.rows())); err != nil {
				return err
			}
			flag := ""
			if *name != service.DefaultName {
				flag = " --name " + *name
			}
			switch {
			case !state.Installed:
				return fmt.Errorf("the service isn't installed; run: deedkeep service install%s", flag)
			case !state.Running:
				return fmt.Errorf("the service isn't running; run: deedkeep service start%s", flag)
			}
			return nil
		},
	}
}

// serverAddress returns the address of the server of a data directory, or nil if it doesn't respond. If
// data is empty, the settings say which one it is.
func (s *shell) serverAddress(ctx context.Context, data *string) *string {
	if *data == "" {
		c, err := s.load(ctx, nil)
		if err != nil {
			return nil
		}
		*data = c.Data
	}
	status, err := control.NewClient(control.RoundTripper(*data)).Status(ctx)
	if err != nil || status.Listen == nil {
		return nil
	}
	address := "http://" + *status.Listen
	if status.Certificate != nil {
		address = "https://" + *status.Listen
	}
	return &address
}

func (s serviceState) rows() [][]string {
	state := "not installed"
	switch {
	case s.Running && s.Address != nil:
		state = "running at " + *s.Address
	case s.Running:
		state = "running"
	case s.Installed:
		state = "stopped"
	}
	starts := "no"
	if s.Enabled {
		starts = "yes"
	}
	rows := [][]string{{"service", s.Name}, {"state", state}}
	if !s.Installed {
		return rows
	}
	rows = append(rows, []string{"starts with the computer", starts})
	for _, row := range [][]string{{"account", s.Account}, {"program", s.Program}, {"data", s.Data}, {"settings", s.Config}, {"unit",
		s.Unit}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

func (s *shell) serviceLogs(name *string) *cobra.Command {
	var lines int
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Print the log of the service",
		Long: `Print the log of the service: from the journal on Linux, the Event Log on Windows (the
newest first), and /var/log on macOS.`,
		Example: "  deedkeep service logs --follow",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 1 || follow && s.json {
				return argumentErrorf(cmd, "--lines must be 1 or more, and --follow doesn't work with --json")
			}
			m, err := s.services(*name, func(bool, string) {})
			if err != nil {
				return &usageError{err}
			}
			command, err := m.Logs(lines, follow)
			if err != nil {
				return err
			}
			return s.runLogs(cmd.Context(), command)
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 50, "number of lines (on Windows: of events)")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines until Ctrl-C (not on Windows)")
	return cmd
}

// runLogs runs a command that prints a log.
func (s *shell) runLogs(ctx context.Context, command []string) error {
	var out, problems bytes.Buffer
	run := exec.CommandContext(ctx, command[0], command[1:]...) // #nosec G204 -- a command of the service manager
	run.Stdout, run.Stderr = s.out, &problems
	if s.json {
		run.Stdout = &out
	}
	if err := run.Run(); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(problems.String())))
	}
	if !s.json {
		return nil
	}
	return s.printJSON(map[string][]string{"lines": strings.Split(strings.TrimRight(out.String(), "\n"), "\n")})
}
