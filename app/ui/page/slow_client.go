package page

import (
	"errors"
	"net/http"
	"time"
)

// slowClientGrace is how long a client may take before its pace counts.
const slowClientGrace = time.Minute

// minDownloadRate is the floor, in bytes a second, where the settings have none.
const minDownloadRate = 1 << 10

// SetWriteDeadline gives a download an end: one that is taken slower than the floor is cut, so
// that nobody holds connections for nothing.
func (p *Site) SetWriteDeadline(w http.ResponseWriter, size int64) {
	deadline := time.Now().Add(slowClientGrace + time.Duration(size/max(p.MinRate, minDownloadRate))*time.Second)
	if err := http.NewResponseController(w).SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		p.Log.Debug("write deadline", "error", err)
	}
}
