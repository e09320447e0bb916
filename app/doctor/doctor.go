// Package doctor checks an installation: its settings, files, disk, vault, network, and sandbox. Each finding has a
// state (ok, warn, or bad) and, if there is a problem, says how to fix it.
//
// The doctor only reports problems and never fixes them. Its checks change nothing permanently: they remove the files
// that they write to measure the disk, and the server discards the request body that they send through a proxy.
package doctor

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/control"
)

// Options configures Run.
type Options struct {
	Config         config.Config
	CheckAssets    func() error // returns an error if the binary was built without its engines
	FileSystemType func(path string) (kind string, network bool, err error)
	Now            func() time.Time
	Zone           func() *time.Location // the office's time zone, once WithClient has called its function; nil: that of the settings
	Log            *slog.Logger

	// WithClient calls fn once with a control socket client.
	WithClient func(ctx context.Context, fn func(context.Context, *control.Client) error) error
	// Explain converts an error returned by WithClient to a message for the user.
	Explain func(error) string

	ProbeURL       string            // the address to probe; "" for public_url if a server is running
	ProbeKey       string            // an API key to test at the probed address; "" for none
	ProbeTransport http.RoundTripper // nil for a new http.Transport
	ProbePause     time.Duration     // pause in the middle of the body; 0 for the default: 2 s, or 500 ms for public_url
	ProbeSize      int64             // size of the body in bytes; 0 for the default: 100 MB, or 2 MB for public_url
	ProbeTimeout   time.Duration     // timeout of the complete probe; 0 for the default: 10 min, or 10 s for public_url
}

// Values of Diagnosis.State.
const (
	OK   = "ok"
	Warn = "warn"
	Bad  = "bad"
)

func ok(check, message string) apitypes.Diagnosis {
	return apitypes.Diagnosis{Check: check, State: OK, Message: message}
}
func warn(check, message, action string) apitypes.Diagnosis {
	return apitypes.Diagnosis{Check: check, State: Warn, Message: message, Action: action}
}
func bad(check, message, action string) apitypes.Diagnosis {
	return apitypes.Diagnosis{Check: check, State: Bad, Message: message, Action: action}
}

// Run runs all checks and returns the findings in a fixed sequence. It returns an error only if ctx is canceled.
func Run(ctx context.Context, opts Options) (apitypes.Doctor, error) {
	var all []apitypes.Diagnosis
	add := func(found ...apitypes.Diagnosis) { all = append(all, found...) }
	c := opts.Config
	// Check permissions first, because opening the vault restricts permissions that are too broad.
	add(checkSettings(c))
	add(checkPermissions(c)...)
	add(checkOwners(c), checkSecrets(c))
	add(checkUser(c)...)
	add(checkFileSystem(c, opts.FileSystemType))
	checkup, failure := opts.checkup(ctx)
	if failure != nil {
		add(*failure)
	}
	zone := c.Location
	if opts.Zone != nil {
		zone = opts.Zone
	}
	now := opts.Now().In(zone())
	if checkup != nil && checkup.Status.Listen != nil {
		c.Listen = *checkup.Status.Listen // a flag of the server may override the configured address
	}
	add(checkClock(c.Data, now, checkup))
	add(checkSyncSpeed(c.Data), checkPatterns(c.Data))
	if checkup != nil {
		add(checkFreeSpace(checkup, c), checkBackup(checkup, c, now), checkBackupLocation(checkup, c), checkMissingBackups(checkup),
			checkShutdown(checkup, now),
			checkDatabase(checkup), checkWrites(checkup), checkProcessing(checkup), checkOCR(checkup, c, now), checkDamage(checkup),
			checkScrub(checkup),
			checkSearchIndex(checkup))
	}
	add(checkPort(ctx, c, checkup), checkCertificate(c, checkup, now), checkPublicURL(c))
	if checkup != nil {
		add(checkForwardedHeaders(checkup)...)
	}
	add(checkMemory(c))
	add(checkEngine(ctx, opts)...)
	add(checkLanguages(ctx, opts))
	add(checkProxy(ctx, opts, checkup)...)
	report := apitypes.Doctor{OK: true, Findings: all}
	for _, f := range all {
		report.OK = report.OK && f.State != Bad
	}
	return report, ctx.Err()
}

// checkup returns the facts about the vault or, if they are not available, a finding that says why.
func (o Options) checkup(ctx context.Context) (*apitypes.Checkup, *apitypes.Diagnosis) {
	var found apitypes.Checkup
	err := o.WithClient(ctx, func(ctx context.Context, c *control.Client) (err error) {
		found, err = c.Checkup(ctx)
		return err
	})
	if err == nil {
		return &found, nil
	}
	action := `run "deedkeep verify" to check the records; in a new installation, "deedkeep serve" initializes the data directory`
	if isMissing(o.Config.Data, "secret.key") && !isMissing(o.Config.Data, "vault.db") {
		action = "restore a backup into another folder and copy secret.key from that folder; no other data is affected"
	}
	failure := bad("data directory", "can't open the data directory: "+o.Explain(err), action)
	return nil, &failure
}

func isMissing(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return errors.Is(err, fs.ErrNotExist)
}
