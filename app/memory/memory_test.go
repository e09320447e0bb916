package memory_test

import (
	"os"
	"runtime"
	"testing"

	"deedkeep/app/memory"
)

// A block that this process has written to counts as its memory. A process that doesn't exist has none.
func TestOf(t *testing.T) {
	const size = 64 << 20
	before := memory.Of(os.Getpid())
	block := make([]byte, size)
	for i := range block {
		block[i] = byte(i)
	}
	after := memory.Of(os.Getpid())
	if before.Anonymous <= 0 || before.Total < before.Anonymous || after.Anonymous-before.Anonymous < size*9/10 || after.Total-before.Total < size*9/10 {
		t.Errorf("Of() = %+v, before that %+v; want %d MB more", after, before, size>>20)
	}
	runtime.KeepAlive(block)
	if got := memory.Of(1 << 30); got != (memory.Usage{}) {
		t.Errorf("Of(no process) = %+v, want zero", got)
	}
	p := memory.Processes{Type: "render"}
	p.Add(memory.Usage{Total: 3, Anonymous: 2})
	p.Add(memory.Usage{Total: 4, Anonymous: 1})
	if want := (memory.Processes{Type: "render", Count: 2, Usage: memory.Usage{Total: 7, Anonymous: 3}}); p != want {
		t.Errorf("Add: got %+v, want %+v", p, want)
	}
}
