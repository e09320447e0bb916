package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/auth"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/jobs"
	"deedkeep/app/memory"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/sandbox"
	"deedkeep/app/search"
	"deedkeep/app/server"
	"deedkeep/app/upload"
)

func (s *shell) serveCommand() *cobra.Command {
	var existing, withoutCopy bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Start the server. It runs until Ctrl-C or SIGTERM and finishes requests in progress
before it exits. On first run it initializes the data directory: database, templates,
order fields, folders, and signing key.

With --existing, the server starts only if the data directory contains data. Use this
for a service: the directory is empty if its disk is not mounted.

The first start of a new version may upgrade the database. Before that, the server keeps
a copy of it in the data directory, as vault.db.before-VERSION, and removes the copy of
the upgrade before. If there is no free space for the copy, the server doesn't start.
With --without-copy, it upgrades without one. See "deedkeep help upgrade".

Exit code 1: the server can't start, for example because there is no free space for the
copy. Exit code 10: no data in the data directory (with --existing).`,
		Example: `  deedkeep serve
  deedkeep serve --existing --data /srv/deedkeep
  deedkeep serve --data /srv/deedkeep --listen 127.0.0.1:9000`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.serve(cmd.Context(), existing, withoutCopy) },
	}
	cmd.Flags().BoolVar(&existing, "existing", false, "start only if the data directory contains data")
	cmd.Flags().BoolVar(&withoutCopy, "without-copy", false, "upgrade the database without keeping a copy of it")
	cmd.Flags().String("listen", config.Default().Listen, "address and port to listen on; port 0 picks a free port")
	return cmd
}

// serve runs the server until ctx is canceled, and again whenever an administrator restarts it.
// If it can't start again, it goes back to the stored settings of the run before.
func (s *shell) serve(ctx context.Context, existing, withoutCopy bool) error {
	defer context.AfterFunc(ctx, s.notifier.Stopping)()
	var before map[string]string // stored settings of the run before; nil if this is the first
	problem := ""
	for {
		run := serverRun{shell: s, existing: existing, withoutCopy: withoutCopy, problem: problem}
		err := run.serve(ctx)
		switch {
		case run.restart.Load() && err == nil && ctx.Err() == nil:
			before, problem = run.stored, ""
		case before != nil && !run.started && ctx.Err() == nil:
			if problem, err = s.goBack(ctx, before, err); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// goBack stores the settings of the run before and returns what to tell administrators. If those
// are stored already, it returns cause.
func (s *shell) goBack(ctx context.Context, before map[string]string, cause error) (problem string, err error) {
	c, err := s.loadWith(before)
	if err != nil {
		return "", errors.Join(cause, err)
	}
	log := s.logger(c, slog.LevelDebug)
	v, err := openWithRetry(ctx, c, instance.Options{
		Dir: c.Data, Settings: vaultSettings(c), Load: s.loadWith, Now: time.Now, Rand: rand.Reader, Log: log,
	})
	if err != nil {
		return "", errors.Join(cause, err)
	}
	changed, err := v.Stored.GoBack(ctx, before, message(cause))
	if err = errors.Join(err, v.Close()); err != nil || !changed {
		return "", errors.Join(cause, err)
	}
	log.Error("the server can't start with the changed settings and goes back to those before", "error", cause)
	return message(cause), nil
}

// serverRun is one run of the server in this process.
type serverRun struct {
	*shell
	existing    bool
	withoutCopy bool
	problem     string            // why the run before ended, if it couldn't start
	stored      map[string]string // the stored settings of this run
	started     bool
	restart     atomic.Bool // whether an administrator wants another run
}

// restartDelay is how long the server continues after an administrator restarts it, so that the
// browser can load the page that says so.
const restartDelay = time.Second

func (s *serverRun) serve(ctx context.Context) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c, settings, err := s.prepareToServe(ctx)
	if err != nil {
		return err
	}
	s.warn(configWarnings(c))
	log := s.logger(c, slog.LevelDebug)
	pool := openSandbox(c, log)
	defer func() { err = errors.Join(err, pool.Close()) }()
	pools := []*sandbox.Pool{pool}
	var pages jobs.PageReader // nil if OCR is turned off
	if c.OCR.Enabled {
		reader := openOCR(c, log)
		defer func() { err = errors.Join(err, reader.Close()) }()
		pages, pools = reader, append(pools, reader)
	}
	isNew := !instance.Exists(c.Data)
	if isNew { // otherwise, a port in use would leave an empty vault
		if err := server.CheckAddresses(ctx, c); err != nil {
			return err
		}
	}
	v, err := openWithRetry(ctx, c, instance.Options{
		Dir: c.Data, Create: true, Existing: s.existing, Upgrade: true, WithoutCopy: s.withoutCopy, Load: s.loadWith,
		Settings: vaultSettings(c), Reader: pool, OCRReader: pages, Now: time.Now, Rand: rand.Reader, Log: log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if s.stored, err = v.Stored.Stored(ctx); err != nil {
		return err
	}
	s.warn(rootWarning(os.Geteuid())) // uses the effective user, because becomeOwner may have switched from root
	if isNew {
		s.messagef("initialized the data directory %s; when running as a service, start with --existing", v.Dir)
	}
	setMemoryLimits(c)
	return server.Serve(ctx, server.Options{
		Config: c, SettingsFile: settings, App: v, Build: build(), Log: log, Now: time.Now, Sandbox: pool.Stats, Memory: func() []memory.Processes { return processMemory(pools) },
		Doctor:       func(ctx context.Context) (apitypes.Doctor, error) { return s.diagnose(ctx, c, "", "") },
		RestartError: s.problem,
		Restart: func() {
			if s.restart.CompareAndSwap(false, true) {
				time.AfterFunc(restartDelay, func() {
					s.notifier.Restarting()
					stop()
				})
			}
		},
		OnStarted: func(a server.Addresses) {
			s.started = true
			s.printFirstAdminLink(ctx, v, c.Origin(a.Address))
			s.announceStart(ctx, v, a)
			s.notifier.Ready(a.URL())
		},
	})
}

// prepareToServe returns the settings and the path of their file. It returns an error if they, another server, or a missing
// permission prevent the server from starting.
func (s *shell) prepareToServe(ctx context.Context) (c config.Config, settings string, err error) {
	c, err = s.loadForServer(ctx)
	if err != nil {
		return c, "", err
	}
	if err := s.becomeOwner(c); err != nil {
		return c, "", err
	}
	if err := preflightServe(c); err != nil {
		return c, "", err
	}
	if err := s.checkAssets(); err != nil {
		return c, "", err
	}
	if err := s.checkLocalDisk(c); err != nil {
		return c, "", err
	}
	if err := checkNoServer(ctx, c); err != nil {
		return c, "", err
	}
	settings, _, err = s.settingsFile()
	return c, settings, err
}

// gcPercent is the server's GOGC unless the environment sets one. The live heap is about 10 MB, so half as many
// garbage collections cost about that much memory; lists and orders need 10 to 15 percent less CPU time.
const gcPercent = 200

// setMemoryLimits sets GOGC and GOMEMLIMIT unless the environment does.
func setMemoryLimits(c config.Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(c))
	}
}

// memoryLimit returns the soft limit of the Go runtime for the server's memory, in bytes: what the settings allow, and
// twice what the server needs without load. Near the limit, garbage is collected more often. With gcPercent alone, the
// garbage would take twice the memory of the search cache, too.
func memoryLimit(c config.Config) int64 {
	const other = 64 << 20
	return int64(c.Search.CacheSize) + int64(c.Limits.BodiesInMemory) + other
}

// rootWarning returns a warning if the server runs as root. uid is the effective user ID,
// which is -1 on Windows.
func rootWarning(uid int) []string {
	if uid != 0 {
		return nil
	}
	return []string{"the server is running as root because root owns the data directory; " +
		"change the owner of the data directory to a dedicated user (chown -R) and start the server as that user"}
}

// warn prints warnings about settings that are allowed but risky.
func (s *shell) warn(warnings []string) {
	for _, warning := range warnings {
		s.messagef("WARNING: %s", warning)
	}
}

// warnOfExposures prints warnings about files that contain secrets and that other users can
// read.
func (s *shell) warnOfExposures(c config.Config) {
	for _, e := range c.Exposures() {
		s.warn([]string{e.String()})
	}
}

// openSandbox starts the pool of worker processes that open documents.
func openSandbox(c config.Config, log *slog.Logger) *sandbox.Pool {
	return sandbox.Open(sandbox.Options{
		Name: "render", CacheDir: c.ReaderCache(), Workers: c.Reader.Processes, MemoryLimit: int64(c.Reader.Memory),
		Deadlines: sandbox.Deadlines{Inspect: c.Reader.Deadline, Image: c.Reader.Image, Text: c.Reader.Text, Searchable: c.Reader.Searchable},
		Log:       log,
	})
}

// openOCR starts the pool of worker processes that read the words on scanned pages. It has its own
// workers, so that the pages never delay an upload or a preview.
func openOCR(c config.Config, log *slog.Logger) *sandbox.Pool {
	return sandbox.Open(sandbox.Options{
		Name: "ocr", CacheDir: c.ReaderCache(), Workers: c.OCR.Workers, MemoryLimit: int64(c.Reader.Memory), LowPriority: true,
		Deadlines: sandbox.Deadlines{OCR: c.OCR.PageTimeout}, OCR: sandbox.OCR{Languages: c.OCR.Languages, Dir: c.LanguageDir()}, Log: log,
	})
}

// processMemory returns the memory of the server and of its workers.
func processMemory(pools []*sandbox.Pool) []memory.Processes {
	own := memory.Processes{Type: "server"}
	own.Add(memory.Of(os.Getpid()))
	list := []memory.Processes{own}
	for _, p := range pools {
		list = append(list, p.Memory())
	}
	return list
}

// openTimeout is how long a starting server waits for a command that has opened the vault.
// Most commands take only a moment. If a command takes longer, such as a long verification,
// the server doesn't start.
const openTimeout = 10 * time.Second

// openWithRetry opens the vault. If a command has opened the vault, openWithRetry waits for
// it. If another server is running, it returns an error immediately.
func openWithRetry(ctx context.Context, c config.Config, opts instance.Options) (*instance.Instance, error) {
	for deadline := time.Now().Add(openTimeout); ; {
		v, err := instance.Open(ctx, opts)
		if errs.KindOf(err) != errs.Locked {
			return v, err
		}
		// A server that is starting holds the lock before its control socket is open.
		if inUse := checkNoServer(ctx, c); inUse != nil {
			return nil, errors.Join(inUse, err)
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, err
		}
	}
}

// checkNoServer returns an error if a server is running on the data directory, or if the
// control socket can't be created there. Callers use it before they write anything.
func checkNoServer(ctx context.Context, c config.Config) error {
	dir, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	conn, err := control.Dial(ctx, dir)
	if errors.Is(err, control.ErrNoServer) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(&errs.Error{
		Kind: errs.Locked, Err: control.ErrInUse,
		Message: fmt.Sprintf(`a server is already using %s; run "deedkeep status" for its address, or choose another directory with --data`, dir),
	}, conn.Close())
}

// announceStart prints a hint if there are no API keys yet, the fingerprint of a
// self-signed certificate, and the address of the server.
func (s *shell) announceStart(ctx context.Context, v *instance.Instance, a server.Addresses) {
	if keys, err := v.Keys.List(ctx); err == nil && len(keys) == 0 {
		s.messagef(`no API keys yet; create one with "deedkeep keys create NAME"`)
	}
	if a.Certificate != nil && a.Certificate.SelfSigned {
		s.messagef("using a self-signed certificate, expires %s; clients must see this SHA-256 fingerprint:", a.Certificate.NotAfter.In(s.location()).Format(time.DateOnly))
		s.messagef("%s", a.Certificate.Fingerprint)
	}
	fmt.Fprintf(s.out, "listening on %s\n", a.URL()) //nolint:errcheck // the server runs even if standard output is closed
}

// checkLocalDisk returns an error if the data directory is on a network file system, where
// fsync and file locks are unreliable, unless disk.allow_network is set.
func (s *shell) checkLocalDisk(c config.Config) error {
	kind, network, err := s.fileSystemType(c.Data)
	if err != nil {
		return fmt.Errorf("check the file system of the data directory: %w", err)
	}
	if network && !c.Disk.AllowNetwork {
		return &usageError{fmt.Errorf("%s is on a network file system (%s), where a power failure can lose documents; "+
			"use a local disk, or set disk.allow_network: true", c.Data, kind)}
	}
	return nil
}

// vaultSettings returns the settings that apply to the vault until a restart.
func vaultSettings(c config.Config) instance.Settings {
	host := "" // remains empty if public_url isn't set
	if address, err := url.Parse(c.PublicURL); err == nil {
		host = address.Hostname()
	}
	from, to, err := c.OCR.Period()
	if err != nil {
		panic(err) // can't happen, because config.Load validates the setting
	}
	limits := document.DefaultInspectLimits()
	limits.MaxPDFPages, limits.MaxImageHeavySize, limits.MaxImageHeavyPages = c.Limits.PDFPages, int64(c.Limits.ImageHeavySize), c.Limits.ImageHeavyPages
	return instance.Settings{
		FileSize: int64(c.Limits.FileSize), FilesPerRequest: c.Limits.FilesPerRequest, FilesPerAbstract: c.Limits.FilesPerAbstract,
		InstrumentsPerAbstract: c.Limits.InstrumentsPerAbstract, Inspect: limits,
		Runsheet: runsheet.Limits{Rows: c.Limits.RunsheetRows, Bytes: runsheet.DefaultLimits().Bytes},
		Extract: document.ExtractLimits{MaxPixels: int64(c.Limits.ImagePixels), MaxWidth: c.Limits.ImageWidth,
			MaxTextBytes: int64(c.Limits.Text)},
		SearchablePages:   c.Limits.SearchablePages,
		SearchablePerUser: c.Limits.SearchablePerUser,
		PreviewSize:       int64(c.Previews.Size),
		Rules:             model.Rules{EnforceRequired: c.Validation.EnforceRequired},
		UniqueOrderNumber: c.Validation.UniqueOrderNumber, DiskReserve: uint64(c.Disk.Reserve),
		Backup:  backupSettings(c),
		Users:   auth.UserRules{Host: host},
		Uploads: upload.Settings{Keep: c.Uploads.Keep, PerUser: c.Uploads.PerUser, BytesPerUser: int64(c.Uploads.BytesPerUser)},
		Spare:   int64(c.Disk.Spare), IdempotencyPeriod: c.Idempotency.Keep,
		Scrub: integrity.ScrubSettings{Every: c.Scrub.Every},
		OCR:   jobs.OCRSettings{Workers: c.OCR.Workers, Hours: jobs.DailyPeriod{From: from, To: to}},
		Search: search.Settings{
			Deadline: c.Search.Deadline, CacheSize: int64(c.Search.CacheSize), MaxConcurrent: c.Search.MaxConcurrent,
		},
	}
}
