package metrics

import "github.com/prometheus/client_golang/prometheus"

var forwardedUnused = counter("forwarded_headers_unused_total",
	"Requests whose forwarding headers the server could not use, by the reason: untrusted: they came from an address that is not in "+
		"trusted_proxies; unreadable: no client address could be read.", "reason")

// forwardedCollector collects the counts of unusable forwarding headers.
type forwardedCollector struct {
	counts func() (untrusted, unreadable uint64)
}

// Describe implements prometheus.Collector.
func (f *forwardedCollector) Describe(to chan<- *prometheus.Desc) { to <- forwardedUnused.desc }

// Collect implements prometheus.Collector.
func (f *forwardedCollector) Collect(to chan<- prometheus.Metric) {
	untrusted, unreadable := f.counts()
	number(to, forwardedUnused, untrusted, "untrusted")
	number(to, forwardedUnused, unreadable, "unreadable")
}
