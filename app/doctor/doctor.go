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
	Config  config.Config
	Assets  func() error // whether the engines are inside
	Network func(path string) (kind string, network bool, err error)
	Now     func() time.Time
	Log     *slog.Logger

	// Ask calls fn with a client of the control door, once.
	Ask func(ctx context.Context, fn func(context.Context, *client.Client) error) error
	// Explain makes a sentence for people of an error of Ask.
	Explain func(error) string

	Through   string            // the address to probe; "": public_url, while a server runs
	Key       string            // an API key to try there; "" for none
	Transport http.RoundTripper // of the probe; nil: the usual one
	Pause     time.Duration     // in the middle of the probe; 0: two seconds, half a second for public_url
	Size      int64             // of the probe, in bytes; 0: 100 MB, 2 MB for public_url
	Patience  time.Duration     // with the whole probe; 0: ten minutes, ten seconds for public_url
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

// Look examines everything and gives the findings in a fixed order. It fails only
// when ctx ends.
func Look(ctx context.Context, opts Options) (apitypes.Doctor, error) {
	var all []apitypes.Diagnosis
	add := func(found ...apitypes.Diagnosis) { all = append(all, found...) }
	c := opts.Config
	now := opts.Now().In(c.Location())
	// Before the vault is opened, which narrows what is open too wide.
	add(permissions(c)...)
	add(owners(c), secrets(c))
	add(account(c)...)
	add(network(c, opts.Network))
	checkup, trouble := opts.checkup(ctx)
	if trouble != nil {
		add(*trouble)
	}
	if checkup != nil && checkup.Status.Listen != nil {
		c.Listen = *checkup.Status.Listen // a flag may have said another than the file
	}
	add(clock(c.Data, now, checkup))
	add(syncs(c.Data))
	if checkup != nil {
		add(room(checkup, c), backup(checkup, c, now), place(checkup, c), past(checkup, now), database(checkup), writes(checkup), failures(checkup), damage(checkup), scrub(checkup), searches(checkup))
	}
	add(port(ctx, c, checkup), certificates(c, checkup, now), publicURL(c))
	if checkup != nil {
		add(forwarded(checkup)...)
	}
	add(memory(c))
	add(engine(ctx, opts)...)
	add(through(ctx, opts, checkup)...)
	report := apitypes.Doctor{OK: true, Findings: all}
	for _, f := range all {
		report.OK = report.OK && f.State != Bad
	}
	return report, ctx.Err()
}

// checkup asks the vault, or says why it cannot be asked.
func (o Options) checkup(ctx context.Context) (*apitypes.Checkup, *apitypes.Diagnosis) {
	var found apitypes.Checkup
	err := o.Ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		found, err = c.Checkup(ctx)
		return err
	})
	if err == nil {
		return &found, nil
	}
	do := `"deedkeep verify" looks at the records; a new installation gets its vault from "deedkeep serve"`
	if lacks(o.Config.Data, "secret.key") && !lacks(o.Config.Data, "vault.db") {
		do = "copy secret.key from a backup that is restored into another folder; nothing else helps, and nothing else is lost"
	}
	trouble := bad("vault", "the vault cannot be asked: "+o.Explain(err), do)
	return nil, &trouble
}

func lacks(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return errors.Is(err, fs.ErrNotExist)
}
