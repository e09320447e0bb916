package api

import "net/http"

// ClientAddress gives a function for the address of whoever sent a request, as /v1
// sees it: that of the connection, or what a trusted proxy in front says.
func ClientAddress(trustedProxies []string) (func(*http.Request) string, error) {
	proxies, err := parseNetworks(trustedProxies)
	if err != nil {
		return nil, err
	}
	e := &edge{proxies: proxies}
	return e.address, nil
}
