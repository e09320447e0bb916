package api

import (
	"deedkeep/app/httpx"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"
)

// MetricsPath is where a monitor reads how the service goes, outside /v1.
const MetricsPath = "/metrics"

// mountMetrics registers it behind the same gate as the routes of /v1.
func (e *server) mountMetrics(engine *gin.Engine) {
	if e.Metrics == nil {
		return
	}
	tell := e.handle(func(c *request) (response, error) {
		text, err := e.Metrics(c.Context())
		return response{status: http.StatusOK, raw: text, media: e.MetricsMedia}, err
	})
	engine.GET(MetricsPath, tell)
	engine.HEAD(MetricsPath, tell)
	engine.OPTIONS(MetricsPath, func(c *gin.Context) {
		c.Header("Allow", "GET, HEAD, OPTIONS")
		c.Status(http.StatusNoContent)
	})
}

// isOpen reports a request that needs no key: a program of this machine reads the
// metrics of a service that nobody else reaches but directly. Whoever shows a key is
// judged by it.
func (e *server) isOpen(c *gin.Context) bool {
	r := c.Request
	return e.MetricsLocal && !e.isProxied() && c.FullPath() == MetricsPath && isRead(r.Method) && len(r.Header.Values("Authorization")) == 0 && isLocal(r)
}

// isProxied reports that the settings tell of a proxy. What one of this machine passes
// on need not differ from what a program of this machine asks: nginx from 1.29.7 on
// speaks HTTP/1.1 to 127.0.0.1 under that name, and adds no header, unless told to.
func (e *server) isProxied() bool { return e.PublicURL != "" || len(e.TrustedProxies) > 0 }

// isLocal reports a request that looks like one of a program of this machine: its
// connection comes from a loopback address, it was made to a name of this machine (a
// page that has its own name point here, by DNS, is no program of ours), and no header
// says that anybody passed it on. A proxy that nothing tells of may pass for one.
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

// namesLoopback reports localhost (RFC 6761, section 6.3) or a loopback address, with
// or without a port.
func namesLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// isForwarding reports a header that proxies add: that of RFC 7239, Via (RFC 9110,
// section 7.6.3), and what they had before and beside these; and what a browser adds
// to requests of a page, which no monitor sends.
func isForwarding(name string) bool {
	switch name {
	case "Forwarded", "Via", "Origin", "Referer", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Client-Ip", "Cf-Connecting-Ip", "Cdn-Loop", "Fastly-Client-Ip", "Fly-Client-Ip", "X-Original-Host", "X-Original-Url", "X-Arr-Log-Id", "X-Envoy-External-Address":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "X-Proxy") || strings.HasPrefix(name, "Sec-Fetch-")
}
