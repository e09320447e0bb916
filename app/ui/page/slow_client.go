package page

import (
	"errors"
	"net/http"
	"time"
)

// slowClientGrace is how long a client may take before its transfer rate counts.
const slowClientGrace = time.Minute

// minDownloadRate is the minimum transfer rate in bytes per second if the settings have none.
const minDownloadRate = 1 << 10

// SetWriteDeadline sets the deadline of a download of size bytes by the minimum transfer rate, so
// that slow clients can't hold connections.
func (p *Site) SetWriteDeadline(w http.ResponseWriter, size int64) {
	deadline := time.Now().Add(slowClientGrace + time.Duration(size/max(p.MinRate, minDownloadRate))*time.Second)
	if err := http.NewResponseController(w).SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		p.Log.Debug("write deadline", "error", err)
	}
}
