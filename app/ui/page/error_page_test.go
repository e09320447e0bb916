package page

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"deedkeep/app/errs"
)

// Each cause of an unavailable page has its own heading and text.
func TestUnavailablePages(t *testing.T) {
	t.Parallel()
	disk := errors.New("write vault.db: input/output error")
	for _, tt := range []struct {
		err           *errs.Error
		heading, text string
	}{
		{errs.NotNow(errs.Busy, "Too many searches are running. Try again soon.", nil), "The server is busy",
			"Too many searches are running. Try again soon."},
		{errs.NotNow(errs.Rebuilding, "The search index is being rebuilt. Try again soon.", nil), "Temporarily unavailable",
			"The search index is being rebuilt. Try again soon."},
		{errs.ServerStopping(), "The server is stopping", "The server is stopping. Try again in a moment."},
		{errs.DiskFailed(disk), "Changes aren't possible now",
			"The server is read-only after a disk error. Check the disk, then restart the server."},
	} {
		want := errorPage{http.StatusServiceUnavailable, tt.heading, tt.text}
		if got := errorPageFor(fmt.Errorf("create order: %w", tt.err)); got != want {
			t.Errorf("errorPageFor(%v) = %+v, want %+v", tt.err, got, want)
		}
	}
}
