package doctor

import (
	"fmt"
	"strings"

	"deedkeep/app/apitypes"
)

// maxPeers is the maximum number of addresses listed in a finding.
const maxPeers = 3

// checkForwardedHeaders reports forwarding headers that the server received but couldn't use.
func checkForwardedHeaders(found *apitypes.Checkup) []apitypes.Diagnosis {
	if !found.Status.Running {
		return nil
	}
	var all []apitypes.Diagnosis
	if peers, requests := sumByPeer(found.Forwarded, func(f apitypes.Forwarded) int64 { return f.Untrusted }); requests > 0 {
		first, _, _ := strings.Cut(peers, ",")
		all = append(all, warn("forwarded",
			fmt.Sprintf("since its start, the server has ignored the forwarding headers of %s "+
				"from %s (not in trusted_proxies); all users behind a proxy count as one client",
				apitypes.Count(requests, "request", "requests"), peers),
			fmt.Sprintf("if this is your reverse proxy, set trusted_proxies: [%s]; if you don't know the address, don't change anything", first)))
	}
	if peers, requests := sumByPeer(found.Forwarded, func(f apitypes.Forwarded) int64 { return f.Unreadable }); requests > 0 {
		all = append(all, warn("forwarded",
			fmt.Sprintf("since its start, the server couldn't read the client address of %s "+
				"from %s (in trusted_proxies, for example %q); all users behind a proxy count as one client",
				apitypes.Count(requests, "request", "requests"), peers, firstExample(found.Forwarded)),
			"configure the proxy to send X-Forwarded-For with the client's address, with or without a port "+
				"(nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for); "+
				"if the address isn't a proxy, remove it from trusted_proxies"))
	}
	if len(all) == 0 {
		all = append(all, ok("forwarded", "no invalid forwarding headers since the server started"))
	}
	return all
}

// sumByPeer returns a list of the addresses with a count above 0, and the sum of all counts. count returns the count of
// an address.
func sumByPeer(list []apitypes.Forwarded, count func(apitypes.Forwarded) int64) (peers string, total int64) {
	var names []string
	for _, f := range list {
		if n := count(f); n > 0 {
			names, total = append(names, f.Peer), total+n
		}
	}
	if more := len(names) - maxPeers; more > 0 {
		names = append(names[:maxPeers], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", "), total
}

// firstExample returns an unreadable header from the first address in list that sent one. The list starts with the
// address that sent the most.
func firstExample(list []apitypes.Forwarded) string {
	for _, f := range list {
		if f.Unreadable > 0 {
			return f.Example
		}
	}
	return ""
}
