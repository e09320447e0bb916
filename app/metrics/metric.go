package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/stats"
)

// metric is a metric whose value is read when Prometheus scrapes it.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("deedkeep_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("deedkeep_"+name, help, labels, nil), prometheus.CounterValue}
}

// sink sends values to a Prometheus channel.
type sink chan<- prometheus.Metric

func number[T ~int | ~int64 | ~uint64 | ~float64](to sink, of metric, value T, labels ...string) {
	to <- prometheus.MustNewConstMetric(of.desc, of.kind, float64(value), labels...)
}

func (to sink) flag(of metric, on bool) {
	value := 0
	if on {
		value = 1
	}
	number(to, of, value)
}

func (to sink) histogram(of metric, r stats.Snapshot) {
	to <- prometheus.MustNewConstHistogram(of.desc, r.Count, r.Sum, r.Buckets)
}

// byLabel sends one value for each label in a fixed list.
func (to sink) byLabel(of metric, words []string, values map[string]uint64) {
	for _, word := range words {
		number(to, of, values[word], word)
	}
}
