package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/model"
)

// limitedListener is a TCP listener that limits the number of open connections with a
// connLimiter. Unlike netutil.LimitListener, it accepts a new connection even if the limit
// is reached, so that it can close an idle connection to make a slot available. Its
// connections keep the ReadFrom method, which net/http needs to send files with sendfile.
type limitedListener struct {
	*net.TCPListener
	limiter *connLimiter
	done    chan struct{}
	stop    func()         // closes done
	watcher sync.WaitGroup // runs until done is closed
}

func newLimitedListener(listener *net.TCPListener, c *connLimiter) *limitedListener {
	done := make(chan struct{})
	l := &limitedListener{TCPListener: listener, limiter: c, done: done, stop: sync.OnceFunc(func() { close(done) })}
	l.watcher.Go(func() { c.watch(done) })
	return l
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		limited := &limitedConn{TCPConn: conn, limiter: l.limiter}
		if l.limiter.add(limited, l.done) {
			return limited, nil
		}
		_ = conn.Close() // its address has reached the limit, or the listener is closed
	}
}

func (l *limitedListener) Close() error {
	l.stop()
	l.limiter.wake()
	l.watcher.Wait()
	return l.TCPListener.Close()
}

// limitedConn is a connection that a connLimiter counts until it is closed.
type limitedConn struct {
	*net.TCPConn
	limiter *connLimiter
	group   netip.Prefix // the address group that the connection counts toward
	sent    sentBytes
	arrived atomic.Bool // bytes have arrived since the last request began
	// received is the part of sent that the client had received at the last request; used only by the goroutine that
	// handles requests.
	received int64
	// The fields below are guarded by the limiter's lock.
	counted     bool
	sequence    uint64        // sorts idle connections by when they became idle
	idleElement *list.Element // in the group's list; nil while a request is in progress
	pace        pace
}

func (c *limitedConn) Close() error {
	err := c.TCPConn.Close()
	c.limiter.remove(c)
	return err
}

// connLimiter limits the number of open connections. A connection is idle if no request is in
// progress on it: either it is new and its first request header hasn't been read yet, or it is
// between requests. An idle connection never blocks a new one:
//
//   - Each address has a limit of idle connections. If it is exceeded, the oldest idle
//     connection of the address is closed.
//   - Each address has a limit of connections, idle or not. When it is reached, the oldest idle
//     connection of the address is closed. If none is idle, its slowest client is disconnected.
//     If none is slow, the new connection is closed. This machine and the trusted proxies, which
//     connect for many users, share one higher limit.
//   - When the limit of all connections is reached, the oldest idle connection of the address
//     with the most idle connections is closed. If none is idle, the slowest client is
//     disconnected. If none is slow, the new connection waits.
//
// It also disconnects clients that receive less than the minimum rate: see watch.
type connLimiter struct {
	maxOpen           int            // maximum number of connections
	maxIdlePerAddress int            // maximum number of idle connections per address
	maxPerAddress     int            // maximum number of connections per address
	maxTrusted        int            // maximum number of connections from this machine and the proxies together
	trusted           []netip.Prefix // addresses of trusted proxies
	loopback          bool           // limit this machine like any other address
	minRate           int64          // minimum bytes per second that a client receives
	stall             time.Duration  // time over which it is measured

	mu         sync.Mutex
	changed    *sync.Cond // a connection has become idle or was closed, or a listener was closed
	open       int
	groups     map[netip.Prefix]*connGroup // addresses that have connections
	sequence   uint64                      // sequence number of the connection that became idle last
	measuredAt time.Time                   // when a watcher last measured the pace of all clients
}

// connGroup holds the connections that count toward the limits of one address.
type connGroup struct {
	conns map[*limitedConn]struct{}
	idle  list.List // of *limitedConn, oldest first
}

// trustedGroup is the key in connLimiter.groups for this machine and the trusted proxies.
var trustedGroup netip.Prefix

func newConnLimiter(l config.Limits, t config.Timeouts, trusted []netip.Prefix) *connLimiter {
	c := &connLimiter{
		minRate: max(int64(t.MinRate), minSendRate), stall: t.Stall,
		maxOpen: l.Connections, maxIdlePerAddress: l.ConnectionsPerAddress, maxPerAddress: max(1, l.Connections/4),
		maxTrusted: max(1, l.Connections*3/4), trusted: trusted, groups: map[netip.Prefix]*connGroup{},
		measuredAt: time.Now(),
	}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// add counts a new connection, which is idle. If the limit of all connections is reached, add
// waits. It returns false if the connection's address has reached its limit or done is closed.
func (c *connLimiter) add(conn *limitedConn, done <-chan struct{}) bool {
	tcp, _ := conn.RemoteAddr().(*net.TCPAddr)
	conn.group = c.addressGroupOf(tcp.AddrPort().Addr())
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		group := c.groups[conn.group]
		if group == nil {
			group = &connGroup{conns: map[*limitedConn]struct{}{}}
		}
		switch {
		case len(group.conns) >= c.limitOf(conn.group):
			if oldest := group.idle.Front(); oldest != nil {
				c.closeLocked(oldest.Value.(*limitedConn))
				continue
			}
			slow := slowest(group)
			if slow == nil {
				return false
			}
			c.disconnect(slow)
		case c.open < c.maxOpen:
			c.groups[conn.group], conn.counted = group, true
			c.open++
			group.conns[conn] = struct{}{}
			c.addIdle(conn)
			return true
		default:
			if oldest := c.oldest(); oldest != nil {
				c.closeLocked(oldest)
				continue
			}
			if slow := c.slowestOfAll(); slow != nil {
				c.disconnect(slow)
				continue
			}
			select {
			case <-done:
				return false
			default:
				c.changed.Wait()
			}
		}
	}
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
	for _, group := range c.groups {
		if group.idle.Len() < maxIdle {
			continue
		}
		first := group.idle.Front().Value.(*limitedConn)
		if group.idle.Len() > maxIdle || oldest == nil || first.sequence < oldest.sequence {
			maxIdle, oldest = group.idle.Len(), first
		}
	}
	return oldest
}

// setIdle records whether a connection is idle.
func (c *connLimiter) setIdle(conn *limitedConn, idle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !conn.counted || idle == (conn.idleElement != nil):
	case idle:
		c.addIdle(conn)
	default:
		c.groups[conn.group].idle.Remove(conn.idleElement)
		conn.idleElement = nil
	}
}

// addIdle records that a connection is idle. If its address has too many idle connections,
// addIdle closes the oldest one. The caller must hold c.mu.
func (c *connLimiter) addIdle(conn *limitedConn) {
	group := c.groups[conn.group]
	c.sequence++
	conn.sequence, conn.idleElement = c.sequence, group.idle.PushBack(conn)
	if conn.group != trustedGroup && group.idle.Len() > c.maxIdlePerAddress {
		c.closeLocked(group.idle.Front().Value.(*limitedConn))
	}
	c.changed.Broadcast()
}

// closeLocked closes a connection. The caller must hold c.mu.
func (c *connLimiter) closeLocked(conn *limitedConn) {
	c.removeLocked(conn)
	_ = conn.TCPConn.Close() // an error means that the client is gone
}

// remove stops counting a connection, because it is closed.
func (c *connLimiter) remove(conn *limitedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.counted {
		c.removeLocked(conn)
	}
}

func (c *connLimiter) removeLocked(conn *limitedConn) {
	group := c.groups[conn.group]
	if conn.idleElement != nil {
		group.idle.Remove(conn.idleElement)
	}
	if delete(group.conns, conn); len(group.conns) == 0 {
		delete(c.groups, conn.group)
	}
	c.open--
	conn.counted, conn.idleElement = false, nil
	c.changed.Broadcast()
}

// wake makes connections that wait check whether their listener is closed.
func (c *connLimiter) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
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
	if limited := limitedConnOf(conn); limited != nil && (state == http.StateActive || state == http.StateIdle) {
		limited.limiter.setIdle(limited, state == http.StateIdle)
	}
}

// limitedConnOf returns the connection that a connLimiter counts, or nil for other connections.
func limitedConnOf(conn net.Conn) *limitedConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	switch c := conn.(type) {
	case *limitedConn:
		return c
	case *sniffedConn:
		return c.limitedConn
	case *plainConn:
		return c.limitedConn
	}
	return nil
}
