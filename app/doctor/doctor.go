// Package doctor checks an installation: its settings, files, disk, vault, network, and sandbox. Each finding says what
// is good, risky, or broken, and what to do about it.
//
// The checks change nothing permanently. They remove the files that they write to measure the disk, and the server
// discards the body that they send through a proxy. The doctor reports problems and never fixes them.
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
	CheckAssets    func() error // reports an error if the binary was built without its engines
	FileSystemType func(path string) (kind string, network bool, err error)
	Now            func() time.Time
	Log            *slog.Logger

	// WithClient calls fn once with a client of the control socket.
	WithClient func(ctx context.Context, fn func(context.Context, *control.Client) error) error
	// Explain converts an error of WithClient to a sentence for people.
	Explain func(error) string

	ProbeURL       string            // the address to probe; "": public_url if a server is running
	ProbeKey       string            // an API key to test at that address; "": none
	ProbeTransport http.RoundTripper // nil: a new http.Transport
	ProbePause     time.Duration     // pause in the middle of the body; 0: 2 s, or 500 ms for public_url
	ProbeSize      int64             // bytes of the body; 0: 100 MB, or 2 MB for public_url
	ProbeTimeout   time.Duration     // timeout of the complete probe; 0: 10 min, or 10 s for public_url
}

// Values of Diagnosis.State.
const (
	OK   = "ok"
	Warn = "warn"
	Bad  = "bad"
)

func ok(check, says string) apitypes.Diagnosis {
	return apitypes.Diagnosis{Check: check, State: OK, Message: says}
}
func warn(check, says, do string) apitypes.Diagnosis {
	return apitypes.Diagnosis{Check: check, State: Warn, Message: says, Action: do}
}
func bad(check, says, do string) apitypes.Diagnosis {
	return apitypes.Diagnosis{Check: check, State: Bad, Message: says, Action: do}
}

// Run runs all checks and returns the findings in a fixed sequence. It returns an error only if ctx ends.
func Run(ctx context.Context, opts Options) (apitypes.Doctor, error) {
	var all []apitypes.Diagnosis
	add := func(found ...apitypes.Diagnosis) { all = append(all, found...) }
	c := opts.Config
	now := opts.Now().In(c.Location())
	// First, because opening the vault restricts permissions that are too wide.
	add(checkPermissions(c)...)
	add(checkOwners(c), checkSecrets(c))
	add(checkUser(c)...)
	add(checkFileSystem(c, opts.FileSystemType))
	checkup, failure := opts.checkup(ctx)
	if failure != nil {
		add(*failure)
	}
	if checkup != nil && checkup.Status.Listen != nil {
		c.Listen = *checkup.Status.Listen // a flag of the server may override the file
	}
	add(checkClock(c.Data, now, checkup))
	add(checkSyncSpeed(c.Data))
	if checkup != nil {
		add(checkFreeSpace(checkup, c), checkBackup(checkup, c, now), checkBackupLocation(checkup, c), checkShutdown(checkup, now),
			checkDatabase(checkup), checkWrites(checkup), checkProcessing(checkup), checkDamage(checkup), checkScrub(checkup),
			checkSearchIndex(checkup))
	}
	add(checkPort(ctx, c, checkup), checkCertificate(c, checkup, now), checkPublicURL(c))
	if checkup != nil {
		add(checkForwardedHeaders(checkup)...)
	}
	add(checkMemory(c))
	add(checkEngine(ctx, opts)...)
	add(checkProxy(ctx, opts, checkup)...)
	report := apitypes.Doctor{OK: true, Findings: all}
	for _, f := range all {
		report.OK = report.OK && f.State != Bad
	}
	return report, ctx.Err()
}

// checkup returns the facts about the vault, or the reason why they are not available.
func (o Options) checkup(ctx context.Context) (*apitypes.Checkup, *apitypes.Diagnosis) {
	var found apitypes.Checkup
	err := o.WithClient(ctx, func(ctx context.Context, c *control.Client) (err error) {
		found, err = c.Checkup(ctx)
		return err
	})
	if err == nil {
		return &found, nil
	}
	do := `"deedkeep verify" looks at the records; a new installation gets its vault from "deedkeep serve"`
	if isMissing(o.Config.Data, "secret.key") && !isMissing(o.Config.Data, "vault.db") {
		do = "copy secret.key from a backup that is restored into another folder; nothing else helps, and nothing else is lost"
	}
	failure := bad("vault", "the vault cannot be asked: "+o.Explain(err), do)
	return nil, &failure
}

func isMissing(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return errors.Is(err, fs.ErrNotExist)
}
