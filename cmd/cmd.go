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
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deedkeep/app/config"
	"deedkeep/app/reader"
	"deedkeep/web"
)

// Main runs the command line of the process and gives its exit code. The hidden
// word of a reading child comes before everything else: its standard output
// carries frames only.
func Main() int {
	if reader.IsChild(os.Args) {
		return reader.Main(web.PDFium)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run runs one command line and gives its exit code (exit.go).
func Run(ctx context.Context, args []string, in io.Reader, out, messages io.Writer) int {
	s := &shell{in: in, out: out, messages: messages}
	root := s.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(messages)
	err := root.ExecuteContext(ctx)
	if err != nil && !s.parsed {
		err = &usageError{err}
	}
	return s.exit(ctx, err)
}

// shell is what every command has at hand.
type shell struct {
	in            io.Reader
	out, messages io.Writer
	json          bool
	file          string // --config
	flags         *pflag.FlagSet
	parsed        bool // the command line was understood
}

// settings are the flags that are settings: by flag, the key of config.example.yaml.
var settings = map[string]string{
	"data":       "data",
	"listen":     "listen",
	"log-format": "log.format",
	"log-level":  "log.level",
}

func (s *shell) root() *cobra.Command {
	standard := config.Default()
	root := &cobra.Command{
		Use:           "deedkeep",
		Short:         "The title-abstract, order and document vault of a small title firm",
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
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(s.serveCommand(), s.keysCommand(), s.configCommand(), s.statusCommand(), s.verifyCommand(), s.versionCommand())
	return root
}

// load reads the settings: flag beats environment beats file beats default.
func (s *shell) load() (config.Config, error) {
	set := map[string]any{}
	for flag, key := range settings {
		if f := s.flags.Lookup(flag); f != nil && f.Changed {
			set[key] = f.Value.String()
		}
	}
	beside := ""
	if program, err := os.Executable(); err == nil {
		beside = filepath.Dir(program)
	}
	dir, _ := set["data"].(string)
	c, err := config.Load(config.Source{DataDir: dir, File: s.file, BesideBinary: beside, Env: os.Environ(), Flags: set})
	if err != nil {
		return c, &usageError{err}
	}
	return c, nil
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
