package pdf

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/emscripten"
)

// hostFunc implements a function that PDFium imports. args are the function's i32 parameters. If
// the function has no result, the return value is ignored.
type hostFunc func(in *instance, m api.Memory, args []uint64) int32

const (
	env  = "env"
	wasi = "wasi_snapshot_preview1"
)

// hostFuncs contains the functions that PDFium may call, by module and name. Functions that would
// open other files, change a file, or start a process fail.
var hostFuncs = map[string]map[string]hostFunc{
	env: {
		"emscripten_date_now":    returns(0), // bits of the float 0.0
		"__syscall_openat":       openat,
		"__syscall_fstat64":      fstat,
		"__syscall_stat64":       stat,
		"__syscall_lstat64":      stat,
		"__syscall_newfstatat":   statat,
		"__syscall_fcntl64":      returns(0),
		"__syscall_ioctl":        returns(-errnoNoTTY),
		"__syscall_getdents64":   returns(-errnoBadFD),
		"__syscall_unlinkat":     returns(-errnoROFS),
		"__syscall_rmdir":        returns(-errnoROFS),
		"__syscall_ftruncate64":  returns(-errnoROFS),
		"_tzset_js":              utc,
		"_localtime_js":          epoch,
		"_gmtime_js":             epoch,
		"_emscripten_memcpy_js":  memcpy,
		"emscripten_resize_heap": resizeHeap,
		"_abort_js":              abort,
		"__assert_fail":          abort,
	},
	wasi: {
		"fd_close":          fdClose,
		"fd_read":           fdRead,
		"fd_seek":           fdSeek,
		"fd_write":          fdWrite,
		"fd_sync":           returns(0),
		"environ_sizes_get": environSizes,
		"environ_get":       returns(0),
	},
}

// exportHost instantiates the host modules with the function types that PDFium imports.
func (e *Engine) exportHost(ctx context.Context) error {
	jumps, err := emscripten.NewFunctionExporterForModule(e.module)
	if err != nil {
		return err
	}
	for _, module := range []string{env, wasi} {
		builder := e.runtime.NewHostModuleBuilder(module)
		if module == env {
			jumps.ExportFunctions(builder)
		}
		for _, f := range e.module.ImportedFunctions() {
			from, name, _ := f.Import()
			do := hostFuncs[from][name]
			if from != module || do == nil {
				continue
			}
			builder.NewFunctionBuilder().
				WithGoModuleFunction(e.host(do, f), f.ParamTypes(), f.ResultTypes()).Export(name)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// host returns a function that calls do with the instance that is live at the time of the call.
func (e *Engine) host(do hostFunc, f api.FunctionDefinition) api.GoModuleFunc {
	params, results := len(f.ParamTypes()), len(f.ResultTypes())
	return func(_ context.Context, m api.Module, stack []uint64) {
		result := do(e.live, m.Memory(), stack[:params])
		if results > 0 {
			stack[0] = uint64(uint32(result))
		}
	}
}

// returns creates a hostFunc that always has the given result.
func returns(result int32) hostFunc {
	return func(*instance, api.Memory, []uint64) int32 { return result }
}

var errAborted = errors.New("aborted")

// abort ends the current call into PDFium. wazero converts the panic to the error of that call.
func abort(*instance, api.Memory, []uint64) int32 { panic(errAborted) }

var errOutOfBounds = errors.New("address out of bounds")

// bytesAt returns the memory at an address that PDFium passed. An invalid address ends the call.
func bytesAt(m api.Memory, address, length uint64) []byte {
	b, ok := m.Read(uint32(address), uint32(length))
	if !ok {
		panic(errOutOfBounds)
	}
	return b
}

// put32 writes a 32-bit number to the memory.
func put32(m api.Memory, address uint64, v uint32) {
	binary.LittleEndian.PutUint32(bytesAt(m, address, 4), v)
}

func memcpy(_ *instance, m api.Memory, a []uint64) int32 {
	copy(bytesAt(m, a[0], a[2]), bytesAt(m, a[1], a[2]))
	return 0
}

const wasmPage = 64 << 10

// minGrowth is the minimum number of pages by which the memory grows, so that it doesn't grow
// often.
const minGrowth = 16

func resizeHeap(_ *instance, m api.Memory, a []uint64) int32 {
	have, want := uint64(m.Size()), uint64(uint32(a[0]))
	if want <= have {
		return 1
	}
	pages := uint32((want - have + wasmPage - 1) / wasmPage)
	if _, ok := m.Grow(max(pages, minGrowth)); ok {
		return 1
	}
	if _, ok := m.Grow(pages); ok {
		return 1
	}
	return 0
}

func environSizes(_ *instance, m api.Memory, a []uint64) int32 {
	put32(m, a[0], 0)
	put32(m, a[1], 0)
	return 0
}

// PDFium doesn't have a clock, so that the same document always has the same result. The time is
// always the start of 1970 in UTC (emscripten_date_now returns 0).

func utc(_ *instance, m api.Memory, a []uint64) int32 {
	put32(m, a[0], 0) // seconds west of UTC
	put32(m, a[1], 0) // no daylight saving time
	for _, name := range a[2:4] {
		copy(bytesAt(m, name, 4), "UTC\x00")
	}
	return 0
}

// epoch fills a struct tm. Its fields are 32-bit numbers: sec, min, hour, mday, mon, year, wday,
// yday, isdst, and gmtoff.
func epoch(_ *instance, m api.Memory, a []uint64) int32 {
	for i, v := range []uint32{0, 0, 0, 1, 0, 70, 4, 0, 0, 0} {
		put32(m, a[2]+uint64(4*i), v)
	}
	return 0
}
