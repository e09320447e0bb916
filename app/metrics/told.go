package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/stats"
)

// told is a number that is asked for when somebody scrapes.
type told struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) told {
	return told{prometheus.NewDesc("deedkeep_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) told {
	return told{prometheus.NewDesc("deedkeep_"+name, help, labels, nil), prometheus.CounterValue}
}

// sent puts values on a channel of prometheus.
type sent chan<- prometheus.Metric

func number[T ~int | ~int64 | ~uint64 | ~float64](to sent, of told, value T, labels ...string) {
	to <- prometheus.MustNewConstMetric(of.desc, of.kind, float64(value), labels...)
}

func (to sent) flag(of told, on bool) {
	value := 0
	if on {
		value = 1
	}
	number(to, of, value)
}

func (to sent) histogram(of told, r stats.Read) {
	to <- prometheus.MustNewConstHistogram(of.desc, r.Count, r.Sum, r.Buckets)
}

// by sends one value for each word of a fixed list.
func (to sent) by(of told, words []string, values map[string]uint64) {
	for _, word := range words {
		number(to, of, values[word], word)
	}
}
