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

// connLimiter limits the number of open connections. A connection is idle if no request is in
// progress on it: either it is new and its first request header hasn't been read yet, or it is
// between requests. An idle connection never blocks a new one:
//
//   - Each address has a limit of idle connections. If it is exceeded, the oldest idle
//     connection of the address is closed.
//   - Each address has a limit of connections, idle or not. When it is reached, the oldest idle
//     connection of the address is closed or, if none is idle, the new one. This machine and
//     the trusted proxies, which connect for many users, share one higher limit.
//   - When no slot is free, the oldest idle connection of the address with the most idle
//     connections is closed. If none is idle, the new connection waits for a slot.
type connLimiter struct {
	maxIdlePerAddress int            // maximum number of idle connections per address
	maxPerAddress     int            // maximum number of connections per address
	maxTrusted        int            // maximum number of connections from this machine and the proxies together
	trusted           []netip.Prefix // addresses of trusted proxies
	loopback          bool           // limit this machine like any other address
	slots             chan struct{}  // contains one value for each open connection

	mu       sync.Mutex
	groups   map[netip.Prefix]*connGroup // addresses that have connections
	pending  int                         // number of new connections that wait for a slot
	sequence uint64                      // sequence number of the connection that became idle last
}

// connGroup holds the connections that count toward the limits of one address.
type connGroup struct {
	open int
	idle list.List // of *limitedConn, oldest first
}

// trustedGroup is the key in connLimiter.groups for this machine and the trusted proxies.
var trustedGroup netip.Prefix

func newConnLimiter(l config.Limits, trusted []netip.Prefix) *connLimiter {
	return &connLimiter{
		maxIdlePerAddress: l.ConnectionsPerAddress, maxPerAddress: max(1, l.Connections/4), maxTrusted: cmp.Or(l.TrustedConnections, max(1, l.Connections*3/4)), trusted: trusted,
		slots: make(chan struct{}, l.Connections), groups: map[netip.Prefix]*connGroup{},
	}
}

// acquire waits for a slot for a new connection and reports whether it got one. It returns
// false if the connection's address has reached its limit or done is closed.
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
			_ = oldest.Close() // Close removes it from the limiter; an error means that the client is gone
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

// register adds a connection to the group of its address. If the group has reached its limit,
// register closes its oldest idle connection. If there isn't one, register returns false.
func (c *connLimiter) register(conn *limitedConn) bool {
	conn.group = c.addressGroup(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, limit := c.groups[conn.group], c.limitOf(conn.group); at != nil && at.open >= limit; at = c.groups[conn.group] {
		first := at.idle.Front()
		if first == nil {
			return false
		}
		c.mu.Unlock()
		_ = first.Value.(*limitedConn).Close() // an error means that the client is gone
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

// limitOf returns the maximum number of open connections in a group.
func (c *connLimiter) limitOf(from netip.Prefix) int {
	if from == trustedGroup {
		return c.maxTrusted
	}
	return c.maxPerAddress
}

// oldest returns the oldest idle connection of the group with the most idle connections, or nil
// if no connection is idle. On a tie, it returns the oldest one of those groups. The caller
// must hold c.mu.
func (c *connLimiter) oldest() (oldest *limitedConn) {
	maxIdle := 1
	for _, at := range c.groups {
		if at.idle.Len() < maxIdle {
			continue
		}
		first := at.idle.Front().Value.(*limitedConn)
		if at.idle.Len() > maxIdle || oldest == nil || first.sequence < oldest.sequence {
			maxIdle, oldest = at.idle.Len(), first
		}
	}
	return oldest
}

// markIdle records that a connection is idle. If that exceeds a limit or a new connection is
// waiting for a slot, it closes an idle connection.
func (c *connLimiter) markIdle(conn *limitedConn) {
	if surplus := c.addIdle(conn); surplus != nil {
		_ = surplus.Close() // an error means that the client is gone
	}
}

// addIdle records that a connection is idle. It returns the connection that must be closed as a
// result, or nil.
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

// removeIdle records that a connection is no longer idle because a request has started or, if
// forGood is set, because the connection is closed.
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

// trackState is the ConnState callback of servers that use a limitedListener. net/http calls it
// with StateActive when it has read the header of a request.
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

// limitedConnOf returns the limitedConn that conn wraps, or nil if it doesn't wrap one.
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
