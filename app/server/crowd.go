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

// crowd knows all connections, and those that bring no request: new ones, of which no
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
type crowd struct {
	most     int            // of one address, without a request
	each     int            // of one address
	near     int            // of this machine and of proxies together
	trusted  []netip.Prefix // the proxies
	loopback bool           // count this machine as any address
	slots    chan struct{}  // one for each connection

	mu      sync.Mutex
	places  map[netip.Prefix]*place // those that have connections
	pending int                     // new connections that wait for a slot
	turn    uint64                  // of the last that came to wait for a request
}

// place is what counts as one address.
type place struct {
	open    int
	waiting list.List // of *limitedConn that bring no request, the oldest first
}

// near is the place of this machine and of proxies.
var near netip.Prefix

func newCrowd(l config.Limits, trusted []netip.Prefix) *crowd {
	return &crowd{
		most: l.PerAddress, each: max(1, l.Connections/4), near: cmp.Or(l.Trusted, max(1, l.Connections*3/4)), trusted: trusted,
		slots: make(chan struct{}, l.Connections), places: map[netip.Prefix]*place{},
	}
}

// enter reports whether a new connection may stay: it has a slot then. It waits for one
// until done.
func (c *crowd) enter(conn *limitedConn, done <-chan struct{}) bool {
	if !c.join(conn) {
		return false
	}
	for {
		select {
		case c.slots <- struct{}{}:
			conn.slot = true
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
			conn.slot = true
		case <-done:
		}
		c.mu.Lock()
		c.pending--
		c.mu.Unlock()
		return conn.slot
	}
}

// join counts a connection among those of its address, if that has not too many.
func (c *crowd) join(conn *limitedConn) bool {
	conn.from = c.place(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, most := c.places[conn.from], c.share(conn.from); at != nil && at.open >= most; at = c.places[conn.from] {
		first := at.waiting.Front()
		if first == nil {
			return false
		}
		c.mu.Unlock()
		_ = first.Value.(*limitedConn).Close() // as in enter
		c.mu.Lock()
	}
	at := c.places[conn.from]
	if at == nil {
		at = &place{}
		c.places[conn.from] = at
	}
	at.open++
	conn.counted = true
	return true
}

// share is how many connections a place may have.
func (c *crowd) share(from netip.Prefix) int {
	if from == near {
		return c.near
	}
	return c.each
}

// oldest is the oldest connection without a request, of the places that have the most of
// them; nil where there is none.
func (c *crowd) oldest() (oldest *limitedConn) {
	most := 1
	for _, at := range c.places {
		if at.waiting.Len() < most {
			continue
		}
		first := at.waiting.Front().Value.(*limitedConn)
		if at.waiting.Len() > most || oldest == nil || first.turn < oldest.turn {
			most, oldest = at.waiting.Len(), first
		}
	}
	return oldest
}

// wait is told when a connection is new or idle.
func (c *crowd) wait(conn *limitedConn) {
	if surplus := c.add(conn); surplus != nil {
		_ = surplus.Close() // as in enter
	}
}

// add gives the connection that is one too many.
func (c *crowd) add(conn *limitedConn) *limitedConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !conn.counted || conn.waits != nil {
		return nil
	}
	at := c.places[conn.from]
	c.turn++
	conn.turn, conn.waits = c.turn, at.waiting.PushBack(conn)
	switch {
	case c.pending > 0:
		return c.oldest()
	case conn.from != near && at.waiting.Len() > c.most:
		return at.waiting.Front().Value.(*limitedConn)
	}
	return nil
}

// leave is told when a connection has a request, or, for good, when it is closed.
func (c *crowd) leave(conn *limitedConn, forGood bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !conn.counted {
		return
	}
	at := c.places[conn.from]
	if conn.waits != nil {
		at.waiting.Remove(conn.waits)
		conn.waits = nil
	}
	if !forGood {
		return
	}
	conn.counted = false
	if at.open--; at.open == 0 {
		delete(c.places, conn.from)
	}
}

func (c *crowd) place(conn *limitedConn) netip.Prefix {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return c.placeOf(tcp.AddrPort().Addr())
	}
	return near
}

func (c *crowd) placeOf(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() || ip.IsLoopback() && !c.loopback ||
		slices.ContainsFunc(c.trusted, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return near
	}
	return model.ClientNetwork(ip)
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
