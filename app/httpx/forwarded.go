package httpx

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"deedkeep/app/apitypes"
)

// ForwardingMonitor counts requests whose forwarding headers could not be used. It counts them by peer address, starting at
// server start. It is safe for concurrent use.
type ForwardingMonitor struct {
	addresses AddressResolver
	now       func() time.Time

	mu                    sync.Mutex
	seen                  map[netip.Addr]*apitypes.Forwarded
	untrusted, unreadable uint64
}

const (
	maxPeers   = 64 // max addresses; when exceeded, the address with the fewest requests is evicted
	maxExample = 64 // max bytes of an example
)

// NewForwardingMonitor returns a Forwarded without any counts.
func NewForwardingMonitor(trustedProxies []netip.Prefix, now func() time.Time) *ForwardingMonitor {
	return &ForwardingMonitor{addresses: AddressResolver{TrustedProxies: trustedProxies}, now: now, seen: map[netip.Addr]*apitypes.Forwarded{}}
}

// Watch returns a handler that counts requests with unusable forwarding headers and passes all requests to next.
func (f *ForwardingMonitor) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isForwarded(r) {
			f.note(r)
		}
		next.ServeHTTP(w, r)
	})
}

// isForwarded reports whether a request has a forwarding header: either a header that is read from trusted proxies,
// or the Forwarded header of RFC 7239, which is not supported.
func isForwarded(r *http.Request) bool {
	return slices.ContainsFunc([]string{forwardedFor, "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"}, func(name string) bool {
		return len(r.Header[name]) > 0
	})
}

// note counts r if its forwarding headers can't be used.
func (f *ForwardingMonitor) note(r *http.Request) {
	ip := Peer(r)
	untrusted, unreadable := !f.addresses.Trusts(ip), ""
	if !untrusted {
		_, unreadable = f.addresses.client(r)
		if len(r.Header[forwardedFor]) == 0 {
			unreadable = strings.Join(r.Header["Forwarded"], ", ") // Forwarded is not supported without X-Forwarded-For
		}
	}
	if !ip.IsValid() || !untrusted && unreadable == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	from := f.from(ip)
	from.LastAt = apitypes.At(f.now())
	if untrusted {
		from.Untrusted++
		f.untrusted++
		return
	}
	from.Unreadable++
	f.unreadable++
	from.Example = strings.ToValidUTF8(unreadable[:min(len(unreadable), maxExample)], "")
}

// from returns the entry of a peer. It adds an entry if there is none yet.
func (f *ForwardingMonitor) from(ip netip.Addr) *apitypes.Forwarded {
	if f.seen[ip] == nil {
		if len(f.seen) >= maxPeers {
			list := f.list()
			delete(f.seen, netip.MustParseAddr(list[len(list)-1].Peer))
		}
		f.seen[ip] = &apitypes.Forwarded{Peer: ip.String()}
	}
	return f.seen[ip]
}

// List returns the peers, sorted by number of requests in descending order.
func (f *ForwardingMonitor) List() apitypes.List[apitypes.Forwarded] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list()
}

func (f *ForwardingMonitor) list() apitypes.List[apitypes.Forwarded] {
	list := make(apitypes.List[apitypes.Forwarded], 0, len(f.seen))
	for _, from := range f.seen {
		list = append(list, *from)
	}
	slices.SortFunc(list, func(a, b apitypes.Forwarded) int {
		return cmp.Or(cmp.Compare(b.Untrusted+b.Unreadable, a.Untrusted+a.Unreadable), b.LastAt.Compare(a.LastAt.Time),
			strings.Compare(a.Peer, b.Peer))
	})
	return list
}

// Counts returns the total numbers of requests from untrusted proxies and with unreadable headers.
func (f *ForwardingMonitor) Counts() (untrusted, unreadable uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.untrusted, f.unreadable
}
