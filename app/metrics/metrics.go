// Package metrics exports metrics of the vault, the worker processes, and the HTTP server for Prometheus, in the text
// format 0.0.4.
//
// Metrics contain no client data: no IDs, names, or addresses, and only route patterns instead of paths. The number of
// series doesn't depend on clients. Results are cached for one second, so frequent scrapes are cheap. Names and units
// follow the Prometheus conventions (https://prometheus.io/docs/practices/naming/).
//
// Package api authorizes access to the metrics.
package metrics

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/common/expfmt"

	"deedkeep/app/instance"
	"deedkeep/app/memory"
	"deedkeep/app/sandbox"
)

// MediaType is the media type of the result of Text.
const MediaType = "text/plain; version=0.0.4; charset=utf-8"

// maxAge is the maximum age of the cached text.
const maxAge = time.Second

// Options configures New.
type Options struct {
	App             *instance.Instance
	Sandbox         func() sandbox.Stats // nil means there are no worker processes
	Version, Commit string               // of this binary

	// CertificateExpires returns when the TLS certificate expires, or the zero time without TLS. It may be nil.
	CertificateExpires func() time.Time

	// Memory returns the memory of the server and of its worker processes. If it is nil, the memory isn't reported.
	Memory func() []memory.Processes

	// Forwarded returns the number of requests whose forwarding headers could not be used. If it is nil, they are not
	// counted.
	Forwarded func() (untrusted, unreadable uint64)

	Now func() time.Time
	Log *slog.Logger
}

// Metrics collects the metrics of one server. It is safe for concurrent use.
type Metrics struct {
	opts     Options
	registry *prometheus.Registry
	http     *httpMetrics

	lock chan struct{} // guards text and at; unlike a sync.Mutex, waiting for it can be canceled; capacity 1
	text []byte
	at   time.Time
}

// New returns a Metrics with all collectors registered.
func New(opts Options) *Metrics {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{opts, opts.App.Metrics},
	)
	promauto.With(registry).NewGauge(prometheus.GaugeOpts{
		Name: "deedkeep_build_info", Help: "Version and commit of the running server. Always 1.",
		ConstLabels: prometheus.Labels{"version": opts.Version, "commit": opts.Commit},
	}).Set(1)
	return &Metrics{opts: opts, registry: registry, http: newHTTPMetrics(registry), lock: make(chan struct{}, 1)}
}

// Text returns all metrics in the format of MediaType. The bytes are shared, so the caller must not change them. Only
// one call at a time collects the metrics. Other calls wait for it. If ctx ends first, they return the error of ctx.
func (m *Metrics) Text(ctx context.Context) ([]byte, error) {
	select {
	case m.lock <- struct{}{}:
		defer func() { <-m.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	now := m.opts.Now()
	if m.text != nil && now.Sub(m.at) < maxAge {
		return m.text, nil
	}
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			return nil, err
		}
	}
	m.text, m.at = b.Bytes(), now
	return m.text, nil
}
