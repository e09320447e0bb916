// Package cmd is the command line: one file per command. A command parses, asks
// the vault through the one door, prints, and knows its exit code; it decides
// nothing else.
//
// Data goes to standard output, everything else to standard error. With --json a
// command prints one JSON document.
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
	"deedkeep/app/sandbox"
	"deedkeep/web"
)

// Main runs the command line of the process and gives its exit code. The hidden
// word of a reading child comes before everything else: its standard output
// carries frames only. example is config.example.yaml, which lies above this package.
func Main(example string) int {
	if sandbox.IsWorker(os.Args) {
		return sandbox.RunWorker(web.PDFium)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Whoever asks a second time does not want to wait for what is under way.
	context.AfterFunc(ctx, stop)
	s := newShell(os.Stdin, os.Stdout, os.Stderr)
	s.example = example
	return s.run(ctx, os.Args[1:])
}

// Run runs one command line and gives its exit code (exit.go).
func Run(ctx context.Context, args []string, in io.Reader, out, messages io.Writer) int {
	return newShell(in, out, messages).run(ctx, args)
}

func newShell(in io.Reader, out, messages io.Writer) *shell {
	return &shell{in: in, out: out, messages: messages, checkAssets: web.Ready, fileSystemType: blobstore.FileSystemType, isInteractive: isTerminalReader}
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
	if _, told := errors.AsType[*argumentError](err); err != nil && !s.parsed && !told {
		err = &usageError{fmt.Errorf("%w; \"deedkeep help\" shows what there is", err)}
	}
	code := s.exitCode(ctx, err)
	if !s.parsed { // then the flags may not have been come to
		s.json = s.json || slices.Contains(args, "--json")
	}
	if s.json && code != exitDone && !out.wrote {
		_ = s.printJSON(jsonFailure(ctx, err)) // the code tells all the same
	}
	return code
}

// shell is what every command has at hand.
type shell struct {
	in              io.Reader
	out, messages   io.Writer
	json            bool
	file            string // --config
	flags           *pflag.FlagSet
	zone            atomic.Pointer[time.Location] // set by load
	parsed          bool                          // the command line was understood
	runAs, operator string                        // the user that root became, and who typed; "" where root became none

	example string // the settings with their defaults, for config example

	// What a test replaces: whether the assets are there, and where a directory lies.
	checkAssets    func() error
	fileSystemType func(path string) (kind string, network bool, err error)

	isInteractive func(in io.Reader) bool // whether someone can answer a question
}

// settingsByFlag are the flags that are settings: by flag, the key of config.example.yaml.
var settingsByFlag = map[string]string{
	"data":       "data",
	"listen":     "listen",
	"log-format": "log.format",
	"log-level":  "log.level",
}

func (s *shell) root() *cobra.Command {
	standard := config.Default()
	root := &cobra.Command{
		Use:   "deedkeep",
		Short: "The title-abstract, order and document vault of a small title firm",
		Long: `The title-abstract, order and document vault of a small title firm: programs push
to it over HTTP, and these commands run it. "deedkeep serve" begins. There are guides:

` + topicTable() + "\n\n" + exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			s.parsed, s.flags = true, cmd.Flags()
		},
	}
	global := root.PersistentFlags()
	global.String("data", standard.Data, "the data directory")
	global.StringVar(&s.file, "config", "", "the settings (default: config.yaml in the data directory, then beside the binary)")
	global.BoolVar(&s.json, "json", false, "print one JSON document")
	global.String("log-format", standard.Log.Format, "text or json")
	global.String("log-level", standard.Log.Level, "debug, info, warn or error")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return argumentErrorf(cmd, "%w", err) })
	root.AddCommand(s.serveCommand(), s.keysCommand(), s.usersCommand(), s.configCommand(), s.statusCommand(), s.processCommand(), s.verifyCommand(), s.reindexCommand(), s.doctorCommand(), s.eventsCommand(), s.versionCommand(),
		s.backupCommand(), s.restoreCommand(), s.templatesCommand(), s.fieldsCommand(), s.statusesCommand(), s.importCommand(), s.trashCommand())
	root.SetHelpCommand(s.helpCommand(root))
	explainArgCounts(root)
	s.registerCompletions(root)
	return root
}

// commandGroup is a command that only holds others: without one of them, or with a word
// that is none, nothing was done, and a script must learn it.
func commandGroup(use, short, example string, parts ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: example}
	var names []string
	for _, part := range parts {
		names = append(names, part.Name())
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		said := "nothing is asked"
		if len(args) > 0 {
			said = fmt.Sprintf("unknown command %q", args[0])
		}
		return &usageError{fmt.Errorf("%s; %s has: %s", said, use, strings.Join(names, ", "))}
	}
	cmd.AddCommand(parts...)
	return cmd
}

// load reads the settings: flag beats environment beats file beats default.
func (s *shell) load() (config.Config, error) {
	c, err := config.Load(s.configSource())
	if err != nil {
		return c, &usageError{err}
	}
	s.zone.Store(c.Location())
	return c, nil
}

// configSource is where the settings of this command line come from.
func (s *shell) configSource() config.Source {
	set := map[string]any{}
	for flag, key := range settingsByFlag {
		if f := s.flags.Lookup(flag); f != nil && f.Changed {
			set[key] = f.Value.String()
		}
	}
	beside := ""
	if program, err := os.Executable(); err == nil {
		beside = filepath.Dir(program)
	}
	dir, _ := set["data"].(string)
	return config.Source{DataDir: dir, File: s.file, BinaryDir: beside, Env: os.Environ(), Flags: set}
}

// settingsFile is the settings file that is read. If there is none, it is the one to create, and exists is false.
func (s *shell) settingsFile() (path string, exists bool, err error) {
	read, looked, err := s.configSource().Files()
	if err != nil || read != "" {
		return read, read != "", err
	}
	return looked[0], false, nil
}

// logger writes to standard error, at least at the given level.
func (s *shell) logger(c config.Config, least slog.Level) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		level = slog.LevelInfo // config has checked the word
	}
	options := &slog.HandlerOptions{Level: max(level, least)}
	if strings.EqualFold(c.Log.Format, "json") {
		return slog.New(slog.NewJSONHandler(s.messages, options))
	}
	return slog.New(slog.NewTextHandler(s.messages, options))
}

// usageError is a command line, or settings, that cannot be understood.
type usageError struct{ error }

func (u *usageError) Unwrap() error { return u.error }

var errDamage = errors.New("damage was found")
