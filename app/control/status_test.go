package control_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// The status contains the reason why writes are denied, including the free disk space.
func TestControlStatusOfDeniedWrites(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(*instance.Options)
		then func(t *testing.T, dir string)
		want []string // fragments of the reason; nil if writes are allowed
		// works is a fragment of what still works; "" if nothing is said
		works string
	}{
		{"enough space", nil, nil, nil, ""},
		{"below the reserve", func(o *instance.Options) { o.Settings.DiskReserve = 1 << 62 }, nil,
			[]string{"B free, less than the reserve of ", "disk.reserve"}, "managing users and API keys still work"},
		{"too little for a large document", func(o *instance.Options) { o.Settings.FileSize = 1 << 56 }, nil, nil, "Documents of up to "},
		{"data directory gone", nil, func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Rename(dir, dir+".away"); err != nil {
				t.Fatalf("rename data directory: %v", err)
			}
		}, []string{"The data directory is missing"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			opts := vaulttest.Options(t)
			if row.set != nil {
				row.set(&opts)
			}
			v := vaulttest.Open(t, opts)
			if row.then != nil {
				row.then(t, opts.Dir)
				t.Cleanup(func() {
					if err := os.Rename(opts.Dir+".away", opts.Dir); err != nil {
						t.Errorf("rename data directory back: %v", err)
					}
				})
			}
			handler := control.NewHandler(control.HandlerOptions{App: v, Log: slog.New(slog.DiscardHandler), Rand: vaulttest.Rand()})
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/control/status", nil))
			var status apitypes.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || w.Code != http.StatusOK {
				t.Fatalf("status request: got status %d, %v: %s", w.Code, err, w.Body)
			}
			works := ""
			if status.StillWorks != nil {
				works = *status.StillWorks
			}
			if !strings.Contains(works, row.works) || (works == "") != (row.works == "") {
				t.Errorf("still works: got %q, want %q in it", works, row.works)
			}
			if room := status.DocumentRoom; (room > 0) != (row.want == nil) || room > status.DiskFree {
				t.Errorf("room for a document: got %d bytes, want some: %v", room, row.want == nil)
			}
			got := ""
			if status.WritesDenied != nil {
				got = *status.WritesDenied
			}
			for _, want := range row.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
			if (status.WritesDenied != nil) != (row.want != nil) {
				t.Errorf("got %q, want a reason: %v", got, row.want != nil)
			}
		})
	}
}
