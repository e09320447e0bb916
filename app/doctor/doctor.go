// Package doctor looks at an installation from outside and inside and says what is
// well, what will hurt one day and what hurts now, each with what to do.
//
// It promises to change nothing that it does not take back: the files it writes to
// measure the disk are removed, and what it sends through a proxy is kept nowhere.
//
// It refuses to mend: whoever reads the findings decides.
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
	"deedkeep/app/client"
	"deedkeep/app/config"
)

// Options of Look.
type Options struct {
	Config         config.Config
	CheckAssets    func() error // whether the engines are inside
	FileSystemType func(path string) (kind string, network bool, err error)
	Now            func() time.Time
	Log            *slog.Logger

	// WithClient calls fn with a client of the control door, once.
	WithClient func(ctx context.Context, fn func(context.Context, *client.Client) error) error
	// Explain makes a sentence for people of an error of Ask.
	Explain func(error) string

	ProbeURL       string            // the address to probe; "": public_url, while a server runs
	ProbeKey       string            // an API key to try there; "" for none
	ProbeTransport http.RoundTripper // of the probe; nil: the usual one
	ProbePause     time.Duration     // in the middle of the probe; 0: two seconds, half a second for public_url
	ProbeSize      int64             // of the probe, in bytes; 0: 100 MB, 2 MB for public_url
	ProbeTimeout   time.Duration     // with the whole probe; 0: ten minutes, ten seconds for public_url
}

// The states of a finding.
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

// Run examines everything and gives the findings in a fixed order. It fails only
// when ctx ends.
func Run(ctx context.Context, opts Options) (apitypes.Doctor, error) {
	var all []apitypes.Diagnosis
	add := func(found ...apitypes.Diagnosis) { all = append(all, found...) }
	c := opts.Config
	now := opts.Now().In(c.Location())
	// Before the vault is opened, which narrows what is open too wide.
	add(checkPermissions(c)...)
	add(checkOwners(c), checkSecrets(c))
	add(checkUser(c)...)
	add(checkFileSystem(c, opts.FileSystemType))
	checkup, trouble := opts.checkup(ctx)
	if trouble != nil {
		add(*trouble)
	}
	if checkup != nil && checkup.Status.Listen != nil {
		c.Listen = *checkup.Status.Listen // a flag may have said another than the file
	}
	add(checkClock(c.Data, now, checkup))
	add(checkSyncSpeed(c.Data))
	if checkup != nil {
		add(checkFreeSpace(checkup, c), checkBackup(checkup, c, now), checkBackupLocation(checkup, c), checkShutdown(checkup, now), checkDatabase(checkup), checkWrites(checkup), checkProcessing(checkup), checkDamage(checkup), checkScrub(checkup), checkSearchIndex(checkup))
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

// checkup asks the vault, or says why it cannot be asked.
func (o Options) checkup(ctx context.Context) (*apitypes.Checkup, *apitypes.Diagnosis) {
	var found apitypes.Checkup
	err := o.WithClient(ctx, func(ctx context.Context, c *client.Client) (err error) {
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
	trouble := bad("vault", "the vault cannot be asked: "+o.Explain(err), do)
	return nil, &trouble
}

func isMissing(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return errors.Is(err, fs.ErrNotExist)
}
