package server

import (
	"net/http"

	"deedkeep/app/httpx"
)

// Handler returns the handler for all requests to the public address.
func Handler(opts Options) (http.Handler, error) {
	return handler(opts, httpx.NewForwardingMonitor(opts.Config.TrustedProxies, opts.Now))
}
