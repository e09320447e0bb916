package store

import (
	"context"
	"runtime"
	"testing"
)

func benchmarkUpdate(b *testing.B, goroutines int) {
	s := open(b, b.TempDir()+"/vault.db")
	commits := interceptCommits(s, neverFail)
	b.SetParallelism((goroutines + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Update(context.Background(), nil, putAbstract); err != nil {
				b.Errorf("update: %v", err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(commits.Load())/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkUpdate1 measures updates by a single writer.
func BenchmarkUpdate1(b *testing.B) {
	s := open(b, b.TempDir()+"/vault.db")
	for b.Loop() {
		update(b, s, putAbstract)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkUpdate64 measures updates by 64 concurrent writers.
func BenchmarkUpdate64(b *testing.B) { benchmarkUpdate(b, 64) }
