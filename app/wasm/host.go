package wasm

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// HostFunc implements a function that an engine imports. args are the function's parameters. If the
// function has no result, the return value is ignored.
type HostFunc func(m api.Memory, args []uint64) int32

// GoFunc returns do as a function of the given type.
func (h HostFunc) GoFunc(f api.FunctionDefinition) api.GoModuleFunc {
	params, results := len(f.ParamTypes()), len(f.ResultTypes())
	return func(_ context.Context, m api.Module, stack []uint64) {
		result := h(m.Memory(), stack[:params])
		if results > 0 {
			stack[0] = uint64(uint32(result))
		}
	}
}

// HostModule returns a builder for the module from which the code imports functions. implement
// returns the function for an import, or nil to leave it out.
func (e *Engine) HostModule(module string, implement func(name string, f api.FunctionDefinition) api.GoModuleFunc,
) wazero.HostModuleBuilder {
	builder := e.Runtime.NewHostModuleBuilder(module)
	for _, f := range e.Module.ImportedFunctions() {
		from, name, _ := f.Import()
		if from != module {
			continue
		}
		if call := implement(name, f); call != nil {
			builder.NewFunctionBuilder().WithGoModuleFunction(call, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	return builder
}

// Returns creates a HostFunc that always has the given result.
func Returns(result int32) HostFunc {
	return func(api.Memory, []uint64) int32 { return result }
}

// ErrAborted reports that an engine called Abort.
var ErrAborted = errors.New("aborted")

// Abort ends the current call into the engine. wazero converts the panic to the error of that call.
func Abort(api.Memory, []uint64) int32 { panic(ErrAborted) }

// Memcpy implements memcpy(to, from, length).
func Memcpy(m api.Memory, a []uint64) int32 {
	copy(Bytes(m, a[0], a[2]), Bytes(m, a[1], a[2]))
	return 0
}

// ResizeHeap implements emscripten_resize_heap(size).
func ResizeHeap(m api.Memory, a []uint64) int32 {
	if grow(m, uint32(a[0])) {
		return 1
	}
	return 0
}

// EnvironSizes implements environ_sizes_get(count, size). There are no environment variables.
func EnvironSizes(m api.Memory, a []uint64) int32 {
	put32(m, a[0], 0)
	put32(m, a[1], 0)
	return 0
}

// Engines don't have a clock, so that the same document always has the same result. The time is
// always the start of 1970 in UTC.

// UTC implements tzset(offset, daylight, standard name, daylight name).
func UTC(m api.Memory, a []uint64) int32 {
	put32(m, a[0], 0) // seconds west of UTC
	put32(m, a[1], 0) // no daylight saving time
	for _, name := range a[2:4] {
		copy(Bytes(m, name, 4), "UTC\x00")
	}
	return 0
}

// Epoch creates a HostFunc that implements gmtime and localtime. It fills a struct tm, whose address
// is the parameter with index to. Its fields are 32-bit numbers: sec, min, hour, mday, mon, year,
// wday, yday, isdst, and gmtoff.
func Epoch(to int) HostFunc {
	return func(m api.Memory, a []uint64) int32 {
		for i, v := range []uint32{0, 0, 0, 1, 0, 70, 4, 0, 0, 0} {
			put32(m, a[to]+uint64(4*i), v)
		}
		return 0
	}
}

// Clock implements clock_time_get(clock, precision, time).
func Clock(m api.Memory, a []uint64) int32 {
	clear(Bytes(m, a[2], 8))
	return 0
}
