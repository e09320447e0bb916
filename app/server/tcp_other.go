//go:build !linux

package server

// maxPart is the maximum number of bytes that are sent in one step. The pace of a client is known after each step: at 2
// KB per second, that is half a minute.
const maxPart = 64 << 10

// progress returns how many bytes the system has accepted and whether it hasn't accepted all that was written. The
// system doesn't say what the client has received.
func (c *limitedConn) progress() (delivered int64, pending bool) {
	return c.sent.total.Load(), c.sent.writing.Load() > 0
}

// pending returns 0, because the system doesn't say what the client has received.
func (c *limitedConn) pending() (bytes int, err error) { return 0, nil }
