// Package cmd implements the command line. Each command has its own file. It parses its
// arguments, calls the vault through the control API, prints the result, and returns an
// exit code. Commands contain no business logic.
//
// Data goes to standard output and messages go to standard error. With --json, a command
// prints exactly one JSON document.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deedkeep/app/blobstore"
	"deedkeep/app/config"
	"deedkeep/app/errs"
	"deedkeep/app/sandbox"
	"deedkeep/app/service"
	"deedkeep/web"
)

// Main runs the command line of this process and returns its exit code. example is the
// content of config.example.yaml, which this package can't embed. Main first checks whether
// the process is a sandbox worker or a process of the vault's owner, because these must
// write only their protocol to standard output.
func Main(example string) int { return runProgram(example, config.InstalledPaths()) }

// runProgram is Main with the paths of an installed package.
func runProgram(example string, installed config.Installed) int {
	if sandbox.IsWorker(os.Args) {
		return sandbox.RunWorker(sandbox.Assets{PDFium: web.PDFium, Tesseract: web.Tesseract, English: web.English})
	}
	if isOwnerProcess(os.Args) {
		return runOwnerProcess(os.Stdin, os.Stdout, os.Stderr)
	}
	if service.StartedByWindows() {
		return service.RunForWindows(exitUsage, func(ctx context.Context, ready func(), messages io.Writer) int {
			s := newShell(os.Stdin, messages, messages)
			s.example, s.installed, s.notifier.OnReady = example, installed, ready
			return s.run(ctx, os.Args[1:])
		})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal, restore the default handling, so that a second Ctrl-C ends
	// the process immediately.
	context.AfterFunc(ctx, stop)
	s := newShell(os.Stdin, os.Stdout, os.Stderr)
	s.example, s.installed = example, installed
	return s.run(ctx, os.Args[1:])
}

// newShell returns a shell that writes data to out and messages for the user to messages.
func newShell(in io.Reader, out, messages io.Writer) *shell {
	return &shell{in: in, out: out, messages: messages, checkAssets: web.Ready, fileSystemType: blobstore.FileSystemType,
		isInteractive: isTerminalReader,
		services:      service.New}
}

func (s *shell) run(ctx context.Context, args []string) int {
	out := &outputTracker{Writer: s.out}
	s.out = out
	root := s.root()
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.messages)
	err := root.ExecuteContext(ctx)
	if _, explained := errors.AsType[*argumentError](err); err != nil && !s.parsed && !explained {
		err = &usageError{fmt.Errorf("%w (see \"deedkeep help\")", err)}
	}
	code := s.exitCode(ctx, err)
	if !s.parsed { // cobra may have stopped before it parsed the flag --json
		s.json = s.json || slices.Contains(args, "--json")
	}
	if s.json && code != exitDone && !out.wrote {
		_ = s.printJSON(jsonFailure(ctx, err)) // the exit code reports the failure anyway
	}
	return code
}

// shell is the state shared by all commands: streams, global flags, and dependencies that
// tests replace.
type shell struct {
	in              io.Reader
	out, messages   io.Writer
	json            bool
	file            string // --config
	flags           *pflag.FlagSet
	zone            atomic.Pointer[time.Location] // the office's time zone; set by load or by call
	parsed          bool                          // whether the command line was parsed without errors
	runAs, operator string                        // set if root switched users: the new user, and the operator's name before the switch

	example   string           // content of config.example.yaml, for "config example"
	installed config.Installed // where an installed package has its settings file

	// Tests replace these functions. They check the embedded assets, return the type of a
	// directory's file system, and report whether a user can respond to a prompt.
	checkAssets    func() error
	fileSystemType func(path string) (kind string, network bool, err error)

	isInteractive func(in io.Reader) bool

	notifier service.Notifier // of the service manager that started this process
	services func(name string, report service.Report) (service.Manager, error)
}

// settingsByFlag maps each flag to the setting that it overrides.
var settingsByFlag = map[string]string{
	"data":       "data",
	"listen":     "listen",
	"log-format": "log.format",
	"log-level":  "log.level",
}

func (s *shell) root() *cobra.Command {
	defaults := config.Default()
	root := &cobra.Command{
		Use:   "deedkeep",
		Short: "Manage a title firm's orders, abstracts, and documents",
		Long: `deedkeep stores a title firm's orders, abstracts, and documents. Run "deedkeep serve" to
start the server. Guides ("deedkeep help GUIDE"):

` + topicTable() + "\n\n" + exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			s.parsed, s.flags = true, cmd.Flags()
		},
	}
	flags := root.PersistentFlags()
	flags.String("data", defaults.Data, "data directory")
	flags.StringVar(&s.file, "config", "",
		"settings file (default: config.yaml in the data directory, next to the binary, or "+config.InstalledPaths().File+")")
	flags.BoolVar(&s.json, "json", false, "JSON output: one document")
	flags.String("log-format", defaults.Log.Format, "log format: text or json")
	flags.String("log-level", defaults.Log.Level, "log level: debug, info, warn, or error")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return argumentErrorf(cmd, "%w", err) })
	root.AddCommand(s.serveCommand(), s.keysCommand(), s.usersCommand(), s.configCommand(), s.statusCommand(), s.processCommand(),
		s.demoCommand(), s.verifyCommand(), s.reindexCommand(), s.doctorCommand(), s.eventsCommand(), s.versionCommand(),
		s.backupCommand(), s.restoreCommand(), s.rollbackCommand(), s.templatesCommand(), s.fieldsCommand(), s.statusesCommand(),
		s.typesCommand(), s.importCommand(), s.trashCommand(), s.serviceCommand())
	root.SetHelpCommand(s.helpCommand(root))
	checkArgCounts(root)
	s.registerCompletions(root)
	return root
}

// commandGroup returns a command that has only subcommands. If no known subcommand is
// given, it fails with a usage error, so that scripts notice the mistake.
func commandGroup(use, short, example string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: example}
	var names []string
	for _, sub := range subcommands {
		names = append(names, sub.Name())
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		problem := "missing subcommand"
		if len(args) > 0 {
			problem = fmt.Sprintf("unknown subcommand %q", args[0])
		}
		return &usageError{fmt.Errorf("%s (subcommands of \"deedkeep %s\": %s)", problem, use, strings.Join(names, ", "))}
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// load reads the settings. Flags override environment variables, which override the
// settings file, which overrides what is stored in the data directory, which overrides the
// defaults. A stored value is ignored if check reports a problem with it.
func (s *shell) load(ctx context.Context, check func(config.Config) config.Problems) (config.Config, error) {
	return s.loadFrom(check, func(dir string) (map[string]string, error) { return storedSettings(ctx, dir, 0) })
}

// loadForServer is like load, but waits for a command that has opened the vault. It returns
// an error if that takes too long, because the server must not start without what is stored.
func (s *shell) loadForServer(ctx context.Context) (config.Config, error) {
	var failed error
	c, err := s.loadFrom(storedProblems, func(dir string) (stored map[string]string, err error) {
		stored, failed = storedSettings(ctx, dir, openTimeout)
		return stored, failed
	})
	if err == nil && errs.KindOf(failed) == errs.Locked {
		err = failed
	}
	return c, err
}

// loadWith returns the settings with the given values as those that are stored.
func (s *shell) loadWith(stored map[string]string) (config.Config, error) {
	return s.loadFrom(storedProblems, func(string) (map[string]string, error) { return stored, nil })
}

func (s *shell) loadFrom(check func(config.Config) config.Problems,
	stored func(dir string) (map[string]string, error)) (config.Config, error) {
	src := s.configSource()
	src.Check, src.Stored = check, stored
	c, err := config.Load(src)
	if err != nil {
		return c, &usageError{err}
	}
	if c.TimeZone == "" {
		s.zone.Store(nil)
	} else {
		s.zone.Store(c.Location())
	}
	return c, nil
}

// configSource returns the sources of this command's settings.
func (s *shell) configSource() config.Source {
	values := map[string]string{}
	for flag, key := range settingsByFlag {
		if f := s.flags.Lookup(flag); f != nil && f.Changed {
			values[key] = f.Value.String()
		}
	}
	programDir := ""
	if program, err := os.Executable(); err == nil {
		programDir = filepath.Dir(program)
	}
	return config.Source{File: s.file, BinaryDir: programDir, Installed: s.installed, Env: os.Environ(), Flags: values}
}

// settingsFile returns the path of the settings file in use. If there isn't one, exists is
// false and path is the first path that was searched.
func (s *shell) settingsFile() (path string, exists bool, err error) {
	found, searched, err := s.configSource().Files()
	if err != nil || found != "" {
		return found, found != "", err
	}
	return searched[0], false, nil
}

// logger returns a logger that writes to standard error. Its level is the configured level
// or minLevel, whichever is higher.
func (s *shell) logger(c config.Config, minLevel slog.Level) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Log.Level)) // can't fail, because config.Load validates the level
	options := &slog.HandlerOptions{Level: max(level, minLevel)}
	if strings.EqualFold(c.Log.Format, "json") {
		return slog.New(slog.NewJSONHandler(s.messages, options))
	}
	return slog.New(slog.NewTextHandler(s.messages, options))
}

// usageError is an error in the arguments or settings. The command exits with exitUsage.
type usageError struct{ error }

func (u *usageError) Unwrap() error { return u.error }

var errDamage = errors.New("damage found")
