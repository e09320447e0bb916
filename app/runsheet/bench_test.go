package runsheet

import (
	"fmt"
	"io"
	"iter"
	"runtime"
	"testing"
	"time"

	"deedkeep/app/model"
)

// writers are the functions that write a file, by its format.
var writers = map[string]func(io.Writer, iter.Seq2[*Row, error]) error{"CSV": WriteCSV, "Excel": WriteExcel}

// manyRows returns rows of an ordinary county, and calls observe after every 1,000 of them.
func manyRows(count int, observe func()) iter.Seq2[*Row, error] {
	types := model.NewDocumentTypes()
	return func(yield func(*Row, error) bool) {
		for n := range count {
			row := Row{Position: n + 1, Type: types[n%len(types)], Status: model.InstrumentOpen, Instrument: model.Instrument{
				Number: fmt.Sprintf("2019%09d", n), BookType: "Deed Book", Book: fmt.Sprint(1000 + n/900), Page: fmt.Sprintf("%04d", n%900),
				Dated: "2019-04-15", Recorded: "2019-04-17", RecordedTime: "10:42", Consideration: fmt.Sprintf("%d.50", n*1000),
				Grantors: []string{fmt.Sprintf("Cole, Bea %d", n), "Cole, Ned"}, Grantees: []string{"First National Bank of Wexcombe, N.A."},
				OtherParties: []model.Party{{Role: "Trustee", Name: "Ann Poe"}}, Parcels: []string{"47-0312-B-119.04"}, County: "Wexcombe", State: "NY",
				Legal: "Lot 7, Block 2, Birch Orchard, as in Deed Book 1022 Page 311", Remarks: "Copy of the county is hard to read.",
			}}
			if !yield(&row, nil) {
				return
			}
			if n%1000 == 999 {
				observe()
			}
		}
	}
}

// sizeWriter counts bytes.
type sizeWriter struct{ size int64 }

func (w *sizeWriter) Write(p []byte) (int, error) { w.size += int64(len(p)); return len(p), nil }

// heapInUse returns the bytes of the live objects.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkWrite writes short and long runsheets. A long one must not need more memory.
func BenchmarkWrite(b *testing.B) {
	for format, write := range writers {
		for _, count := range []int{1_000, 100_000} {
			b.Run(fmt.Sprintf("%s of %d rows", format, count), func(b *testing.B) {
				start, peak, took, out := heapInUse(), uint64(0), time.Duration(0), sizeWriter{}
				for b.Loop() {
					began, observing := time.Now(), time.Duration(0)
					err := write(&out, manyRows(count, func() {
						at := time.Now()
						peak = max(peak, heapInUse())
						observing += time.Since(at)
					}))
					if err != nil {
						b.Fatalf("write: %v", err)
					}
					took += time.Since(began) - observing
				}
				b.ReportMetric(float64(max(peak, start)-start)/1e6, "peak-MB")
				b.ReportMetric(took.Seconds()/float64(b.N), "s/file")
				b.ReportMetric(float64(out.size)/float64(b.N)/1e6, "MB/file")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
