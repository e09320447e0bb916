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

// crowd knows the connections of each address, and those that bring no request: new
// ones, of which no head has been read, and idle ones. Above the limit of these the
// oldest is closed, so that nobody holds all slots by saying nothing, and whoever
// comes with a request gets in. Above the limit of all, for which requests that never
// end count too, a new one is closed, so that no address holds all slots at all.
type crowd struct {
	most     int            // of those that bring no request
	all      int            // of one address
	trusted  []netip.Prefix // whose connections are many people's
	loopback bool           // count this machine's too

	mu      sync.Mutex
	waiting map[netip.Prefix][]*limitedConn // oldest first
	open    map[netip.Prefix]int
}

// newCrowd lets one address have a quarter of all connections, of which most may
// bring no request.
func newCrowd(most, connections int, trusted []netip.Prefix) *crowd {
	return &crowd{most: most, all: max(1, connections/4), trusted: trusted, waiting: map[netip.Prefix][]*limitedConn{}, open: map[netip.Prefix]int{}}
}

// enter is told of a new connection, and says whether it may stay. To make it room,
// the address's oldest one that brings no request is closed.
func (c *crowd) enter(conn *limitedConn) bool {
	place, counts := c.place(conn)
	if !counts {
		return true
	}
	c.mu.Lock()
	full := c.open[place] >= c.all
	var oldest *limitedConn
	if list := c.waiting[place]; full && len(list) > 0 {
		oldest = list[0]
	}
	c.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // It leaves by that; its other end may have gone.
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[place] >= c.all {
		return false
	}
	c.open[place]++
	conn.counted = true
	return true
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
	if forGood && conn.counted {
		conn.counted = false
		if c.open[place]--; c.open[place] == 0 {
			delete(c.open, place)
		}
	}
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
