package page

import (
	"errors"
	"net/http"
	"time"
)

// slowClientGrace is added to every download deadline, regardless of size.
const slowClientGrace = time.Minute

// minDownloadRate is the minimum transfer rate in bytes per second, even if the configured rate is
// lower.
const minDownloadRate = 1 << 10

// SetWriteDeadline sets the deadline for sending size bytes according to the minimum transfer rate.
// This keeps slow clients from occupying connections.
func (p *Site) SetWriteDeadline(r *Request, size int64) {
	deadline := time.Now().Add(slowClientGrace + time.Duration(size/max(p.MinRate, minDownloadRate))*time.Second)
	if err := http.NewResponseController(r.W).SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		p.Log.Debug("write deadline not set", "error", err)
	}
}
