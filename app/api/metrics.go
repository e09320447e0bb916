package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"

	"deedkeep/app/httpx"
)

// MetricsPath is the path of the metrics. It isn't under /v1.
const MetricsPath = "/metrics"

// mountMetrics registers the metrics route, which requires authentication.
func (s *server) mountMetrics(router *gin.Engine) {
	if s.Metrics == nil {
		return
	}
	handler := s.handle(func(r *request) (response, error) {
		text, err := s.Metrics(r.Context())
		return response{status: http.StatusOK, raw: text, media: s.MetricsMedia}, err
	})
	router.GET(MetricsPath, handler)
	router.HEAD(MetricsPath, handler)
	router.OPTIONS(MetricsPath, func(c *gin.Context) {
		c.Header("Allow", "GET, HEAD, OPTIONS")
		c.Status(http.StatusNoContent)
	})
}

// skipsAuth reports whether the request needs no API key. That is the case if MetricsLocal
// is set, no proxy is configured, and a client on this machine reads the metrics without a
// key. If the request has a key, the key is always checked.
func (s *server) skipsAuth(c *gin.Context) bool {
	r := c.Request
	return s.MetricsLocal && !s.isProxied() && c.FullPath() == MetricsPath && isRead(r.Method) &&
		len(r.Header.Values("Authorization")) == 0 && isLocal(r)
}

// isProxied reports whether the settings imply a proxy. A request forwarded by a local
// proxy can look like a local request: by default, nginx 1.29.7 and later sends HTTP/1.1 to
// 127.0.0.1 with that address as Host and adds no header.
func (s *server) isProxied() bool { return s.PublicURL != "" || len(s.TrustedProxies) > 0 }

// isLocal reports whether the request appears to come from a client on this machine. The
// connection must come from a loopback address, the Host must be a loopback name (to
// prevent DNS rebinding), and there must be no proxy headers. isLocal can't detect a proxy
// that adds no headers.
func isLocal(r *http.Request) bool {
	if !httpx.Peer(r).IsLoopback() || !r.ProtoAtLeast(1, 1) || !namesLoopback(r.Host) {
		return false
	}
	for name := range r.Header {
		if isForwarding(name) {
			return false
		}
	}
	return true
}

// namesLoopback reports whether host is localhost (RFC 6761, section 6.3) or a loopback
// address, with or without a port.
func namesLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// isForwarding reports whether name is a header added by proxies (Forwarded in RFC 7239,
// Via in RFC 9110, section 7.6.3, and vendor headers) or by browsers when a page sends a
// request. Monitoring systems don't send these headers.
func isForwarding(name string) bool {
	switch name {
	case "Forwarded", "Via", "Origin", "Referer", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Client-Ip",
		"Cf-Connecting-Ip", "Cdn-Loop", "Fastly-Client-Ip", "Fly-Client-Ip", "X-Original-Host", "X-Original-Url", "X-Arr-Log-Id",
		"X-Envoy-External-Address":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "X-Proxy") || strings.HasPrefix(name, "Sec-Fetch-")
}
