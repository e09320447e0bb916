package server

import (
	"cmp"
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"deedkeep/app/config"
	"deedkeep/app/model"
)

// connLimiter knows all connections, and those that bring no request: new ones, of which no
// head has been read, and idle ones. No connection that brings no request keeps another
// out:
//
//   - An address has few of them; above that its oldest is closed.
//   - An address has a part of all connections, with requests or without. This machine and
//     the proxies, whose connections are many people's, have a larger part together. Above
//     it the oldest without a request is closed, or else the new one.
//   - When all connections are taken, the oldest without a request is closed, of the
//     address that has the most of these. Where each one has a request, the new one waits
//     for the first of them to end.
type connLimiter struct {
	maxIdlePerAddress int            // of one address, without a request
	maxPerAddress     int            // of one address
	maxTrusted        int            // of this machine and of proxies together
	trusted           []netip.Prefix // the proxies
	loopback          bool           // count this machine as any address
	slots             chan struct{}  // one for each connection

	mu       sync.Mutex
	groups   map[netip.Prefix]*connGroup // those that have connections
	pending  int                         // new connections that wait for a slot
	sequence uint64                      // of the last that came to wait for a request
}

// connGroup is what counts as one address.
type connGroup struct {
	open int
	idle list.List // of *limitedConn that bring no request, the oldest first
}

// trustedGroup is the place of this machine and of proxies.
var trustedGroup netip.Prefix

func newConnLimiter(l config.Limits, trusted []netip.Prefix) *connLimiter {
	return &connLimiter{
		maxIdlePerAddress: l.ConnectionsPerAddress, maxPerAddress: max(1, l.Connections/4), maxTrusted: cmp.Or(l.TrustedConnections, max(1, l.Connections*3/4)), trusted: trusted,
		slots: make(chan struct{}, l.Connections), groups: map[netip.Prefix]*connGroup{},
	}
}

// acquire reports whether a new connection may stay: it has a slot then. It waits for one
// until done.
func (c *connLimiter) acquire(conn *limitedConn, done <-chan struct{}) bool {
	if !c.register(conn) {
		return false
	}
	for {
		select {
		case c.slots <- struct{}{}:
			conn.hasSlot = true
			return true
		default:
		}
		c.mu.Lock()
		oldest := c.oldest()
		if oldest == nil {
			c.pending++
		}
		c.mu.Unlock()
		if oldest != nil {
			_ = oldest.Close() // It leaves by that; its other end may have gone.
			continue
		}
		select {
		case c.slots <- struct{}{}:
			conn.hasSlot = true
		case <-done:
		}
		c.mu.Lock()
		c.pending--
		c.mu.Unlock()
		return conn.hasSlot
	}
}

// register counts a connection among those of its address, if that has not too many.
func (c *connLimiter) register(conn *limitedConn) bool {
	conn.group = c.addressGroup(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, most := c.groups[conn.group], c.limitOf(conn.group); at != nil && at.open >= most; at = c.groups[conn.group] {
		first := at.idle.Front()
		if first == nil {
			return false
		}
		c.mu.Unlock()
		_ = first.Value.(*limitedConn).Close() // as in enter
		c.mu.Lock()
	}
	at := c.groups[conn.group]
	if at == nil {
		at = &connGroup{}
		c.groups[conn.group] = at
	}
	at.open++
	conn.counted = true
	return true
}

// limitOf is how many connections a place may have.
func (c *connLimiter) limitOf(from netip.Prefix) int {
	if from == trustedGroup {
		return c.maxTrusted
	}
	return c.maxPerAddress
}

// oldest is the oldest connection without a request, of the places that have the most of
// them; nil where there is none.
func (c *connLimiter) oldest() (oldest *limitedConn) {
	most := 1
	for _, at := range c.groups {
		if at.idle.Len() < most {
			continue
		}
		first := at.idle.Front().Value.(*limitedConn)
		if at.idle.Len() > most || oldest == nil || first.sequence < oldest.sequence {
			most, oldest = at.idle.Len(), first
		}
	}
	return oldest
}

// markIdle is told when a connection is new or idle.
func (c *connLimiter) markIdle(conn *limitedConn) {
	if surplus := c.addIdle(conn); surplus != nil {
		_ = surplus.Close() // as in enter
	}
}

// addIdle gives the connection that is one too many.
func (c *connLimiter) addIdle(conn *limitedConn) *limitedConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !conn.counted || conn.idleElement != nil {
		return nil
	}
	at := c.groups[conn.group]
	c.sequence++
	conn.sequence, conn.idleElement = c.sequence, at.idle.PushBack(conn)
	switch {
	case c.pending > 0:
		return c.oldest()
	case conn.group != trustedGroup && at.idle.Len() > c.maxIdlePerAddress:
		return at.idle.Front().Value.(*limitedConn)
	}
	return nil
}

// removeIdle is told when a connection has a request, or, for good, when it is closed.
func (c *connLimiter) removeIdle(conn *limitedConn, forGood bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !conn.counted {
		return
	}
	at := c.groups[conn.group]
	if conn.idleElement != nil {
		at.idle.Remove(conn.idleElement)
		conn.idleElement = nil
	}
	if !forGood {
		return
	}
	conn.counted = false
	if at.open--; at.open == 0 {
		delete(c.groups, conn.group)
	}
}

func (c *connLimiter) addressGroup(conn *limitedConn) netip.Prefix {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return c.addressGroupOf(tcp.AddrPort().Addr())
	}
	return trustedGroup
}

func (c *connLimiter) addressGroupOf(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() || ip.IsLoopback() && !c.loopback ||
		slices.ContainsFunc(c.trusted, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return trustedGroup
	}
	return model.ClientNetwork(ip)
}

// trackState is the http.Server.ConnState of servers whose listener is limited. A
// connection is active once net/http has read the head of a request.
func trackState(conn net.Conn, state http.ConnState) {
	limited := limitedConnOf(conn)
	switch {
	case limited == nil:
	case state == http.StateActive:
		limited.limiter.removeIdle(limited, false)
	case state == http.StateIdle:
		limited.limiter.markIdle(limited)
	}
}

// limitedConnOf is the limited connection under what is spoken on it; nil when there is none.
func limitedConnOf(conn net.Conn) *limitedConn {
	for {
		switch c := conn.(type) {
		case *limitedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		case *sniffedConn:
			conn = c.limitedConn
		case *plainConn:
			conn = c.limitedConn
		default:
			return nil
		}
	}
}
