package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"deedkeep/app/title"
)

// crowd knows the connections of each address that bring no request: new ones, of
// which no head has been read, and idle ones. Above the limit the oldest is closed,
// so that nobody holds all slots by saying nothing, and whoever comes with a request
// gets in.
type crowd struct {
	most     int
	trusted  []netip.Prefix // whose connections are many people's
	loopback bool           // count this machine's too

	mu      sync.Mutex
	waiting map[netip.Prefix][]*limitedConn // oldest first
}

func newCrowd(most int, trusted []netip.Prefix) *crowd {
	return &crowd{most: most, trusted: trusted, waiting: map[netip.Prefix][]*limitedConn{}}
}

// wait is told when a connection is new or idle.
func (c *crowd) wait(conn *limitedConn) {
	place, counts := c.place(conn)
	if !counts {
		return
	}
	if oldest := c.add(place, conn); oldest != nil {
		_ = oldest.Close() // It leaves by that; its other end may have gone.
	}
}

// add gives the connection that is one too many.
func (c *crowd) add(place netip.Prefix, conn *limitedConn) *limitedConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.waiting[place]
	if conn.left || slices.Contains(list, conn) {
		return nil
	}
	list = append(list, conn)
	c.waiting[place] = list
	if len(list) <= c.most {
		return nil
	}
	return list[0]
}

// leave is told when a connection has a request, or, for good, when it is closed.
func (c *crowd) leave(conn *limitedConn, forGood bool) {
	place, counts := c.place(conn)
	if !counts {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.left = conn.left || forGood
	list := c.waiting[place]
	if i := slices.Index(list, conn); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if c.waiting[place] = list; len(list) == 0 {
		delete(c.waiting, place)
	}
}

func (c *crowd) place(conn *limitedConn) (netip.Prefix, bool) {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}, false
	}
	return c.placeOf(tcp.AddrPort().Addr())
}

// placeOf is what counts as one address. This machine, and proxies, may have as many
// connections as they like.
func (c *crowd) placeOf(ip netip.Addr) (netip.Prefix, bool) {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() || ip.IsLoopback() && !c.loopback ||
		slices.ContainsFunc(c.trusted, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return netip.Prefix{}, false
	}
	return title.Network(ip), true
}

// watch is the http.Server.ConnState of servers whose listener is limited. A
// connection is active once net/http has read the head of a request.
func watch(conn net.Conn, state http.ConnState) {
	limited := below(conn)
	switch {
	case limited == nil:
	case state == http.StateActive:
		limited.crowd.leave(limited, false)
	case state == http.StateIdle:
		limited.crowd.wait(limited)
	}
}

// below is the limited connection under what is spoken on it; nil when there is none.
func below(conn net.Conn) *limitedConn {
	for {
		switch c := conn.(type) {
		case *limitedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		case *sniffed:
			conn = c.limitedConn
		case *plainConn:
			conn = c.limitedConn
		default:
			return nil
		}
	}
}
