// Package metrics says in numbers how the service goes, for a monitor such as
// Prometheus: what the vault, the readers of documents and the HTTP server count, in
// the text format 0.0.4.
//
// It promises that nothing of a client is in it (no number or name of a record, no
// address, no path but patterns of routes), that the number of series is bounded by
// the program and not by who calls it, and that asking costs little and not more when
// many ask: an answer is as old as a second. Names and units keep to Prometheus'
// conventions (https://prometheus.io/docs/practices/naming/).
//
// It refuses to decide who may ask: app/api does.
package metrics

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"deedkeep/app/instance"
	"deedkeep/app/sandbox"
)

// MediaType is that of what Text gives.
const MediaType = "text/plain; version=0.0.4; charset=utf-8"

// maxAge is how old an answer may be.
const maxAge = time.Second

// Options of New.
type Options struct {
	Vault           *instance.Instance
	Sandbox         func() sandbox.Stats // nil: there are none
	Version, Commit string               // of this program

	// Forwarded counts requests whose forwarding headers could not be used; nil: no one does.
	Forwarded func() (untrusted, unreadable uint64)

	Now func() time.Time
	Log *slog.Logger
}

// Metrics gathers the numbers of one server. It is safe for many goroutines.
type Metrics struct {
	opts     Options
	registry *prometheus.Registry
	http     *httpCollector

	lock chan struct{} // room for one; who puts something in has text and at
	text []byte
	at   time.Time
}

// New registers everything that is told.
func New(opts Options) *Metrics {
	m := &Metrics{opts: opts, registry: prometheus.NewPedanticRegistry(), http: newHTTPCollector(), lock: make(chan struct{}, 1)}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(opts),
		&vaultCollector{opts.Vault.Numbers, opts.Now, opts.Log},
		m.http,
	)
	if opts.Sandbox != nil {
		m.registry.MustRegister(&sandboxCollector{opts.Sandbox})
	}
	if opts.Forwarded != nil {
		m.registry.MustRegister(&forwardedCollector{opts.Forwarded})
	}
	return m
}

// Text gives every number in the text format of MediaType. The bytes are shared and
// must not be changed. Who waits for others to gather them, which takes as long as the
// vault takes to tell, waits until ctx ends; its error then comes back.
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

// buildInfo is 1, with what was built as its labels.
func buildInfo(opts Options) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "deedkeep_build_info", Help: "Version and commit of the program that serves; always 1.",
		ConstLabels: prometheus.Labels{"version": opts.Version, "commit": opts.Commit},
	})
	info.Set(1)
	return info
}
