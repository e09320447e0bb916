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
		Short: "Check the installation and suggest fixes",
		Long: `Check the installation and suggest fixes. The command checks the clock, the disk and its
write speed, file permissions and owners, the database, the port, the certificate, the
last backup, the search index, OCR, the PDF engine, and memory. It works with the server
running or stopped. Each result is ok, warn, or bad; problems include a fix. Nothing is
changed.

If public_url is set and the server is running, the command sends 2 MB to that address,
to test a reverse proxy or firewall in front of the server. With --through, it sends
100 MB to the address you specify. The server discards this data.

Exit code 1: at least one result is bad.`,
		Example: "  deedkeep doctor\n  deedkeep doctor --through https://vault.example.com\n  deedkeep doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.doctor(cmd.Context(), strings.TrimRight(through, "/"), key)
		},
	}
	cmd.Flags().StringVar(&through, "through", "", "server address to send 100 MB to, such as https://vault.example.com")
	cmd.Flags().StringVar(&key, "key", "", "API key to test at that address")
	return cmd
}

var errUnhealthy = errors.New("problems found; see the suggested fixes above")

func (s *shell) doctor(ctx context.Context, through, key string) error {
	c, err := s.load(ctx, nil)
	if err != nil {
		return err
	}
	if through != "" && !strings.HasPrefix(through, "http://") && !strings.HasPrefix(through, "https://") {
		return &usageError{fmt.Errorf("--through: %q is not a valid address; use a URL such as https://vault.example.com", through)}
	}
	if err := s.switchToOwner(c); err != nil {
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
		Zone: s.location, WithClient: s.withClient, Explain: message, ProbeURL: through, ProbeKey: key,
	})
}
