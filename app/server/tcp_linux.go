package server

import (
	"math"

	"golang.org/x/sys/unix"
)

// maxPart is the maximum number of bytes that are sent in one step. There is no need for steps, because the system says
// what the client has received.
const maxPart = math.MaxInt

// progress returns how many bytes the client has received and whether it hasn't received all that was sent.
func (c *limitedConn) progress() (delivered int64, pending bool) {
	var info *unix.TCPInfo
	if c.control(func(fd int) (err error) {
		info, err = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err
	}) != nil {
		return 0, false // the connection is closed
	}
	return int64(info.Bytes_acked), info.Notsent_bytes > 0 || info.Unacked > 0
}

// pending returns the number of bytes that the client hasn't received.
func (c *limitedConn) pending() (bytes int, err error) {
	err = c.control(func(fd int) (err error) {
		bytes, err = unix.IoctlGetInt(fd, unix.SIOCOUTQ)
		return err
	})
	return bytes, err
}

func (c *limitedConn) control(call func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = call(int(fd)) }); err != nil {
		return err
	}
	return failed
}
