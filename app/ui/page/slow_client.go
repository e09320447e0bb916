package page

import "deedkeep/app/httpx"

// DisconnectSlowClient sets a deadline for each write of the response, so that a client that stops
// reading a download doesn't occupy the connection.
func (p *Site) DisconnectSlowClient(r *Request) { r.W = httpx.NewDeadlineWriter(r.W, p.MinRate) }
