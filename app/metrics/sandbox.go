package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/sandbox"
)

var (
	readersAlive   = gauge("reader_processes", "Processes that open documents, now.")
	readersStarted = counter("reader_processes_started_total", "Processes that were started to open documents.")
	readersEnded   = counter("reader_processes_ended_total",
		"Processes that ended, nearly all of them because a document took too long or too much.")
	readersServed  = counter("reader_tasks_total", "Inspections, pictures and texts of documents that were made, or found to be impossible.")
	readersWaiting = gauge("reader_tasks_waiting", "Inspections, pictures and texts that wait for a process.")
)

// sandboxCollector collects the statistics of the worker processes.
type sandboxCollector struct{ stats func() sandbox.Stats }

// Describe implements prometheus.Collector.
func (r *sandboxCollector) Describe(to chan<- *prometheus.Desc) {
	for _, t := range []metric{readersAlive, readersStarted, readersEnded, readersServed, readersWaiting} {
		to <- t.desc
	}
}

// Collect implements prometheus.Collector.
func (r *sandboxCollector) Collect(to chan<- prometheus.Metric) {
	s := r.stats()
	number(to, readersAlive, s.Alive)
	number(to, readersStarted, s.Started)
	number(to, readersEnded, s.Killed)
	number(to, readersServed, s.Served)
	number(to, readersWaiting, s.Waiting)
}
