package store

import (
	"context"
	"runtime"
	"testing"
)

func benchmarkUpdate(b *testing.B, goroutines int) {
	s := open(b, b.TempDir()+"/vault.db")
	commits := counted(s, never)
	b.SetParallelism((goroutines + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Update(context.Background(), nil, putAbstract); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(commits.Load())/b.Elapsed().Seconds(), "commits/s")
}

func BenchmarkUpdate1(b *testing.B) {
	s := open(b, b.TempDir()+"/vault.db")
	for b.Loop() {
		update(b, s, putAbstract)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

func BenchmarkUpdate64(b *testing.B) { benchmarkUpdate(b, 64) }
