package metrics

import "github.com/prometheus/client_golang/prometheus"

var forwardedUnused = counter("forwarded_headers_unused_total", "Requests whose forwarding headers the server could not use, by the reason: untrusted: they came from an address that is not in trusted_proxies; unreadable: no client address could be read.", "reason")

// forwarded collects what is counted of forwarding headers.
type forwarded struct {
	ask func() (untrusted, unreadable uint64)
}

// Describe is of prometheus.Collector.
func (f *forwarded) Describe(to chan<- *prometheus.Desc) { to <- forwardedUnused.desc }

// Collect is of prometheus.Collector.
func (f *forwarded) Collect(to chan<- prometheus.Metric) {
	untrusted, unreadable := f.ask()
	number(to, forwardedUnused, untrusted, "untrusted")
	number(to, forwardedUnused, unreadable, "unreadable")
}
