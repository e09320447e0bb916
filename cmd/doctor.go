package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/doctor"
)

func (s *shell) doctorCommand() *cobra.Command {
	var through, key string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is well with this installation, what is not, and what to do",
		Long: `Look at the clock, the disk and how quickly it keeps what is written, permissions,
owners of files, the database on the disk, the port, the certificate, the last
backup, the search index, the engines and memory, while the server runs or not.
Each finding is ok, warn or bad, with what to do; the exit code is 1 when one is
bad. Nothing is changed.

If public_url is set and the server runs, 2 MB are sent to that address, through
whatever stands in front of the server (a reverse proxy, a firewall). With --through,
it is 100 MB, to the address you name. Nothing of it is kept. Exit code 1: a finding
is bad.`,
		Example: "  deedkeep doctor\n  deedkeep doctor --through https://vault.example.com\n  deedkeep doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.doctor(cmd.Context(), strings.TrimRight(through, "/"), key)
		},
	}
	cmd.Flags().StringVar(&through, "through", "", "send 100 MB to this address of the server, like https://vault.example.com")
	cmd.Flags().StringVar(&key, "key", "", "try this API key there too")
	return cmd
}

var errUnhealthy = errors.New("something is wrong; the lines above say what to do")

func (s *shell) doctor(ctx context.Context, through, key string) error {
	c, err := s.load()
	if err != nil {
		return err
	}
	if through != "" && !strings.HasPrefix(through, "http://") && !strings.HasPrefix(through, "https://") {
		return &usageError{fmt.Errorf("--through %q is no address; write it like https://vault.example.com", through)}
	}
	if err := s.becomeOwner(c); err != nil {
		return err
	}
	report, err := s.diagnose(ctx, c, through, key)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, f := range report.Findings {
		fmt.Fprintf(&text, "%-5s %-14s %s\n", f.State, f.Check, f.Message)
		if f.Action != "" {
			fmt.Fprintf(&text, "%-5s %-14s -> %s\n", "", "", f.Action)
		}
	}
	if err = s.print(report, "%s", text.String()); err == nil && !report.OK {
		return errUnhealthy
	}
	return err
}

func (s *shell) diagnose(ctx context.Context, c config.Config, through, key string) (apitypes.Doctor, error) {
	return doctor.Run(ctx, doctor.Options{
		Config: c, CheckAssets: s.checkAssets, FileSystemType: s.fileSystemType, Now: time.Now, Log: s.logger(c, slog.LevelError),
		WithClient: s.withClient, Explain: message, ProbeURL: through, ProbeKey: key,
	})
}
